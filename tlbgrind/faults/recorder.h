/* Records page faults: passes each first touch of a page to the fault model.

   The model (sim/faults/faultmodel.h) decides whether the touch is a fault, and of which kind. A
   fault is added to the log (faults/log.h) and counted at the line of the instruction. */

#ifndef TG_RECORDER_H
#define TG_RECORDER_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

#include "sim/faults/faultmodel.h"

#include "options/options.h"
#include "attribution/sites.h"

void tg_recorder_init(const TgOptions* options);

/* Records the touch of the byte at `a`, the first of this kind to its page since
   tlb_pages_forget() (sim/mmu/known_hits.h) was called for the page. `line`: where a fault is
   counted, NULL: at the site's. */
void tg_recorder_touch(TgSite* site, TgLine* line, tlb_touch touch, Addr a, ULong instructions);

/* The core's events. To be called after those of native/native.h, which change the model first, and
   of space/forks.h. Without --faults=yes they do nothing. */
void tg_recorder_started(void);
void tg_recorder_pre_syscall(ThreadId tid, UInt number, const UWord* args);
void tg_recorder_kernel_reads(CorePart part, ThreadId tid, Addr a, SizeT len);
void tg_recorder_kernel_wrote(CorePart part, ThreadId tid, Addr a, SizeT len);
void tg_recorder_post_syscall(ThreadId tid, UInt number, SysRes result);

/* Removes all faults so far. The pages that are there stay there. */
void tg_recorder_zero(void);

/* Begins a phase: what follows is listed behind this mark. */
void tg_recorder_mark(const HChar* phase);

/* Writes the log. False: that failed, and a message has been printed. */
Bool tg_recorder_write(Int forked_from, const HChar* name);

#endif
