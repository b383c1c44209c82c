/* Prints what happens to the client's mappings, for --trace-aspace=yes. */

#ifndef TG_ASPACE_TRACE_H
#define TG_ASPACE_TRACE_H

#include "pub_tool_basics.h"

/* From now on every event is printed. To be called before other listeners come. */
void tg_aspace_trace_begin(void);

/* Prints the mappings that are left, if events were printed. */
void tg_aspace_trace_end(void);

#endif
