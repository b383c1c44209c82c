/* Probes: the code that is put into translated code.

   At the end of each segment its references are all looked up at once in what
   is known (tg_translate.h). If all of their pages are known, nothing that the
   simulator keeps has changed but the times of the pages, which the code
   writes itself. If one is not, tg_replay() simulates all of the segment's
   references in order. Nothing changes what is known between the first
   reference of a segment and its end, so the one answer is as exact as the
   other; and the price is a few instructions for each group of references and
   one branch for the segment, not a call for each reference.

   A group is compared by the page of its last byte in the slot of its first,
   so references that cross a page never match. */

#ifndef TG_PROBE_H
#define TG_PROBE_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

#include "tg_blocks.h"

void tg_probe_init(UInt page_shift, Bool fast_path);

/* Starts a block: the following functions add to `out`. */
void tg_probe_begin(IRSB* out, const VexGuestLayout* layout);

/* A segment begins. */
void tg_probe_enter(const TgSegment* s);

/* The segment's base of that number is the value of `atom`. */
void tg_probe_set_base(UInt number, IRExpr* atom);

/* The segment, which has just been entered, ends. */
void tg_probe_check(const TgSegment* s);

/* The segment, which has just been entered, is a guarded reference. */
void tg_probe_guarded(const TgSegment* s, IRExpr* guard);

/* The block may be left for an address inside of itself, or unknown: says that
   no segment is being run, lest a signal that finds the thread there is taken
   for a fault. */
void tg_probe_leave(void);

#endif
