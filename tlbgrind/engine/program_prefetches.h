/* The program's data prefetches: each is simulated at once, and counted at its instruction; a
   recording has all of them. */

#ifndef TG_PROGRAM_PREFETCHES_H
#define TG_PROGRAM_PREFETCHES_H

#include "pub_tool_basics.h"

#include "attribution/sites.h"
#include "options/options.h"

void tg_prefetch_init(const TgOptions* options);

/* Translated code calls it for the prefetch of address `a` by the site's instruction, once the
   segment in which the instruction begins has come to its end. */
void tg_prefetch_refer(TgSite* site, Addr a);

#endif
