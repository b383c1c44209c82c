/* Behind the first levels: what many machines have there stands at the pages.

   Machines that miss together (TgStream, see tg_shared.h) have shelves behind their
   first levels (sim/shelf.h): one look at the page says which of them hold it,
   one time is noted, and one count of misses in the line is for all of them.

   This is for machines that know base pages alone. They part from it as soon as
   the program asks for huge pages. */

#ifndef TG_BEHIND_H
#define TG_BEHIND_H

#include "pub_tool_basics.h"

#include "tg_lanes.h"

/* Finds the streams, and makes shelves; once it is known who follows whom. */
void tg_behind_find(Bool fast_path);

/* Counts of streams there are in a line, and where they begin among its counts. */
extern UInt tg_n_streams;

static inline UInt tg_streams_at(void)
{
   return tg_n_lanes * TG_N_OF_A_MISS;
}

/* By table, the machines whose shelf is the last that they have. */
extern ULong tg_behind_last[TG_N_TABLES];

/* A line's count of misses of such a shelf. */
static inline ULong* tg_count_of_last(ULong* misses, UInt lane)
{
   return misses + tg_streams_at() + tg_n_streams + lane;
}

/* What stands at the page, made if it is new. */
tlb_shelf_page* tg_behind(TgTable table, const TgPage* p);

/* The machine is asked for a page that is not on its shelf: now it is. Adds to *out
   what that comes to, the miss of the first level aside. */
void tg_behind_fill(TgLane* lane, TgTable table, tlb_shelf_page* p,
                    const tlb_reference* r, tlb_outcome* out);

/* Adds what was counted for machines together to the costs of each. */
void tg_behind_settle(void);

/* From now on there are no shelves. */
void tg_behind_part(void);

#endif
