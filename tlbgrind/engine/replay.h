/* Replay: the references of a segment, simulated one by one in the program's order. */

#ifndef TG_REPLAY_H
#define TG_REPLAY_H

#include "pub_tool_basics.h"

#include "trace/superblocks.h"
#include "trace/shadow_area.h"
#include "options/options.h"

void tg_replay_init(const TgOptions* options);

/* Simulates all references of a segment that has just been run, with the bases that it
   left. */
void tg_replay_all(const TgShadowArea* shadow, TgSegment* s);

/* Simulates those from number `nth` on; those before it have been. */
void tg_replay_from(const TgShadowArea* shadow, TgSegment* s, UInt nth);

/* Simulates the first n, for the others were not made. */
void tg_replay_first(const TgShadowArea* shadow, TgSegment* s, UInt n);

/* The first touches of pages among the first n references, for the page faults: no MMU sees them,
   and they are not counted. */
void tg_replay_touches(const TgShadowArea* shadow, const TgSegment* s, UInt n);

/* Notes the times of the first n: they have been simulated, or are known to hit. */
void tg_replay_note_times(const TgShadowArea* shadow, TgSegment* s, UInt n);

/* How many references of each kind crossed a page: each is one reference and two
   translations. (Fetches are counted by trace/superblocks.h.) */
ULong* tg_replay_straddles(void);

/* For --stats=yes: how many segments neither the check nor the fast path
   (engine/fast_path.h) could do. */
extern ULong tg_segments_missed;
void tg_replay_print_stats(void);

#endif
