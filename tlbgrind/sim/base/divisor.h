/* The largest number that divides two others.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_DIVISOR_H
#define TLB_DIVISOR_H

#include <stdint.h>

/* Of 0 and a number it is that number. */
static inline uint64_t tlb_common_divisor(uint64_t a, uint64_t b)
{
   while (b != 0) {
      const uint64_t rest = a % b;
      a = b;
      b = rest;
   }
   return a;
}

#endif
