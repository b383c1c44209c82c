/* Random orders in which pages are visited. See measure/order.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdlib.h>

#include "measure/order.h"

#include "sim/base/divisor.h"

/* splitmix64. The same numbers in each run are good enough: no point is measured only once. */
static uint64_t random_state;

static uint64_t random_number(void)
{
   uint64_t z = random_state += 0x9e3779b97f4a7c15u;
   z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
   z = (z ^ z >> 27) * 0x94d049bb133111ebu;
   return z ^ z >> 31;
}

uint64_t tg_random_below(uint64_t below)
{
   return random_number() % below;
}

static void shuffle(uint32_t *order, uint64_t n)
{
   for (uint64_t i = n; i > 1; i--) {
      const uint64_t other = tg_random_below(i);
      const uint32_t last = order[i - 1];
      order[i - 1] = order[other];
      order[other] = last;
   }
}

const uint32_t *tg_random_order_in_windows(uint64_t n, uint64_t window)
{
   static uint32_t *order;
   static uint64_t room;
   if (n > room) {
      uint32_t *const more = realloc(order, n * sizeof *order);
      if (more == NULL)
         return NULL;
      order = more;
      room = n;
   }
   for (uint64_t i = 0; i < n; i++)
      order[i] = (uint32_t)i;
   for (uint64_t from = 0; from < n; from += window)
      shuffle(order + from, n - from < window ? n - from : window);
   return order;
}

const uint32_t *tg_random_order(uint64_t n)
{
   return tg_random_order_in_windows(n, n);
}

/* About the golden section of n. Any other part of it would come back near to where it was after a
   few steps, at a small distance each time, and be taken for some streams by prefetchers. */
uint64_t tg_random_step(uint64_t n)
{
   if (n < 8)
      return 1;
   const uint64_t golden = (uint64_t)((double)n * 0.618033988749895);
   uint64_t step = golden - n / 128 + tg_random_below(n / 64 + 1);
   while (tlb_common_divisor(n, step) != 1)
      step = step + 1 < n ? step + 1 : n / 2;
   return step;
}
