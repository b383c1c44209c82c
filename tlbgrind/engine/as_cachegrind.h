/* References counted as cachegrind counts them, for --as-cachegrind=yes.

   A reference that crosses a page is at most one miss of each level, and a level is looked up
   for both pages if the level before missed either of them. The run has one machine and no
   fast path. */

#ifndef TG_AS_CACHEGRIND_H
#define TG_AS_CACHEGRIND_H

#include "pub_tool_basics.h"

#include "options/options.h"
#include "trace/shadow_area.h"
#include "trace/superblocks.h"

void tg_as_cachegrind_init(const TgOptions* options);

/* Simulates the first n references of a segment, with the bases that it left; adds those of
   data that cross a page to `straddles`, by kind. */
void tg_as_cachegrind(const TgShadowArea* shadow, TgSegment* s, UInt n, ULong* straddles);

#endif
