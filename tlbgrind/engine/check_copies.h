/* The check of a segment that copies of the program execute, too: --copies=.

   Where copies take turns, the pages of all of them are looked up together, for mostly all are
   known. If one is not, they are looked up one after the other: what one misses can drive out
   what the next would have hit. */

#ifndef TG_CHECK_COPIES_H
#define TG_CHECK_COPIES_H

#include "pub_tool_basics.h"

#include "engine/look_up.h"
#include "options/options.h"
#include "trace/superblocks.h"

void tg_check_copies_init(const TgOptions* options);

/* The check for a segment of the program on the fast path, of 4K pages, with one fetch at most.
   NULL: there is none that does all at once; the segment is checked by itself, and then
   tg_copies_follow() is called. */
TgCheck* tg_check_copies_for(const TgSegment* s);

#endif
