/* The table of a simulation. See simulate/table.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/load_machine.h"
#include "sim/machine/machine_argument.h"
#include "simulate/table.h"

static char *with_commas(uint64_t n, char text[32])
{
   char digits[32];
   const int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
   unsigned at = 0;
   for (int i = 0; i < length; i++) {
      if (i > 0 && (length - i) % 3 == 0)
         text[at++] = ',';
      text[at++] = digits[i];
   }
   text[at] = '\0';
   return text;
}

static void *need(void *memory)
{
   if (memory == NULL)
      tg_load_refuse("no memory");
   return memory;
}

static uint64_t of_data(const uint64_t *cost, unsigned what)
{
   return cost[tg_cost(TLB_LOAD, what)] + cost[tg_cost(TLB_STORE, what)];
}

static void print_rows(const TgRow *row, unsigned n)
{
   int width = 7;
   char text[4][32];
   for (unsigned i = 0; i < n; i++)
      width = (int)strlen(row[i].name) > width ? (int)strlen(row[i].name) : width;
   printf("%-*s %15s %13s %15s %13s\n", width, "machine", "I1 misses", "I walks", "D1 misses",
          "D walks");
   for (unsigned i = 0; i < n; i++) {
      const uint64_t *const t = row[i].cost;
      printf("%-*s %15s %13s %15s %13s\n", width, row[i].name,
             with_commas(t[tg_cost(TLB_FETCH, TG_MISS_1)], text[0]),
             with_commas(t[tg_cost(TLB_FETCH, TG_WALKS)], text[1]),
             with_commas(of_data(t, TG_MISS_1), text[2]),
             with_commas(of_data(t, TG_WALKS), text[3]));
   }
}

/* --- The map --- */

enum { SHADES = 8 };

/* An override of a machine: the line of its key, and the value. */
typedef struct {
   const char *key, *value;
   size_t key_length, value_length;
} override;

/* The values of one override, in the order in which they come. */
typedef struct {
   unsigned which;
   unsigned n;
   const char **with; /* by value: a machine that has it */
} axis;

typedef struct {
   const TgRow *row;
   unsigned n;
   axis down, across;
   const TgRow **cell; /* of the first row all, then of the next */
} grid;

static size_t length_of_name(const char *name)
{
   return tlb_argument_split(name).name;
}

/* Override number i of a machine. False: it has fewer. */
static bool override_of(const char *name, unsigned i, override *out)
{
   const tlb_argument_overrides o = tlb_argument_split(name);
   const char *at = name + o.from, *const end = at + o.length;
   for (; at < end; at++) {
      const char *const comma = memchr(at, ',', (size_t)(end - at));
      const char *const stop = comma != NULL ? comma : end;
      const char *const equals = memchr(at, '=', (size_t)(stop - at));
      if (i-- == 0 && equals != NULL) {
         *out = (override){ at, equals + 1, (size_t)(equals - at), (size_t)(stop - equals - 1) };
         return true;
      }
      at = stop;
   }
   return false;
}

static bool is_same(const char *a, size_t a_length, const char *b, size_t b_length)
{
   return a_length == b_length && memcmp(a, b, a_length) == 0;
}

static bool has_same_value(const char *a, const char *b, unsigned i)
{
   override x, y;
   return override_of(a, i, &x) && override_of(b, i, &y)
          && is_same(x.value, x.value_length, y.value, y.value_length);
}

/* Whether two machines are one but for the values of their overrides. */
static bool is_alike(const char *a, const char *b)
{
   override x, y;
   if (!is_same(a, length_of_name(a), b, length_of_name(b)))
      return false;
   for (unsigned i = 0;; i++) {
      const bool in_a = override_of(a, i, &x), in_b = override_of(b, i, &y);
      if (in_a != in_b)
         return false;
      if (!in_a)
         return true;
      if (!is_same(x.key, x.key_length, y.key, y.key_length))
         return false;
   }
}

/* The number of the machine's value; a->n: it is a new one. */
static unsigned number_of(const axis *a, const char *name)
{
   unsigned i = 0;
   while (i < a->n && !has_same_value(a->with[i], name, a->which))
      i++;
   return i;
}

static axis find_values(const grid *g, unsigned which)
{
   axis a = { .which = which, .with = need(calloc(g->n, sizeof *a.with)) };
   for (unsigned i = 0; i < g->n; i++) {
      if (number_of(&a, g->row[i].name) == a.n)
         a.with[a.n++] = g->row[i].name;
   }
   return a;
}

