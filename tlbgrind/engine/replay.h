/* Replay: the references of a segment, simulated in the program's order. */

#ifndef TG_REPLAY_H
#define TG_REPLAY_H

#include "pub_tool_basics.h"

#include "trace/superblocks.h"
#include "trace/shadow_area.h"
#include "options/options.h"

void tg_replay_init(const TgOptions* options);

/* Simulates a segment that has just been run, with the bases that it left. The
   check has left the groups' pages as far as it knows them in tg_segment_page, and
   says in which bits of the page number any of the tags that it looked at differs
   from what it was looking for: if TLB_DATA_UNKNOWN and TLB_CODE_UNKNOWN are all, it
   knows all pages. */
void tg_replay(const TgShadowArea* shadow, TgSegment* s, UWord differs);

#define TG_ANY_DIFFERENCE (~(UWord)0)

/* Notes the times of the segment's references, all of which are known. */
void tg_replay_note_times(const TgShadowArea* shadow, TgSegment* s);

/* Simulates the segment reference by reference from number `nth` on; those before it
   have been. */
void tg_replay_from(const TgShadowArea* shadow, TgSegment* s, UInt nth);

/* Simulates a segment without going through its references: only the first reference to
   each unknown page, and then notes all times. Its groups lie on one page each, which are
   listed in tg_segment_page, and it has one fetch at most. */
void tg_replay_unknown(const TgShadowArea* shadow, TgSegment* s);

/* Simulates the first n references of the segment, whose others were not made. */
void tg_replay_first(const TgShadowArea* shadow, TgSegment* s, UInt n);

/* How many references of each kind crossed a page: each is one reference and two
   translations. (Of fetches, trace/superblocks.h knows.) */
ULong* tg_replay_straddles(void);

/* For --stats=yes: how often neither the check nor the short way (engine/fast_lru.h) was
   enough. */
void tg_replay_print_stats(void);

#endif
