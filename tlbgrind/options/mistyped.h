/* Refuses an argument that resembles one of the tool's options.

   The core refuses an option that neither it nor the tool takes, without a word on what would be
   right. */

#ifndef TG_MISTYPED_H
#define TG_MISTYPED_H

#include "pub_tool_basics.h"

/* Ends the run if the argument, which the tool does not take, resembles an option. */
void tg_mistyped_refuse(const HChar* arg);

#endif
