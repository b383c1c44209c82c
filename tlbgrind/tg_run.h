/* The run as a whole: what the out-file and the summary both report. */

#ifndef TG_RUN_H
#define TG_RUN_H

#include "pub_tool_basics.h"

#include "tg_events.h"
#include "tg_options.h"

typedef struct {
   const TgOptions* options;
   Int forked_from;           /* pid, 0: this is no forked child */
   ULong total[TG_N_COSTS];   /* over all lines */
   ULong straddles[TG_N_KINDS];
   ULong extra[TG_N_COSTS];   /* misses of the second half of a reference whose
                                 first half missed too */
   ULong unperformed[TG_N_KINDS]; /* guarded helpers whose guard said no */
} TgRun;

#endif
