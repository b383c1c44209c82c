/* Prints every change of the client's mappings, for --trace-aspace=yes. */

#ifndef TG_ASPACE_TRACE_H
#define TG_ASPACE_TRACE_H

#include "pub_tool_basics.h"

/* Begins to print events. To be called before other listeners are added. */
void tg_aspace_trace_begin(void);

/* Prints the remaining mappings, after tg_aspace_trace_begin(); else nothing. */
void tg_aspace_trace_end(void);

#endif
