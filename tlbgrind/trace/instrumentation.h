/* Instrumentation on or off: whether code that is translated now is simulated.

   Translated code calls the simulator or not: to switch, all translations are discarded
   (tool/region.c). The clock (trace/segment_run.h) stands still while it is off. */

#ifndef TG_INSTRUMENTATION_H
#define TG_INSTRUMENTATION_H

#include "pub_tool_basics.h"

extern Bool tg_instrumented;

#endif
