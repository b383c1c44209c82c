/* The segments that may have missed since the call stack was last brought up to date.

   Their lines have the misses; calls/call_stack.c finds there what is new. Each segment is
   listed once. */

#ifndef TG_MISSED_SEGMENTS_H
#define TG_MISSED_SEGMENTS_H

#include "pub_tool_basics.h"

#include "trace/superblocks.h"

/* False: none is listed. */
extern Bool tg_lists_missed_segments;

extern TgSegment** tg_missed_segments;
extern UInt tg_n_missed_segments;

/* Lists a segment for which there is no room. */
void tg_missed_segments_grow(TgSegment* s);

extern UInt tg_room_for_missed_segments;

/* Lists a segment whose references are about to be simulated. */
static inline void tg_missed_segments_add(TgSegment* s)
{
   if (s->missed)
      return;
   s->missed = True;
   if (UNLIKELY(tg_n_missed_segments == tg_room_for_missed_segments))
      tg_missed_segments_grow(s);
   else
      tg_missed_segments[tg_n_missed_segments++] = s;
}

#endif
