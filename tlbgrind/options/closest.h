/* Finds the option that a mistyped one is close to.

   The core refuses an option that neither it nor the tool takes, without a word on what would be
   right. A new option gets its name in the list of options/closest.c. */

#ifndef TG_CLOSEST_H
#define TG_CLOSEST_H

#include "pub_tool_basics.h"

/* The name of the tool's option that `arg` resembles, with its dashes; NULL: of none. */
const HChar* tg_closest_option(const HChar* arg);

#endif
