/* Copies of the program that share the TLBs of a core: --copies=.

   A copy executes the program's segments, too (engine/clones.h), each behind the program's or so
   many references later, in an address space of its own, with page records of its own. So copies
   are looked up as the program is.

   A segment is what is run from one point where code can be left to the next: copies take turns
   there, not behind each reference. */

#ifndef TG_COPY_TURNS_H
#define TG_COPY_TURNS_H

#include "pub_tool_basics.h"

#include "engine/clones.h"
#include "options/options.h"
#include "trace/shadow_area.h"
#include "trace/superblocks.h"

/* Simulates the first n references of a copy's segment, with these bases. */
typedef void TgCopyCheck(const TgShadowArea* shadow, TgSegment* s, UInt n);

/* Once the MMUs are there, and the number of a line's miss counts is known. */
void tg_copies_init(const TgOptions* options, TgCopyCheck* check);

/* Whether there are copies. */
extern Bool tg_copies_on;

/* How far behind the program's the record of a copy's data page is near: tlb_near_spread(), by the
   copy's number. */
extern UWord tg_copies_spread[];

/* The program has made the first n references of the segment, with these bases: so do the copies,
   those that have come to it. */
void tg_copies_follow(const TgShadowArea* shadow, TgSegment* s, UInt n);

/* The program has ended: copies that are behind execute the rest, in turn. */
void tg_copies_end(void);

#endif
