/* Instrumentation on or off: whether code that is translated now is simulated.

   Translated code calls the simulator or not: to switch, all code is translated again. The clock
   (trace/segment_run.h) stands still while it is off. */

#ifndef TG_INSTRUMENTATION_H
#define TG_INSTRUMENTATION_H

#include "pub_tool_basics.h"

extern Bool tg_instrumented;

/* Whether it was off at any time, so that the clock has not counted all instructions. */
extern Bool tg_instrumentation_was_off;

/* What is translated already stays as it is: tg_instrumentation_renew(). */
void tg_instrumentation_set(Bool on);

/* Discards all translations, as they hold what has changed. Where the core is not in the middle of
   one: in system calls and client requests. */
void tg_instrumentation_renew(void);

#endif
