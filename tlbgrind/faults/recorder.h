/* Records page faults: asks the model about each new touch of a page.

   The kind of a fault is decided by the model (sim/faults/faultmodel.h). A fault is added to the
   log (faults/log.h) and counted at the line of the instruction. */

#ifndef TG_RECORDER_H
#define TG_RECORDER_H

#include "pub_tool_basics.h"

#include "sim/faults/faultmodel.h"

#include "options/options.h"
#include "attribution/sites.h"

void tg_recorder_init(const TgOptions* options);

/* The program touches the page that has the byte at `a`, for the first time in
   this way since tlb_pages_forget() (sim/mmu/known_hits.h) was told of it. */
void tg_recorder_touch(TgSite* site, tlb_touch touch, Addr a, ULong instructions);

/* The core's events, after native/native.h has dealt with them. Without --faults=yes they do
   nothing. */
void tg_recorder_started(void);
void tg_recorder_pre_syscall(ThreadId tid, UInt number, const UWord* args);
void tg_recorder_post_syscall(ThreadId tid, UInt number);

/* Writes the log. False: that failed, and a message has been printed. */
Bool tg_recorder_write(Int forked_from, const HChar* name);

#endif
