/* The table of a simulation. See simulate/table.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command/load_machine.h"
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

/* As many signs as the count is far from the least. */
static void print_shade(unsigned signs)
{
   for (unsigned i = 0; i < SHADES; i++)
      putchar(i < signs ? '#' : '.');
}

static void print_value(const TgAxis *a, unsigned number, int width)
{
   size_t n;
   const char *const value = tg_map_value(a, number, &n);
   printf("%*.*s", width, (int)n, value);
}

static void print_head(const TgGrid *g, TgMap map)
{
   size_t machine_length, down_length, across_length;
   const char *const machine = tg_map_machine(g, &machine_length);
   const char *const down = tg_map_key(&g->down, &down_length);
   const char *const across = tg_map_key(&g->across, &across_length);
   printf("\n%.*s: %s, by %.*s (down) and %.*s (across)\n", (int)machine_length, machine,
          tg_map_words(map), (int)down_length, down, (int)across_length, across);
}

static void print_grid(const TgGrid *g, void *opaque)
{
   const TgMap map = *(const TgMap *)opaque;
   uint64_t least, most;
   char text[32];
   tg_map_range(g, map, &least, &most);
   print_head(g, map);
   printf("%10s", "");
   for (unsigned i = 0; i < g->across.n; i++)
      print_value(&g->across, i, 16 + SHADES);
   printf("\n");
   for (unsigned i = 0; i < g->n; i++) {
      const uint64_t count = tg_map_count(g->cell[i], map);
      if (i % g->across.n == 0)
         print_value(&g->down, i / g->across.n, 10);
      printf("%15s ", with_commas(count, text));
      print_shade(tg_map_shade(count, least, most, SHADES));
      printf("%s", (i + 1) % g->across.n == 0 ? "\n" : "");
   }
}

void tg_table_print(const TgRow *row, unsigned n, TgMap map)
{
   print_rows(row, n);
   if (map != TG_MAP_NONE)
      tg_maps_each(row, n, print_grid, &map);
   if (fflush(stdout) != 0)
      tg_load_refuse("the standard output cannot be written: %s", strerror(errno));
}
