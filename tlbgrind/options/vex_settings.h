/* How Vex translates the program: the settings that options need. */

#ifndef TG_VEX_SETTINGS_H
#define TG_VEX_SETTINGS_H

#include "options/options.h"

/* Sets Vex's settings to cachegrind's. They determine which instructions of merged blocks and which
   dead loads are counted. */
void tg_vex_settings_as_cachegrind(void);

/* A prefetch's operands are read from the guest's registers, of which no update may be left out
   then. */
void tg_vex_settings_for_prefetches(const TgOptions* o);

#endif
