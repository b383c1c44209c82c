/* The monitor commands: requests from outside the program, by vgdb or gdb. */

#ifndef TG_MONITOR_H
#define TG_MONITOR_H

#include "pub_tool_basics.h"

/* Executes the command and answers. False: it is none of this tool's. */
Bool tg_monitor_take(const HChar* command);

#endif
