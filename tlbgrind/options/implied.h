/* Options that are implied: an option that is of no use without a feature turns it on. */

#ifndef TG_IMPLIED_H
#define TG_IMPLIED_H

#include "options/options.h"

/* Turns on what the arguments imply. Ends the run if the feature's own switch is off: that
   contradicts them. */
void tg_implied_turn_on(TgOptions* o);

/* Prints for each switch every argument that implies it. */
void tg_implied_print(void);

#endif
