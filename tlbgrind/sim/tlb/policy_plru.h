/* Tree PLRU, for fast paths that look up the victim by themselves, and for policies that have such
   trees among others: see policy_plru.c.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_POLICY_PLRU_H
#define TLB_POLICY_PLRU_H

#include "sim/tlb/policy.h"

/* The way of the victim in a set of PLRU of so many ways, all of whose entries have short cuts
   to one page each. */
uint32_t tlb_plru_16(const tlb_array *a, uint32_t set);
uint32_t tlb_plru_32(const tlb_array *a, uint32_t set);

/* By bits, for of a condition the compiler makes a branch. */
static inline uint64_t tlb_chosen(int first, uint64_t a, uint64_t b)
{
   return b ^ ((a ^ b) & -(uint64_t)first);
}

/* So many ways are few. */
enum { TLB_PLRU_FEW_WAYS = 8 };

/* Which of so many ways a tree points to, a constant power of two, by the times of their last
   references, without branches. Destroys `latest`. */
static inline __attribute__((always_inline))
uint32_t tlb_plru_of_few(uint64_t *latest, uint32_t ways)
{
   uint64_t victim[TLB_PLRU_FEW_WAYS / 2];
   #pragma GCC unroll 8
   for (uint32_t i = 0; i < ways / 2; i++) {
      const uint64_t left = latest[2 * i], right = latest[2 * i + 1];
      victim[i] = 2 * i + (left > right);
      latest[i] = left > right ? left : right;
   }
   #pragma GCC unroll 4
   for (uint32_t n = ways / 4; n > 0; n /= 2) {
      #pragma GCC unroll 4
      for (uint32_t i = 0; i < n; i++) {
         const uint64_t left = latest[2 * i], right = latest[2 * i + 1];
         victim[i] = tlb_chosen(left > right, victim[2 * i + 1], victim[2 * i]);
         latest[i] = left > right ? left : right;
      }
   }
   return (uint32_t)victim[0];
}

/* The victim of a set of PLRU of a constant number of ways, few of them, all of which have short
   cuts to one page each. `second`: as in the array; 0 as a constant reads half as much. */
static inline __attribute__((always_inline))
uint32_t tlb_plru_few(const tlb_array *a, uint32_t set, uint32_t ways, uint32_t second)
{
   uint64_t latest[TLB_PLRU_FEW_WAYS];
   #pragma GCC unroll 8
   for (uint32_t way = 0; way < ways; way++) {
      const uint64_t *const time = a->short_cut[set * ways + way];
      latest[way] = time[0] > time[second] ? time[0] : time[second];
   }
   return tlb_plru_of_few(latest, ways);
}

#endif