/* The two overrides whose values differ. False: they are fewer or more. */
static bool find_axes(grid *g)
{
   override unused;
   unsigned found = 0;
   for (unsigned i = 0; override_of(g->row[0].name, i, &unused); i++) {
      const axis a = find_values(g, i);
      if (a.n == 1 || found == 2) {
         free(a.with);
         found += a.n > 1;
         continue;
      }
      *(found == 0 ? &g->down : &g->across) = a;
      found++;
   }
   return found == 2;
}

/* False: a combination is not there. */
static bool fill(grid *g)
{
   const unsigned cells = g->down.n * g->across.n;
   g->cell = need(calloc(cells, sizeof *g->cell));
   for (unsigned i = 0; i < g->n; i++) {
      const char *const name = g->row[i].name;
      g->cell[number_of(&g->down, name) * g->across.n + number_of(&g->across, name)] = &g->row[i];
   }
   for (unsigned i = 0; i < cells; i++) {
      if (g->cell[i] == NULL)
         return false;
   }
   return true;
}

static uint64_t count_of(const TgRow *row, TgMap map)
{
   const uint64_t *const c = row->cost;
   return map == TG_MAP_WALKS ? c[tg_cost(TLB_FETCH, TG_WALKS)] + of_data(c, TG_WALKS)
          : map == TG_MAP_MISSES ? c[tg_cost(TLB_FETCH, TG_MISS_1)] + of_data(c, TG_MISS_1)
                                 : c[TG_ALL_CYCLES];
}

/* How far it is from the least to the most, in SHADES steps, as so many signs. */
static void print_shade(uint64_t count, uint64_t least, uint64_t most)
{
   const double way = most == least ? 0 : (double)(count - least) / (double)(most - least);
   const int signs = (int)(way * SHADES + 0.5);
   for (int i = 0; i < SHADES; i++)
      putchar(i < signs ? '#' : '.');
}

static void print_value(const char *name, unsigned which, int width)
{
   override o;
   if (override_of(name, which, &o))
      printf("%*.*s", width, (int)o.value_length, o.value);
}

static void print_head(const grid *g, TgMap map)
{
   static const char *const names[] = { "", "page walks", "first-level misses", "miss cycles" };
   override down, across;
   if (!override_of(g->row[0].name, g->down.which, &down)
       || !override_of(g->row[0].name, g->across.which, &across))
      return;
   printf("\n%.*s: %s, by %.*s (down) and %.*s (across)\n",
          (int)length_of_name(g->row[0].name), g->row[0].name, names[map], (int)down.key_length,
          down.key, (int)across.key_length, across.key);
}

static void print_grid(const grid *g, TgMap map)
{
   uint64_t least = UINT64_MAX, most = 0;
   char text[32];
   for (unsigned i = 0; i < g->n; i++) {
      const uint64_t count = count_of(g->cell[i], map);
      least = count < least ? count : least;
      most = count > most ? count : most;
   }
   print_head(g, map);
   printf("%10s", "");
   for (unsigned i = 0; i < g->across.n; i++)
      print_value(g->across.with[i], g->across.which, 16 + SHADES);
   printf("\n");
   for (unsigned i = 0; i < g->n; i++) {
      const uint64_t count = count_of(g->cell[i], map);
      if (i % g->across.n == 0)
         print_value(g->cell[i]->name, g->down.which, 10);
      printf("%15s ", with_commas(count, text));
      print_shade(count, least, most);
      printf("%s", (i + 1) % g->across.n == 0 ? "\n" : "");
   }
}

/* Rows that are alike stand together, but for machines between lists. */
static void print_maps(const TgRow *row, unsigned n, TgMap map)
{
   for (unsigned from = 0, to; from < n; from = to) {
      for (to = from + 1; to < n && is_alike(row[from].name, row[to].name); to++)
         ;
      grid g = { .row = row + from, .n = to - from };
      if (find_axes(&g) && fill(&g))
         print_grid(&g, map);
      free(g.down.with);
      free(g.across.with);
      free(g.cell);
   }
}

void tg_table_print(const TgRow *row, unsigned n, TgMap map)
{
   print_rows(row, n);
   if (map != TG_MAP_NONE)
      print_maps(row, n, map);
   if (fflush(stdout) != 0)
      tg_load_refuse("the standard output cannot be written: %s", strerror(errno));
}
