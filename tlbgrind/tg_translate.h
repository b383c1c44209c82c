/* One reference, as all machines of the run see it: those that want to see it
   simulate it, for the others its time is noted. --fast-path=no shows
   everything to everybody. */

#ifndef TG_TRANSLATE_H
#define TG_TRANSLATE_H

#include "pub_tool_basics.h"

#include "tg_blocks.h"
#include "tg_known.h"
#include "tg_lanes.h"

void tg_translate_init(const TgOptions* options);

/* What a reference missed: bit n for a miss that is counted as cost
   TG_MISS_1 + n. */
static inline UInt tg_misses_of(const tlb_outcome* o)
{
   return o->missed | (o->walked ? 1u << (TG_WALKS - TG_MISS_1) : 0);
}

/* Adds it to the costs of a line and a machine, from TG_MISS_1 on. */
static inline void tg_book_misses(ULong* cost, const tlb_outcome* o)
{
   cost[TG_WALK_REFS - TG_MISS_1] += o->walk_references;
   cost[TG_CYCLES - TG_MISS_1] += o->cycles;
   for (UInt bits = tg_misses_of(o); bits != 0; bits >>= 1, cost++)
      *cost += bits & 1;
}

/* Simulates reference r to page p, whose number is `number`, at the time `now`,
   and books what it missed. A modify is a read here; in a run that knows arrays
   for stores it is a write to the same page, too.

   Returns False if the segment `mark` has to be replayed reference by
   reference instead, see tg_lane_refer(). What has been done by then is part
   of this reference; asking again does the rest. */
Bool tg_translate(TgRef* r, TgPage* p, UWord number, ULong now, UInt mark);

/* The second half of the reference that was the last call of tg_translate(): it
   crosses to the next page. */
void tg_translate_second(TgRef* r, TgPage* p, UWord number, ULong now);

/* A reference that crosses from page `first` to page `last`, as cachegrind
   counts it: a level that either misses counts one miss, and a level is asked
   for both if the one before missed either. Only without fast path, and with
   one machine. */
void tg_translate_as_cachegrind(TgRef* r, UWord first, UWord last, ULong now);

/* By machine: misses beyond the first that one reference made of a level; see
   tg_events.h for the costs. */
ULong* tg_translate_extra(UInt lane);

#endif
