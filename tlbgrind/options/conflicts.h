/* What goes without what: pairs of features that a run can not have together. */

#ifndef TG_CONFLICTS_H
#define TG_CONFLICTS_H

#include "pub_tool_basics.h"

#include "options/options.h"

/* Ends the run, with all pairs that exclude each other, a line for each, if there are any. */
void tg_conflicts_check(const TgOptions* options);

/* Prints for each pair that excludes each other every two arguments that make it. */
void tg_conflicts_print(void);

#endif
