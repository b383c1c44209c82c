/* Whether the machines of a run have arrays for the pages that rules ask for. */

#ifndef TG_RULE_CHECK_H
#define TG_RULE_CHECK_H

#include "sim/pages/code_blocks.h"

#include "options/options.h"

/* Notes rules without effect among the machines' assumptions. Ends the run if a machine's own rule
   is for pages that the processor has not. */
void tg_rule_check(TgOptions* o);

/* How the run's kernel maps code. */
tlb_code_blocks tg_rule_check_code(const TgOptions* o);

#endif
