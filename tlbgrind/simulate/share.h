/* A share of the machines, simulated by one process.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_SHARE_H
#define TG_SIMULATE_SHARE_H

#include "simulate/simulation.h"

/* How reading the recording or trace ended, the worst last. */
typedef enum { TG_WHOLE, TG_CUT, TG_DAMAGED, TG_NO_PART } TgEnding;

/* What a process has to say, beside the totals of each of its machines. */
typedef struct {
   TgEnding ending;
   uint64_t instructions;
   char why[400];   /* may be empty */
   char about[800]; /* a trace; empty: a recording */
} TgShareResult;

/* Simulates machine number `first`, from 0, and each `step` behind it, and writes their out-files;
   `total` has room for each machine of the list. */
TgShareResult tg_share_simulate(const TgSimulation *s, unsigned first, unsigned step,
                                TgTotals *total);

#endif
