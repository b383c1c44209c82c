/* The options that print a list and end, without a program. */

#ifndef TG_LISTS_H
#define TG_LISTS_H

#include "pub_tool_basics.h"

#include "options/options.h"

/* Each takes its option; see TgOption, options/option_table.h. */
void tg_lists_take_machines(const HChar* arg, const HChar* pattern, TgOptions* o);
void tg_lists_take_conflicts(const HChar* arg, const HChar* value, TgOptions* o);
void tg_lists_take_implied(const HChar* arg, const HChar* value, TgOptions* o);

#endif
