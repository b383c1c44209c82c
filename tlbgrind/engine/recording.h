/* The recording of a run, from which other machines can be simulated later: --record=FILE. With
   --jobs=, processes simulate from it while the program runs (engine/jobs.h).

   References that hit in small arrays, the filters, are left out (sim/record/strength.h). A page
   that is in all filters of its references is not observed by the recording, so that known hits
   cost nothing. The other references are recorded in their order, with their lines; and before
   each of them, in which order the pages were used last that it could drive out, as far as the
   recording does not tell that already.

   A recording with large pages has all changes of the page map, too, in their place. References to
   pages around a change are recorded anew. */

#ifndef TG_RECORDING_H
#define TG_RECORDING_H

#include "pub_tool_basics.h"

#include "sim/record/stream.h"

#include "calls/call_stack.h"
#include "options/options.h"
#include "trace/run_mmus.h"
#include "trace/superblocks.h"

/* Which part of a reference it is. */
typedef enum { TG_RECORDED_WHOLE, TG_RECORDED_FIRST, TG_RECORDED_SECOND } TgRecordedPart;

/* Whether the run is recorded, and has not stopped being so. */
extern Bool tg_recording_on;

/* Opens the file, and begins with a run whose MMUs have been made. Ends the run if that can not
   be. */
void tg_recording_begin(const TgOptions* options);

/* Reference r to page p, whose number is `number`, before the MMUs see it. */
void tg_recording_refer(TgRef* r, tlb_page* p, tlb_page_number number, ULong now,
                        TgRecordedPart part);

/* A prefetch by an instruction of the line, before the MMUs see it; `present`: the page tables map
   the page. */
void tg_recording_prefetch(TgLine* line, tlb_page_number number, ULong now, Bool present);

/* A TgStackMove. */
void tg_recording_move(tlb_move move, UInt n, TgArc* arc);

/* All counts are set to zero. */
void tg_recording_zero(void);

/* What comes is a phase's or a thread's of that label: TLB_MARK_PHASE, TLB_MARK_THREAD. */
void tg_recording_part(tlb_mark mark, const HChar* label);

/* With --jobs=: stores in the lines what has been missed by now. */
void tg_recording_settle(void);

/* The program first asks for huge pages: from now on what backs each page matters to all machines.
   The map has been told of the change. Does nothing if nothing is recorded. */
void tg_recording_asks(void);

/* Nothing is recorded any more: the file is closed, and tells that it was cut short, and why. Says
   so. Does nothing if nothing is recorded. */
void tg_recording_stop(const HChar* why);

/* In a forked child: it has a recording of its own, where the name has %p; else there is only the
   parent's, which the first child says. */
void tg_recording_forked(void);

/* In the parent of a forked child. */
void tg_recording_has_forked(void);

/* Closes the file. NULL: it is complete; else the reason. */
const HChar* tg_recording_end(void);

#endif
