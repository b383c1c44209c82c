/* Batches: many segments are looked up together where page walks are frequent.

   A program that walks page tables all the time, because it goes everywhere in
   much memory, waits for that memory; and the processor can have many of its
   loads under way at once. It can not if the simulation of a miss stands between
   any two of them: that fills its window of instructions, and the next load
   begins only when this one is done. So as long as walks come thick and fast,
   the check (engine/check.h) only notes what it was to look up, and many segments
   are looked up together. Nothing else changes what is known or what backs a
   page while client code runs, so it does not matter when that is done. */

#ifndef TG_BATCH_H
#define TG_BATCH_H

#include "pub_tool_basics.h"

#include "trace/superblocks.h"
#include "trace/shadow_area.h"

/* What looks up a segment that has been counted, at the time that the clock shows. */
typedef void TgBatched(const TgShadowArea* shadow, TgSegment* s);

/* NULL: no segment may be looked up later. */
void tg_batch_init(TgBatched* look_up);

/* All bits set while segments are to be looked up later, else 0. */
extern UWord tg_batching;

/* A walk for the segment at hand: segments may be looked up later from the next
   on. */
void tg_batch_walked(void);

/* Notes the segment, which has been counted, with its bases; or looks up all that
   have been noted, and it, if there is no room. */
void tg_batch_add(const TgShadowArea* shadow, TgSegment* s);

/* Looks up what has been noted; to be called before anything else is
   simulated. */
void tg_batch_look_up(void);

#endif
