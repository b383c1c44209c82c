/* Phases: the costs of a run between the marks that the program sets.

   Phases of one name add up. */

#ifndef TG_PHASES_H
#define TG_PHASES_H

#include "pub_tool_basics.h"

#include "output/results.h"

/* Ends the phase at hand and begins another. All counts have been settled. The first call ends the
   phase `start`. */
void tg_phases_begin(const TgResults* results, const HChar* name);

#endif
