/* The sums of a run's costs: of all lines, and, function by function, what misses cost at least. */

#ifndef TG_SUMS_H
#define TG_SUMS_H

#include "pub_tool_basics.h"

#include "pub_tool_xarray.h"

#include "output/results.h"

/* Stores both in the result; `lines` are in order of output. */
void tg_sums_add_up(TgResult* result, XArray* lines);

#endif
