/* Maps of two swept values. See simulate/maps.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "command/load_machine.h"
#include "sim/machine/machine_argument.h"
#include "simulate/maps.h"

/* An override of a machine: the line of its key, and the value. */
typedef struct {
   const char *key, *value;
   size_t key_length, value_length;
} override;

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
static unsigned number_of(const TgAxis *a, const char *name)
{
   unsigned i = 0;
   while (i < a->n && !has_same_value(a->with[i], name, a->which))
      i++;
   return i;
}

static TgAxis find_values(const TgGrid *g, unsigned which)
{
   TgAxis a = { .which = which, .with = tg_load_need(calloc(g->n, sizeof *a.with)) };
   for (unsigned i = 0; i < g->n; i++) {
      if (number_of(&a, g->row[i].name) == a.n)
         a.with[a.n++] = g->row[i].name;
   }
   return a;
}

/* The two overrides whose values differ. False: they are fewer or more. */
static bool find_axes(TgGrid *g)
{
   override unused;
   unsigned found = 0;
   for (unsigned i = 0; override_of(g->row[0].name, i, &unused); i++) {
      const TgAxis a = find_values(g, i);
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

/* False: a combination is not there, or twice. */
static bool fill(TgGrid *g)
{
   const unsigned cells = g->down.n * g->across.n;
   if (cells != g->n)
      return false;
   g->cell = tg_load_need(calloc(cells, sizeof *g->cell));
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

uint64_t tg_map_count(const TgRow *row, TgMap map)
{
   const unsigned what = map == TG_MAP_WALKS ? TG_WALKS : TG_MISS_1;
   uint64_t sum = 0;
   if (map == TG_MAP_CYCLES)
      return row->cost[TG_ALL_CYCLES];
   for (unsigned kind = 0; kind < TLB_N_USERS; kind++)
      sum += row->cost[tg_cost(kind, what)];
   return sum;
}

void tg_map_range(const TgGrid *g, TgMap map, uint64_t *least, uint64_t *most)
{
   *least = UINT64_MAX;
   *most = 0;
   for (unsigned i = 0; i < g->n; i++) {
      const uint64_t count = tg_map_count(g->cell[i], map);
      *least = count < *least ? count : *least;
      *most = count > *most ? count : *most;
   }
}

unsigned tg_map_shade(uint64_t count, uint64_t least, uint64_t most, unsigned shades)
{
   const double way = most == least ? 0 : (double)(count - least) / (double)(most - least);
   return (unsigned)(way * shades + 0.5);
}

const char *tg_map_words(TgMap map)
{
   static const char *const words[] = { "", "page walks", "first-level misses", "miss cycles" };
   return words[map];
}

const char *tg_map_value(const TgAxis *a, unsigned number, size_t *n)
{
   override o = { .value_length = 0 };
   override_of(a->with[number], a->which, &o);
   *n = o.value_length;
   return o.value;
}

const char *tg_map_key(const TgAxis *a, size_t *n)
{
   override o = { .key_length = 0 };
   override_of(a->with[0], a->which, &o);
   *n = o.key_length;
   return o.key;
}

const char *tg_map_machine(const TgGrid *g, size_t *n)
{
   *n = length_of_name(g->row[0].name);
   return g->row[0].name;
}

/* Rows that are alike stand together, but for machines between lists. */
unsigned tg_maps_each(const TgRow *row, unsigned n, void (*each)(const TgGrid *g, void *opaque),
                      void *opaque)
{
   unsigned found = 0;
   for (unsigned from = 0, to; from < n; from = to) {
      for (to = from + 1; to < n && is_alike(row[from].name, row[to].name); to++)
         ;
      TgGrid g = { .row = row + from, .n = to - from };
      if (find_axes(&g) && fill(&g)) {
         found++;
         if (each != NULL)
            each(&g, opaque);
      }
      free(g.down.with);
      free(g.across.with);
      free(g.cell);
   }
   return found;
}
