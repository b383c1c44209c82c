/* The data caches as the system describes them.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_MEASURE_SYSTEM_CACHES_H
#define TG_MEASURE_SYSTEM_CACHES_H

#include "measure/facts.h"

/* Those of the first processor, nearest first, from /sys. Returns how many; 0: it has none. */
unsigned tg_system_caches(TgGivenCache out[TG_MAX_CACHES]);

#endif
