/* LRU of many ways, for fast paths that look up the victim by themselves: see policy_lru.c. (Of few
   ways: oldest.h.)

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_POLICY_LRU_H
#define TLB_POLICY_LRU_H

#include "sim/tlb/policy.h"

/* Notes in the set's tree that entry number e was not referenced before `time`. */
void tlb_lru_bound(tlb_array *a, uint32_t set, uint32_t e, uint64_t time);

/* The oldest way of a set of an array with a tree, all of whose entries have short cuts
   to one page each. */
static inline uint32_t tlb_lru_oldest_known(tlb_array *a, uint32_t set)
{
   const tlb_bound *const root = tlb_array_root(a, set);
   for (;;) {
      const uint32_t e = set * a->g.ways + root->way;
      const uint64_t time = tlb_array_attached_time(a, a->short_cut[e]);
      if (time == root->time)
         return root->way;
      tlb_lru_bound(a, set, e, time);
   }
}

#endif
