/* Curves as a picture. See measure/picture.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/svg.h"
#include "measure/curves_csv.h"
#include "measure/picture.h"

/* Of the whole, of a panel with its axes, and of what is drawn in it. */
enum {
   WIDTH = 1000, TOP = 50, PANEL = 340, LEFT = 60, RIGHT = 260, PLOT_TOP = 24, PLOT = 260,
   LEGEND_LINE = 15, MOST_PANELS = 32
};

/* Colours that can be told apart by most people who see fewer; then the same, dashed. The last is
   that of text. */
enum { N_COLOURS = 7 };
static const char style[]
   = "polyline,path{stroke-width:1.5;fill:none}"
     ".c0{stroke:#0072b2}.c1{stroke:#d55e00}.c2{stroke:#009e73}.c3{stroke:#cc79a7}"
     ".c4{stroke:#e69f00}.c5{stroke:#56b4e9}.c6{stroke:#000}\n"
     "@media(prefers-color-scheme:dark){.c0{stroke:#2f86d8}.c5{stroke:#9bd7f5}.c6{stroke:#fff}}\n";

/* --- panels --- */

/* Curves that belong into one picture: of tables, of strides, and the others of one reference. */
typedef struct {
   unsigned page_shift;
   TgAsk ask;
   int group;
   double from_x, to_x, from_y, to_y; /* log2 */
} Panel;

static int group_of(const TgCurve *c)
{
   return c->kind == TG_CURVE_STRIDE     ? 1
          : c->kind == TG_CURVE_TABLES   ? 2
          : c->kind == TG_CURVE_CONFLICT ? 3
                                         : 0;
}

static bool belongs(const TgCurve *c, const Panel *p)
{
   return c->page_shift == p->page_shift && c->ask == p->ask && group_of(c) == p->group
          && c->n > 0;
}

static void stretch(const TgCurve *c, Panel *p)
{
   for (size_t i = 0; i < c->n; i++) {
      const double x = log2((double)c->point[i].pages), y = log2(c->point[i].cycles);
      p->from_x = fmin(p->from_x, floor(x));
      p->to_x = fmax(p->to_x, ceil(x));
      p->from_y = fmin(p->from_y, floor(y));
      p->to_y = fmax(p->to_y, ceil(y));
   }
}

static size_t find_panels(const TgCurve *curve, size_t n, Panel out[MOST_PANELS])
{
   size_t panels = 0;
   for (size_t i = 0; i < n; i++) {
      size_t k = 0;
      while (k < panels && !belongs(&curve[i], &out[k]))
         k++;
      if (curve[i].n == 0 || k == MOST_PANELS)
         continue;
      if (k == panels)
         out[panels++] = (Panel){ curve[i].page_shift, curve[i].ask, group_of(&curve[i]),
                                  HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL };
      stretch(&curve[i], &out[k]);
   }
   for (size_t k = 0; k < panels; k++) {
      if (out[k].to_x <= out[k].from_x)
         out[k].to_x = out[k].from_x + 1.0;
      if (out[k].to_y <= out[k].from_y)
         out[k].to_y = out[k].from_y + 1.0;
   }
   return panels;
}

/* --- drawing --- */

static double across(const Panel *p, double log_x)
{
   return LEFT + (log_x - p->from_x) / (p->to_x - p->from_x) * (WIDTH - LEFT - RIGHT);
}

static double down(const Panel *p, double log_y)
{
   return PLOT_TOP + PLOT - (log_y - p->from_y) / (p->to_y - p->from_y) * PLOT;
}

static void print_size(FILE *f, unsigned shift)
{
   static const char *const units[] = { "", "K", "M", "G", "T" };
   fprintf(f, "%u%s", 1u << shift % 10, units[shift / 10 < 4 ? shift / 10 : 4]);
}

static void print_number(FILE *f, double log_value)
{
   const double value = exp2(log_value);
   if (value >= 1024.0)
      fprintf(f, "%.0fK", value / 1024.0);
   else
      fprintf(f, "%g", value);
}

