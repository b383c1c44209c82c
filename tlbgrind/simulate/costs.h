/* What misses cost, as options say it: --cycles=, --miss-cost= and --nested= of tg_simulate.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_COSTS_H
#define TG_SIMULATE_COSTS_H

#include "simulate/machines.h"
#include "simulate/options.h"

/* Gives the machines what the options say. What is wrong ends the program. */
void tg_simulated_take_costs(TgSimulatedList *list, const TgSimulateOptions *o);

#endif
