/* What tg_simulate prints: a row for each machine, and a map of two swept values.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_TABLE_H
#define TG_SIMULATE_TABLE_H

#include <stdint.h>

#include "attribution/events.h"

typedef struct {
   const char *name; /* NAME[:OVERRIDE,...] */
   uint64_t cost[TG_N_COSTS];
} TgRow;

/* What the map shows. */
typedef enum { TG_MAP_NONE, TG_MAP_WALKS, TG_MAP_MISSES, TG_MAP_CYCLES } TgMap;

/* Prints the rows; and the map, for each machine of which two values differ, and each combination of
   these is there. What cannot be written ends the program. */
void tg_table_print(const TgRow *row, unsigned n, TgMap map);

#endif
