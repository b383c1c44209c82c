/* The maps of a sweep as a picture. See simulate/heat_map.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/svg.h"
#include "simulate/heat_map.h"

/* Of a map: in pixels. */
enum {
   LEFT = 110, RIGHT = 20, CELL = 62, CELL_HEIGHT = 26, ABOVE = 78, BELOW = 60, TOP = 10,
   LEAST_WIDTH = 520, SHADES = 8, STEP = 26
};

/* Where the paper is white the least is the lightest; where it is dark, the darkest. Text stands
   out from each shade by a contrast of 4.5 and more. */
static const char style[]
   = ".s0{fill:#f2f6fb}.s1{fill:#dde9f5}.s2{fill:#c5dbee}.s3{fill:#a5c8e4}.s4{fill:#7fb0d8}"
     ".s5{fill:#2f75b5}.s6{fill:#245f98}.s7{fill:#1a4a7a}.s8{fill:#10355b}\n"
     ".n text,text.n{font-size:11px;text-anchor:middle}\n"
     ".d{fill:#111}.l{fill:#fff}\n"
     "@media(prefers-color-scheme:dark){"
     ".s0{fill:#1f2730}.s1{fill:#22384e}.s2{fill:#24486b}.s3{fill:#265888}.s4{fill:#2a69a6}"
     ".s5{fill:#7db4e2}.s6{fill:#9cc7ea}.s7{fill:#bcdaf2}.s8{fill:#deeefa}"
     ".d{fill:#fff}.l{fill:#111}}\n";

/* From which shade on text is the other way round. */
enum { FIRST_STRONG = 5 };

static const char *text_class(unsigned shade)
{
   return shade >= FIRST_STRONG ? "l" : "d";
}

/* --- Numbers --- */