static void draw_axes(FILE *f, const Panel *p)
{
   const int right = WIDTH - RIGHT, bottom = PLOT_TOP + PLOT;
   for (double x = p->from_x; x <= p->to_x; x += 1.0) {
      fprintf(f, "<path d='M%.1f %dV%d' class='g'/>", across(p, x), PLOT_TOP, bottom);
      fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle'>", across(p, x), bottom + 15);
      print_number(f, x);
      fputs("</text>\n", f);
   }
   for (double y = p->from_y; y <= p->to_y; y += 1.0) {
      fprintf(f, "<path d='M%d %.1fH%d' class='g'/>", LEFT, down(p, y), right);
      fprintf(f, "<text x='%d' y='%.1f' text-anchor='end'>", LEFT - 6, down(p, y) + 4.0);
      print_number(f, y);
      fputs("</text>\n", f);
   }
   fprintf(f, "<text x='%d' y='%d' text-anchor='end'>pages</text>\n", right, bottom + 32);
   fprintf(f, "<text x='%d' y='%d'>core cycles per reference</text>\n", LEFT, bottom + 32);
}

static void draw_curve(FILE *f, const Panel *p, const TgCurve *c, unsigned number)
{
   const unsigned colour = number % N_COLOURS;
   const char *const dash = number >= N_COLOURS ? " stroke-dasharray='5 3'" : "";
   const int y = PLOT_TOP + 8 + (int)number * LEGEND_LINE, x = WIDTH - RIGHT + 16;
   fprintf(f, "<polyline class='c%u'%s points='", colour, dash);
   for (size_t i = 0; i < c->n; i++)
      fprintf(f, "%s%.1f,%.1f", i == 0 ? "" : " ", across(p, log2((double)c->point[i].pages)),
              down(p, log2(c->point[i].cycles)));
   fprintf(f, "'/>\n<path d='M%d %dh22' class='c%u'%s/>", x, y, colour, dash);
   fprintf(f, "<text x='%d' y='%d'>%s", x + 28, y + 4, tg_curve_kind_name(c->kind));
   if (c->stride_shift > 0) {
      fputs(", every ", f);
      print_number(f, c->stride_shift);
      fputs(" pages", f);
   }
   if (c->kind == TG_CURVE_OVERLAP)
      fprintf(f, ", %u chain%s", c->chains, c->chains == 1 ? "" : "s");
   fputs("</text>\n", f);
}

static void draw_panel(FILE *f, const Panel *p, const TgCurve *curve, size_t n, size_t at)
{
   static const char *const groups[] = { "", ", pages far apart", ", tables",
                                         ", few pages far apart among others" };
   unsigned number = 0;
   fprintf(f, "<g transform='translate(0 %zu)'>\n", TOP + at * PANEL);
   fprintf(f, "<text x='%d' y='%d' font-weight='bold'>", LEFT, PLOT_TOP - 8);
   fprintf(f, "%s, pages of ", tg_ask_name(p->ask));
   print_size(f, p->page_shift);
   fprintf(f, "%s</text>\n", groups[p->group]);
   draw_axes(f, p);
   for (size_t i = 0; i < n; i++)
      if (belongs(&curve[i], p))
         draw_curve(f, p, &curve[i], number++);
   fputs("</g>\n", f);
}

char *tg_picture(const TgCurve *curve, size_t n, const char *title, size_t *length)
{
   Panel panel[MOST_PANELS];
   const size_t panels = find_panels(curve, n, panel);
   const size_t height = TOP + panels * PANEL + 10;
   TgSvg *const svg = tg_svg_begin(WIDTH, (unsigned)height, title,
                                   "Core cycles per reference over the number of pages, for each "
                                   "page size and kind of reference; both axes are logarithmic.",
                                   style);
   if (svg == NULL)
      return NULL;
   fprintf(svg->f, "<text x='%d' y='28' font-size='16'>", LEFT);
   tg_svg_text(svg, title, strlen(title));
   fputs("</text>\n", svg->f);
   for (size_t k = 0; k < panels; k++)
      draw_panel(svg->f, &panel[k], curve, n, k);
   return tg_svg_end(svg, length);
}
