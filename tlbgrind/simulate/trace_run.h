/* Simulates machines from a trace of another program.

   The files of several threads are read in turn: always that whose last timestamp is the earliest,
   up to its next one, as DynamoRIO's own reader interleaves them.

   Costs are counted by page of code: the page of the instruction that a reference comes from. A
   trace has no names.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_TRACE_RUN_H
#define TG_SIMULATE_TRACE_RUN_H

#include "simulate/replay.h"
#include "simulate/trace.h"

typedef struct {
   TgTraceFound how; /* TG_TRACE_END, TG_TRACE_CUT or TG_TRACE_DAMAGED */
   char why[400];    /* of the latter two */
   char about[800];  /* what there was, and what the trace does not have, in a line */
   uint64_t instructions;
   char *text;       /* as at the end of a recording, to be freed; NULL if it is not whole */
   size_t n_text;
} TgTraceRun;

/* The page size of a trace that tells one, as a logarithm; 0: it does not. What is wrong ends the
   program. */
unsigned tg_trace_page_shift(const char *name, const TgTraceFormat *format);

/* Reads the trace and has it replayed. `v2p` is what `physical` has been read from; NULL: there is
   none. What is wrong with a file ends the program. */
TgTraceRun tg_trace_run(const char *name, const TgTraceFormat *format, TgReplay *replay,
                        unsigned page_shift, const char *v2p, TgPhysical *physical);

#endif
