/* What goes without what: pairs of features that a run can not have together. */

#ifndef TG_CONFLICTS_H
#define TG_CONFLICTS_H

#include "pub_tool_basics.h"

#include "options/options.h"

/* All pairs of features in a run that exclude each other, a line for each. Returns NULL, or the
   argument that gives the first; `text` is to be freed. */
const HChar* tg_conflicts_find(const TgOptions* options, HChar** text);

/* Prints for each pair that excludes each other every two arguments that make it. */
void tg_conflicts_print(void);

#endif
