/* All outputs of a run: written at its end, before an exec, and in parts on request.

   The counts are settled, added up, and written by the folders output, faults and order. */

#ifndef TG_OUTPUTS_H
#define TG_OUTPUTS_H

#include "pub_tool_basics.h"

#include "output/results.h"
#include "tool/exec_calls.h"

void tg_outputs_init(const TgOptions* options);

TgResults* tg_outputs_results(void);

/* Writes all outputs, with their summaries. The summary of page faults is last on stderr. */
void tg_outputs_at_end(void);

/* Writes what has to be written before the process becomes another program; returns the number of
   instructions so far. */
ULong tg_outputs_at_exec(TgExec how);

/* The exec has failed, and the program goes on. */
void tg_outputs_exec_failed(void);

/* A forked child's costs begin at zero: those before the fork are in the parent's output. The
   simulated TLBs keep their entries, because the child continues where the parent was. */
void tg_outputs_forked(Int parent);

/* --- Parts of a run. To be called between two references. --- */

/* Sets all counts to zero, and removes all faults of the log. */
void tg_outputs_zero(void);

/* Writes all outputs but the code entries to numbered files, and sets their counts to zero.
   `trigger`: its cause, for the out-file. Calls `each`, if not NULL, with the name of each file. */
void tg_outputs_dump(const HChar* trigger, void (*each)(const HChar* name));

/* Begins a phase (output/phases.h). */
void tg_outputs_mark(const HChar* phase);

/* With --separate-threads=yes: from now on the thread's costs. */
void tg_outputs_thread(ThreadId tid);

/* The results up to now. */
const TgResults* tg_outputs_so_far(void);

#endif