/* With three digits that count: 998, 1.25K, 22.3M. */
static void shorten(uint64_t n, char text[16])
{
   static const char units[] = " KMGTPE";
   double value = (double)n;
   unsigned unit = 0;
   while (value >= 999.5 && unit + 2 < sizeof units) {
      value /= 1000.0;
      unit++;
   }
   if (unit == 0)
      snprintf(text, 16, "%llu", (unsigned long long)n);
   else
      snprintf(text, 16, "%.*f%c", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
}

/* --- Drawing --- */

typedef struct {
   TgSvg *svg;
   TgMap map;
   unsigned at; /* how far down */
} picture;

typedef struct {
   const char *text;
   size_t n;
} words;

static words value_of(const TgAxis *a, unsigned number)
{
   words w;
   w.text = tg_map_value(a, number, &w.n);
   return w;
}

static words key_of(const TgAxis *a)
{
   words w;
   w.text = tg_map_key(a, &w.n);
   return w;
}

static void put(picture *p, words w)
{
   tg_svg_text(p->svg, w.text, w.n);
}

static void put_text(picture *p, const char *text)
{
   fputs(text, p->svg->f);
}

static void draw_head(picture *p, const TgGrid *g)
{
   words machine;
   machine.text = tg_map_machine(g, &machine.n);
   fprintf(p->svg->f, "<text x='%d' y='%u' font-size='16'>", 20, p->at + 22);
   put(p, machine);
   fprintf(p->svg->f, ": %s</text>\n<text x='%d' y='%u'>by ", tg_map_words(p->map), 20, p->at + 44);
   put(p, key_of(&g->down));
   put_text(p, " (down) and ");
   put(p, key_of(&g->across));
   put_text(p, " (across)</text>\n");
}

/* What the browser shows where the mouse rests, and what is read aloud: all of it. */
static void put_title(picture *p, const TgGrid *g, unsigned down, unsigned across, uint64_t count)
{
   put_text(p, "<title>");
   put(p, key_of(&g->down));
   put_text(p, "=");
   put(p, value_of(&g->down, down));
   put_text(p, ", ");
   put(p, key_of(&g->across));
   put_text(p, "=");
   put(p, value_of(&g->across, across));
   fprintf(p->svg->f, ": %llu %s</title>", (unsigned long long)count, tg_map_words(p->map));
}

static void draw_cell(picture *p, const TgGrid *g, unsigned number, uint64_t least, uint64_t most)
{
   const unsigned down = number / g->across.n, across = number % g->across.n;
   const unsigned x = LEFT + across * CELL, y = p->at + ABOVE + down * CELL_HEIGHT;
   const uint64_t count = tg_map_count(g->cell[number], p->map);
   const unsigned shade = tg_map_shade(count, least, most, SHADES);
   char text[16];
   shorten(count, text);
   put_text(p, "<g class='n'>");
   put_title(p, g, down, across, count);
   fprintf(p->svg->f, "<rect x='%u' y='%u' width='%d' height='%d' class='s%u'/>", x, y, CELL - 1,
           CELL_HEIGHT - 1, shade);
   fprintf(p->svg->f, "<text x='%u' y='%u' class='%s'>%s</text></g>\n", x + CELL / 2, y + 17,
           text_class(shade), text);
}

/* All shades, from the least to the most. */
static void draw_legend(picture *p, uint64_t least, uint64_t most, unsigned y)
{
   char from[16], to[16];
   shorten(least, from);
   shorten(most, to);
   fprintf(p->svg->f, "<text x='%d' y='%u' text-anchor='end'>%s</text>", LEFT - 6, y + 13, from);
   for (unsigned i = 0; i <= SHADES; i++)
      fprintf(p->svg->f, "<rect x='%u' y='%u' width='%d' height='16' class='s%u'/>",
              LEFT + i * STEP, y, STEP, i);
   fprintf(p->svg->f, "<text x='%u' y='%u'>%s</text>\n", LEFT + (SHADES + 1) * STEP + 6, y + 13,
           to);
}

static void draw(const TgGrid *g, void *opaque)
{
   picture *const p = opaque;
   uint64_t least, most;
   tg_map_range(g, p->map, &least, &most);
   draw_head(p, g);
   for (unsigned i = 0; i < g->across.n; i++) {
      fprintf(p->svg->f, "<text x='%u' y='%u' text-anchor='middle'>", LEFT + i * CELL + CELL / 2,
              p->at + ABOVE - 8);
      put(p, value_of(&g->across, i));
      put_text(p, "</text>\n");
   }
   for (unsigned i = 0; i < g->down.n; i++) {
      fprintf(p->svg->f, "<text x='%d' y='%u' text-anchor='end'>", LEFT - 8,
              p->at + ABOVE + i * CELL_HEIGHT + 17);
      put(p, value_of(&g->down, i));
      put_text(p, "</text>\n");
   }
   for (unsigned i = 0; i < g->n; i++)
      draw_cell(p, g, i, least, most);
   const unsigned bottom = p->at + ABOVE + g->down.n * CELL_HEIGHT;
   draw_legend(p, least, most, bottom + 14);
   p->at = bottom + BELOW;
}

/* --- The whole --- */

typedef struct {
   unsigned width, height;
} size;

static void add_size(const TgGrid *g, void *opaque)
{
   size *const s = opaque;
   const unsigned width = LEFT + g->across.n * CELL + RIGHT;
   s->width = width > s->width ? width : s->width;
   s->height += ABOVE + g->down.n * CELL_HEIGHT + BELOW;
}

char *tg_heat_map(const TgRow *row, unsigned n, TgMap map, size_t *length)
{
   size s = { .width = LEAST_WIDTH, .height = TOP };
   char title[80];
   tg_maps_each(row, n, add_size, &s);
   snprintf(title, sizeof title, "%s of a sweep of two values", tg_map_words(map));
   picture p = { .map = map, .at = TOP };
   p.svg = tg_svg_begin(s.width, s.height, title,
                        "A table for each machine: one value downwards, the other one across. The "
                        "further the count of a cell is from the least to the most, the stronger "
                        "its shade.", style);
   if (p.svg == NULL)
      return NULL;
   tg_maps_each(row, n, draw, &p);
   return tg_svg_end(p.svg, length);
}
