/* The oldest of a set: which way was referenced longest ago, where each way's time stands
   at a short cut of its own (array.h).

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_OLDEST_H
#define TLB_OLDEST_H

#include <stddef.h>

#include "sim/tlb/times2.h"

/* Of any number of ways. `second`: where each one's other time stands, of which the later
   counts, see tlb_array; 0: there is none. All ways are gone through in one way, without
   branches. */
static inline uint32_t tlb_oldest_attached(uint64_t *const *time, size_t second,
                                           uint32_t ways)
{
   uint32_t oldest = 0;
   uint64_t oldest_time = UINT64_MAX;
   for (uint32_t way = 0; way < ways; way++) {
      const uint64_t one = time[way][0], other = time[way][second];
      const uint64_t t = one > other ? one : other;
      oldest = t < oldest_time ? way : oldest;
      oldest_time = t < oldest_time ? t : oldest_time;
   }
   return oldest;
}

/* The times of a way and the next, each with the number of its way in one number, so that
   the earliest is found without noting whose it is. (With doubles that leaves room for times
   up to 2^60.) */
static inline tlb_times2 tlb_timed2(uint64_t *const *time, size_t second, uint32_t way)
{
   const uint64_t *const a = time[way], *const b = time[way + 1];
   const tlb_times2 t = tlb_later2(tlb_times2_at(a, b),
                                   tlb_times2_at(a + second, b + second));
   return (tlb_times2)((tlb_numbers2)t << 3 | (tlb_numbers2){ way, way + 1 });
}

/* The earliest of up to 8 ways, an even constant, with the number of its way in the lowest
   three bits. */
static inline __attribute__((always_inline))
uint64_t tlb_earliest(uint64_t *const *time, size_t second, uint32_t ways)
{
   tlb_times2 found = tlb_timed2(time, second, 0);
   #pragma GCC unroll 4
   for (uint32_t way = 2; way < ways; way += 2)
      found = tlb_earlier2(tlb_timed2(time, second, way), found);
   return (uint64_t)((tlb_numbers2)tlb_earlier2(found, tlb_swapped2(found)))[0];
}

/* tlb_oldest_attached() for 4, 6, 8 or 16 ways, a constant. */
static inline __attribute__((always_inline))
uint32_t tlb_oldest_way(uint64_t *const *time, size_t second, uint32_t ways)
{
   if (ways <= 8)
      return (uint32_t)(tlb_earliest(time, second, ways) & 7);
   const uint64_t a = tlb_earliest(time, second, 8);
   const uint64_t b = tlb_earliest(time + 8, second, 8);
   /* The number of the way decides only between equal times. */
   return a < b ? (uint32_t)(a & 7) : 8 + (uint32_t)(b & 7);
}

/* A way with its time, which stands in one place, in one number: as tlb_timed2(). */
static inline uint64_t tlb_timed(uint64_t *const *time, uint32_t way)
{
   return *time[way] << 3 | way;
}

static inline uint64_t tlb_earlier(uint64_t a, uint64_t b)
{
   return a < b ? a : b;
}

static inline uint64_t tlb_earliest_of_4(uint64_t *const *time, uint32_t way)
{
   return tlb_earlier(tlb_earlier(tlb_timed(time, way), tlb_timed(time, way + 1)),
                      tlb_earlier(tlb_timed(time, way + 2), tlb_timed(time, way + 3)));
}

/* Of any number of ways, each of which has one time. Most first levels have four or eight. */
static inline __attribute__((always_inline))
uint32_t tlb_oldest_of_one_time(uint64_t *const *time, uint32_t ways)
{
   if (__builtin_expect(ways == 4, 1))
      return (uint32_t)(tlb_earliest_of_4(time, 0) & 7);
   if (__builtin_expect(ways == 8, 1))
      return (uint32_t)(tlb_earlier(tlb_earliest_of_4(time, 0), tlb_earliest_of_4(time, 4)) & 7);
   return tlb_oldest_attached(time, 0, ways);
}

#endif
