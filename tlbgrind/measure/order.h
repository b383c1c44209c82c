/* Random orders in which pages are visited.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_MEASURE_ORDER_H
#define TG_MEASURE_ORDER_H

#include <stdint.h>

/* Numbers from 0 to `below` - 1. */
uint64_t tg_random_below(uint64_t below);

/* The numbers 0 to n - 1 in random order, valid until the next call. NULL: no memory. */
const uint32_t *tg_random_order(uint64_t n);

/* The same, but first the numbers below `window`, then as many more, and so on. */
const uint32_t *tg_random_order_in_windows(uint64_t n, uint64_t window);

/* A step s so that x, x + s, x + 2s ... modulo n comes past every number, a different one each
   time, and comes near to none that was visited lately. */
uint64_t tg_random_step(uint64_t n);

#endif
