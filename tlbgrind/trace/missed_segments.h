/* The segments that may have missed since misses were last taken.

   Their lines have the misses, and behind them as many counts of what has been taken
   (tg_lines_count_seen()): the difference is new. Each segment is listed once. With --data=yes a
   reference goes from one part of its line to another: then that which it leaves is listed. */

#ifndef TG_MISSED_SEGMENTS_H
#define TG_MISSED_SEGMENTS_H

#include "pub_tool_basics.h"

#include "trace/superblocks.h"

/* False: none is listed. */
extern Bool tg_lists_missed_segments;

extern TgSegment** tg_missed_segments;
extern UInt tg_n_missed_segments;

/* Calls `take` for the miss counts that may have new ones, with their number and with how much of
   each has been taken; lists none any more. */
void tg_missed_segments_take(void (*take)(uint64_t* misses, uint64_t* taken, UInt n, tlb_user kind,
                                          void* opaque), void* opaque);

/* Leaves the new misses where they are, and takes none; or takes them back. */
void tg_missed_segments_keep(void);
void tg_missed_segments_take_back(void);

/* A reference of the segment, of that kind, has its misses counted elsewhere from now on than at
   this part of its line. */
void tg_missed_segments_leave(const TgSegment* s, TgLine* part, tlb_user kind);

/* Lists a segment for which there is no room. */
void tg_missed_segments_grow(TgSegment* s);

extern UInt tg_room_for_missed_segments;

/* Lists a segment whose references are about to be simulated. */
static inline void tg_missed_segments_add(TgSegment* s)
{
   if (s->missed || s->copy != 0) /* a copy's misses are in no line */
      return;
   s->missed = True;
   if (UNLIKELY(tg_n_missed_segments == tg_room_for_missed_segments))
      tg_missed_segments_grow(s);
   else
      tg_missed_segments[tg_n_missed_segments++] = s;
}

#endif
