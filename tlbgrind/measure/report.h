/* Prints what was found, how sure it is, and what could not be told.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_MEASURE_REPORT_H
#define TG_MEASURE_REPORT_H

#include <stddef.h>

#include "measure/facts.h"
#include "sim/machine/machine.h"

/* All levels, caches and walks, each figure with what it was read from. */
void tg_report_facts(const TgFacts *f);

/* Lines in the words of wrappers around Calibrator; TLB_MISS_LATENCY_CYCLES is what
   `tlbgrind --miss-cost=` takes. Nothing if it is not told. */
void tg_report_words(const TgFacts *f);

/* The facts beside a machine. */
void tg_report_against(const TgFacts *f, const tlb_machine *m);

/* The shipped machines that fit best. */
void tg_report_which(const TgFacts *f);

#endif
