/* Whether the machines of a run have arrays for the pages that rules ask for. */

#ifndef TG_RULE_CHECK_H
#define TG_RULE_CHECK_H

#include "options/options.h"

/* Notes rules without effect among the machines' assumptions. Ends the run if a machine's own rule
   is for pages that the processor has not. */
void tg_rule_check(TgOptions* o);

#endif
