/* The processes of --jobs=, each of which reads the recording,
   and simulates a share of the machines.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_PROCESSES_H
#define TG_SIMULATE_PROCESSES_H

#include "simulate/share.h"

/* Simulates all machines of the shard, with at most --jobs= parts under way; `total` has room for
   each machine of the list. What a process refuses ends the program. */
TgShareResult tg_processes_simulate(const TgSimulation *s, TgTotals *total);

#endif
