/* What tg_simulate prints: a row for each machine, and a map of two swept values.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_TABLE_H
#define TG_SIMULATE_TABLE_H

#include "simulate/maps.h"

/* Prints the rows; and the map, for each machine of which two values differ, and each combination
   of these is there. What cannot be written ends the program. */
void tg_table_print(const TgRow *row, unsigned n, TgMap map);

#endif
