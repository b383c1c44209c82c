/* Time in core cycles: a counter of ticks, and how many ticks a cycle takes just now.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_MEASURE_CLOCK_H
#define TG_MEASURE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds since some moment. */
double tg_seconds(void);

/* The counter of ticks, read when all that was begun before is done. */
uint64_t tg_ticks(void);

/* How many ticks a core cycle takes now: the least of some short bursts of additions that wait for
   each other, each of which takes a cycle on every core that is known. */
double tg_ticks_per_cycle(void);

/* Keeps this thread on the processor that it is on, or returns false. */
bool tg_stay_here(void);

#endif
