/* The segment that was run last: when its references were made, and on which pages.

   The clock counts instructions. Every segment sets it on when it has come to its end;
   what the segment referred to has times between that and the end of the one before. */

#ifndef TG_SEGMENT_RUN_H
#define TG_SEGMENT_RUN_H

#include "pub_tool_basics.h"

#include "trace/superblocks.h"
#include "trace/shadow_area.h"

/* The time of the last reference; a segment's end sets it on by what its
   instructions take, see trace/superblocks.h. */
extern ULong tg_clock;

/* How often it went on by the time of an instruction where there was none. */
extern ULong tg_idle_passes;

/* The clock goes on by a segment. */
static inline void tg_clock_pass(const TgSegment* s)
{
   if (s->ticks == 0)
      tg_idle_passes++;
   tg_clock += s->ticks == 0 ? TG_INSTR_TICKS : s->ticks;
}

/* How many segments have been counted, and are still to be looked up: engine/batch.h. */
extern UInt tg_n_segments_noted;

/* Instructions executed so far, in all segments that have come to their end. */
static inline ULong tg_instructions(void)
{
   return (tg_clock >> TG_INSTR_SHIFT) - tg_idle_passes;
}

/* The segment that is being simulated: set before its first reference is. */
extern const TgSegment* tg_simulated;

/* How many instructions had been executed when the reference was made, which is one of
   that segment's. */
ULong tg_instructions_before(const TgRef* r);

/* The time of reference number nth of the segment that was run last. */
static inline ULong tg_time_of_ref(const TgSegment* s, UInt nth)
{
   return tg_clock - TG_TICKS * (ULong)(s->n_refs - 1 - nth);
}

/* Where that data reference is. */
static inline Addr tg_address_of_ref(const TgShadowArea* shadow, const TgRef* r)
{
   return shadow->base[r->base] + r->at.offset;
}

/* Whether the client may make it. */
Bool tg_may_access(const TgShadowArea* shadow, const TgRef* r);

/* The pages that the groups of the segment at hand begin on. */
extern tlb_page* tg_segment_page[TG_MAX_GROUPS];

/* The number of the group's last reference before number `nth`; its first is, its last
   is not. */
UInt tg_last_before(const TgSegment* s, const TgGroup* g, UInt nth);

#endif
