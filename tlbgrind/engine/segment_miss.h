/* A segment that refers to unknown pages: the first reference to each of them is
   simulated, all others are hits whose times are noted.

   Behind an unknown page that drives out another page of the segment, and wherever else
   groups of references say too little, the references are gone through one by one
   (engine/replay.h). */

#ifndef TG_SEGMENT_MISS_H
#define TG_SEGMENT_MISS_H

#include "pub_tool_basics.h"

#include "trace/shadow_area.h"
#include "trace/superblocks.h"
#include "options/options.h"

enum { TG_4K_SHIFT = 12 };

/* Once it is settled what is told apart. */
void tg_segment_miss_init(const TgOptions* options);

/* Simulates a segment that has just been run, with the bases that it left; or notes it, if
   segments are looked up later (engine/batch.h). The check has left the groups' pages as
   far as it found them in tg_segment_page; `differs` says in which bits of the page number
   any of the tags that it looked at differs from what it was looking for: if
   TLB_DATA_UNKNOWN and TLB_CODE_UNKNOWN are all, it found all pages. */
void tg_segment_miss(const TgShadowArea* shadow, TgSegment* s, UWord differs);

#endif
