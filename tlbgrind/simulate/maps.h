/* Maps: the machines of a sweep of two values, as a table of these.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_MAPS_H
#define TG_SIMULATE_MAPS_H

#include <stddef.h>
#include <stdint.h>

#include "attribution/events.h"

typedef struct {
   const char *name; /* NAME[:OVERRIDE,...] */
   uint64_t cost[TG_N_COSTS];
} TgRow;

/* What a map shows. */
typedef enum { TG_MAP_NONE, TG_MAP_WALKS, TG_MAP_MISSES, TG_MAP_CYCLES } TgMap;

/* The values of one override of a machine, in the order in which they come. */
typedef struct {
   unsigned which;
   unsigned n;
   const char **with; /* by value: a machine that has it */
} TgAxis;

typedef struct {
   const TgRow *row;
   unsigned n;
   TgAxis down, across;
   const TgRow **cell; /* of the first value down all across, then of the next */
} TgGrid;

/* Calls `each`, which may be NULL, for each machine of which two values differ, and each
   combination of these is there. Returns how many there are. */
unsigned tg_maps_each(const TgRow *row, unsigned n, void (*each)(const TgGrid *g, void *opaque),
                      void *opaque);

uint64_t tg_map_count(const TgRow *row, TgMap map);

/* The least and the greatest count of a map, and how far it is from the one to the other: 0 to
   `shades`. */
void tg_map_range(const TgGrid *g, TgMap map, uint64_t *least, uint64_t *most);
unsigned tg_map_shade(uint64_t count, uint64_t least, uint64_t most, unsigned shades);

/* What the map shows, in words; and names that are not ended by a zero: of the machine, of what
   varies, and of one of its values. */
const char *tg_map_words(TgMap map);
const char *tg_map_machine(const TgGrid *g, size_t *n);
const char *tg_map_key(const TgAxis *a, size_t *n);
const char *tg_map_value(const TgAxis *a, unsigned number, size_t *n);

#endif
