/* A segment of which several data pages are unknown to the one machine of a run: each is simulated
   as a single one is (engine/fast_path.h), as far as none of them drives out another.

   Copies of a program on one core drive each other's pages out all the time, and so make many of
   these. */

#ifndef TG_SEVERAL_MISSES_H
#define TG_SEVERAL_MISSES_H

#include "pub_tool_basics.h"

#include "trace/superblocks.h"

/* For a segment of 4K pages with one fetch at most, whose page is known; the check has found all
   pages, and reads and writes are not told apart. By number of groups, and the last for any.
   Returns False if it is not as simple as that; then the pages that are not known are still to be
   simulated, and times are to be noted. */
Bool tg_several_misses_2(const TgSegment* s);
Bool tg_several_misses_3(const TgSegment* s);
Bool tg_several_misses_4(const TgSegment* s);
Bool tg_several_misses_n(const TgSegment* s);

#endif
