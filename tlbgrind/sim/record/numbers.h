/* Numbers in a recording's bytes.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_NUMBERS_H
#define TLB_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* Seven bits a byte, the lowest first; all but the last byte have the eighth. */
static inline uint8_t *tlb_put_number(uint8_t *at, uint64_t n)
{
   for (; n > 0x7f; n >>= 7)
      *at++ = (uint8_t)(n | 0x80);
   *at++ = (uint8_t)n;
   return at;
}

/* Reads one and moves *at behind it; false: there is none before `end`. */
static inline bool tlb_take_number(const uint8_t **at, const uint8_t *end, uint64_t *n)
{
   *n = 0;
   for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
      const uint8_t byte = *(*at)++;
      if (shift == 63 && byte > 1)
         return false;
      *n |= (uint64_t)(byte & 0x7f) << shift;
      if (byte < 0x80)
         return true;
   }
   return false;
}

#endif
