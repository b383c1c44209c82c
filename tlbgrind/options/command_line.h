/* Reads the command line into TgOptions.

   What there is to take stands in options/option_table.c, what excludes what in
   options/conflicts.c, and what implies what in options/implied.c. */

#ifndef TG_COMMAND_LINE_H
#define TG_COMMAND_LINE_H

#include "pub_tool_basics.h"

#include "options/options.h"

/* To be called before the first argument. */
void tg_options_begin(void);

/* Takes one command-line argument. False: it is no option of this tool. Ends the run if the value
   is invalid. */
Bool tg_options_take(const HChar* arg);

/* Checks the options and makes the machines, after the whole command line has been read. Ends the
   run if options contradict each other. */
const TgOptions* tg_options_finish(void);

#endif
