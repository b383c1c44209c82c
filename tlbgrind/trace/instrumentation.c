/* Instrumentation on or off. See trace/instrumentation.h. */

#include "pub_tool_basics.h"

#include "trace/instrumentation.h"

Bool tg_instrumented = True;
