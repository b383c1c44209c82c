/* The maps of a sweep as a picture: --picture=.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_HEAT_MAP_H
#define TG_SIMULATE_HEAT_MAP_H

#include "simulate/maps.h"

/* All maps of the rows as SVG, one below the other: the darker a cell, the greater its count. To be
   freed; NULL: no memory. */
char *tg_heat_map(const TgRow *row, unsigned n, TgMap map, size_t *length);

#endif
