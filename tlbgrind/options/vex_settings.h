/* How Vex translates the program: the settings that options need. */

#ifndef TG_VEX_SETTINGS_H
#define TG_VEX_SETTINGS_H

#include "options/options.h"

void tg_vex_settings_make(const TgOptions* o);

#endif
