/* The machines of a run: those of --machine=, or of --itlb=, --dtlb= and --stlb=, in each variant
   that --advice= and the options with several policies ask for. */

#ifndef TG_RUN_MACHINES_H
#define TG_RUN_MACHINES_H

#include "options/options.h"

/* Makes them; to be called when the base page and the rules for pages are set. Ends the run if they
   can not be made. */
void tg_run_machines_make(TgOptions* o);

/* Gives them what --cores= and --copies= leave of them. Ends the run if that can not be. */
void tg_run_machines_share(TgOptions* o);

/* Without --page-size= the base page is the smallest of the machines' own: all machines can be
   simulated with it. */
void tg_run_machines_take_base_page(TgOptions* o);

/* The size, as its logarithm, of transparent huge pages over the run's base page. */
UInt tg_run_machines_huge_shift(const TgOptions* o);

#endif
