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

enum { TG_MISS_GROUPS = 4 };

/* Once it is settled what is told apart. */
void tg_segment_miss_init(const TgOptions* options);

/* To be called when the traits of tg_mmus have changed: writes are told apart from now on. */
void tg_segment_miss_renew(void);

/* Simulates a segment that has just been run, with the bases that it left; or notes it, if
   segments are looked up later (engine/batch.h). The check has left the groups' pages as
   far as it found them in tg_segment_page; `differs` says in which bits of the page number
   any of the tags that it looked at differs from what it was looking for: if
   TLB_DATA_UNKNOWN and TLB_CODE_UNKNOWN are all, it found all pages. */
typedef void TgSegmentMiss(const TgShadowArea* shadow, TgSegment* s, UWord differs);

/* For any segment. */
TgSegmentMiss tg_segment_miss_any;

/* For segments with one fetch at most: by their number of groups, and the last for all from
   that number on. */
extern TgSegmentMiss* tg_segment_miss_of[TG_MISS_GROUPS + 1];

/* For segments with more fetches. */
extern TgSegmentMiss* tg_segment_miss_more;

/* Where these numbers are constants: one jump. */
static inline __attribute__((always_inline))
void tg_segment_miss(const TgShadowArea* shadow, TgSegment* s, UWord differs, UInt n_groups,
                     UInt more_fetches)
{
   if (more_fetches > 0)
      tg_segment_miss_more(shadow, s, differs);
   else
      tg_segment_miss_of[n_groups < TG_MISS_GROUPS ? n_groups : TG_MISS_GROUPS](shadow, s,
                                                                               differs);
}

#endif
