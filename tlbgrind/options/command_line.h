/* Parses the command line into TgOptions, and makes the machines.

   A new option gets a member of TgOptions, its parsing in tg_options_take(), its check in
   tg_options_finish(), all in options/command_line.c, and a line in options/usage.c. What it
   excludes stands in options/conflicts.c. Options about page sizes, page faults, the kernel, arrays
   and out-files are in files of their own in this folder. */

#ifndef TG_COMMAND_LINE_H
#define TG_COMMAND_LINE_H

#include "pub_tool_basics.h"

#include "options/options.h"

/* Parses or stores one command-line argument. False: it is no option of this tool. Ends the run if
   the value is invalid. */
Bool tg_options_take(const HChar* arg);

void tg_options_print_usage(void);
void tg_options_print_debug_usage(void);

/* Checks the options and makes the machines, after the whole command line has been read. Ends the
   run if options contradict each other. */
const TgOptions* tg_options_finish(void);

#endif
