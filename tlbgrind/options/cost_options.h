/* Options about what misses cost, in cycles and in time. */

#ifndef TG_COST_OPTIONS_H
#define TG_COST_OPTIONS_H

#include "pub_tool_basics.h"

#include "options/machines.h"

/* Gives the machines, which have their names, what the options say. Returns the argument that is
   wrong, with the reason, or NULL. */
const HChar* tg_cost_options_apply(TgMachine* machine, UInt n, tlb_reason* why);

/* Whether any of them was given. */
Bool tg_cost_options_any(void);

#endif
