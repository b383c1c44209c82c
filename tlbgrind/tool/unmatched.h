/* Tells of patterns for objects and functions that nothing matches (--merge-code=,
   --toggle-collect=), before the program has done its work in vain.

   It looks when the program's first instruction is about to be executed: the libraries that it is
   linked with are there, those that it opens itself are not. */

#ifndef TG_UNMATCHED_H
#define TG_UNMATCHED_H

#include "pub_tool_basics.h"

#include "options/options.h"

/* After tg_aspace_init() and tg_merged_code_init(). */
void tg_unmatched_init(const TgOptions* options);

/* The block that begins at `a` is about to be executed for the first time. */
void tg_unmatched_block(Addr a);

#endif
