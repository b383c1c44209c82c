/* Replay: the references of a segment, simulated in the program's order. */

#ifndef TG_REPLAY_H
#define TG_REPLAY_H

#include "pub_tool_basics.h"

#include "trace/superblocks.h"
#include "trace/shadow_area.h"
#include "options/options.h"

void tg_replay_init(const TgOptions* options);

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

/* Instructions executed so far, in all segments that have come to their end. */
static inline ULong tg_instructions(void)
{
   return (tg_clock >> TG_INSTR_SHIFT) - tg_idle_passes;
}

/* The segment that is being simulated: whoever begins to simulate one says so. */
extern const TgSegment* tg_simulated;

/* How many had been executed when the reference was made, which is one of that
   segment's. */
ULong tg_replay_instructions(const TgRef* r);

/* Simulates a segment that has just been run, with the bases that it left. The
   check has left the groups' pages as far as it knows them in tg_segment_page, and
   says in which bits of the page number any of the tags that it looked at differs
   from what it was looking for: if TG_DATA_UNKNOWN and TG_CODE_UNKNOWN are all, it
   knows all pages. */
void tg_replay(const TgShadowArea* shadow, TgSegment* s, UWord differs);

#define TG_ANY_DIFFERENCE (~(UWord)0)

/* The pages that the groups of the segment at hand begin on. */
extern TgPage* tg_segment_page[TG_MAX_GROUPS];

/* Notes the times of the segment's references, all of which are known. */
void tg_replay_note_times(const TgShadowArea* shadow, TgSegment* s);

/* Simulates the segment reference by reference from number `nth` on; those before it
   have been. */
void tg_replay_from(const TgShadowArea* shadow, TgSegment* s, UInt nth);

/* Simulates a segment without going through its references: only the first reference to
   each unknown page, and then notes all times. Its groups lie on one page each, which are
   listed in tg_segment_page, and it has one fetch at most. */
void tg_replay_unknown(const TgShadowArea* shadow, TgSegment* s);

/* The number of the group's last reference before number `nth`; its first is, its last
   is not. */
UInt tg_last_before(const TgSegment* s, const TgGroup* g, UInt nth);

/* Simulates the first n references of the segment, whose others were not made. */
void tg_replay_first(const TgShadowArea* shadow, TgSegment* s, UInt n);

/* How many references of each kind crossed a page: each is one reference and two
   translations. (Of fetches, trace/superblocks.h knows.) */
ULong* tg_replay_straddles(void);

/* For --stats=yes: how often neither the check nor the short way (engine/fast_lru.h) was
   enough. */
void tg_replay_print_stats(void);

#endif
