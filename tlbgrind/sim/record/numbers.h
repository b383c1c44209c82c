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

/* The same, where three bytes more may be written over. Most numbers of a recording have two or
   three bytes, one as often as the other: a loop would be mispredicted. */
static inline uint8_t *tlb_put_number_wide(uint8_t *at, uint64_t n)
{
   if (n >> 28 != 0)
      return tlb_put_number(at, n);
   const unsigned more = (unsigned)(n > 0x7f) + (n > 0x3fff) + (n > 0x1fffff);
   const uint32_t bits = (uint32_t)n;
   const uint32_t bytes = (bits & 0x7f) | (bits & 0x3f80) << 1 | (bits & 0x1fc000) << 2
                          | (bits & 0xfe00000) << 3
                          | (0x80808080u & ((UINT32_C(1) << 8 * more) - 1));
   for (unsigned i = 0; i < 4; i++)
      at[i] = (uint8_t)(bytes >> 8 * i);
   return at + more + 1;
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

/* Eight bytes, the lowest first: written so that compilers make one load of it. */
static inline uint64_t tlb_eight_bytes(const uint8_t *at)
{
   return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24
          | (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48
          | (uint64_t)at[7] << 56;
}

/* So many bytes can be read behind the first of a number that the function below takes. */
enum { TLB_NUMBER_SLACK = 3 };

/* The number at `at`. *bytes: how many it has, or 0 if these are more than 4: then it has to be
   taken with the function above. How long it is, which cannot be foreseen, is no branch. */
static inline uint32_t tlb_number_at(const uint8_t *at, unsigned *bytes)
{
   const uint32_t all = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16
                        | (uint32_t)at[3] << 24;
   const uint32_t last = ~all & UINT32_C(0x80808080);
   if (__builtin_expect(last == 0, 0)) {
      *bytes = 0;
      return 0;
   }
   *bytes = ((unsigned)__builtin_ctz(last) + 1) / 8;
   /* Seven bits of each of its bytes; then two of 14. */
   uint32_t n = all & (last ^ (last - 1)) & UINT32_C(0x7f7f7f7f);
   n = (n & UINT32_C(0x007f007f)) | (n & UINT32_C(0x7f007f00)) >> 1;
   return (n & UINT32_C(0x3fff)) | (n & UINT32_C(0x3fff0000)) >> 2;
}

#endif
