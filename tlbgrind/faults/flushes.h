/* Flushes of the TLBs, at the calls and page faults for which Linux flushes them.

   munmap(), mremap(), mprotect(), madvise(), a smaller break, fork() and copies on write change
   page-table entries that are present; which these are is taken from the fault model's warm view
   (sim/faults/faultmodel.h). A machine's policy decides how they are flushed (sim/mmu/flush.h). The
   costs are those of the call that leads to the system call, or of the instruction that faults. */

#ifndef TG_FLUSHES_H
#define TG_FLUSHES_H

#include "pub_tool_basics.h"

#include "attribution/lines.h"
#include "attribution/sites.h"

/* To be called before native/native.h's: its listener changes the fault model, and this one has to
   see it as it was. */
void tg_flushes_init(UInt page_shift);

/* Called at each flush, before it, with what tlb_mmus_flush() gets; `line`: NULL if it is counted
   nowhere. */
typedef void TgFlushPoint(TgLine* line, Addr start, Addr end, ULong bytes);
void tg_flushes_tell(TgFlushPoint* f);

/* The page at `a` has been copied on write by the instruction, or, if that is NULL, by none.
   `breaks`: the huge page around it became small ones for that. */
void tg_flushes_copied(TgSite* site, Addr a, Bool breaks);

#endif
