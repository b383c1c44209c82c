/* Sets of ranges of addresses that do not overlap, each with an object of data. */

#ifndef TG_DATA_RANGES_H
#define TG_DATA_RANGES_H

#include "pub_tool_basics.h"

#include "pub_tool_oset.h"

/* [start, end). `end` is the key: the first range with end > a is the only one that can hold a. */
typedef struct {
   Addr end;
   Addr start;
   Addr origin;  /* where it began before parts of it were removed */
   SizeT record; /* its records have so many bytes, from the origin on; 0: none */
   UInt object;
} TgRange;

OSet* tg_ranges_new(const HChar* cost_centre);

/* The first range that ends above `a`, or NULL. */
const TgRange* tg_ranges_above(OSet* ranges, Addr a);

/* The range that holds `a`, or NULL. */
const TgRange* tg_ranges_at(OSet* ranges, Addr a);

/* Adds a range where there is none; nothing if it is empty. */
void tg_ranges_add(OSet* ranges, TgRange range);

/* Removes what lies in [start, end), and leaves what sticks out. */
void tg_ranges_remove(OSet* ranges, Addr start, Addr end);

#endif
