/* LRU of many ways, for fast paths that look up the victim by themselves: see policy_lru.c. (Of few
   ways: oldest.h.)

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_POLICY_LRU_H
#define TLB_POLICY_LRU_H

#include "sim/tlb/policy.h"

/* The tree of a set: number 1 is the root, below number n are 2n and 2n + 1, and the ways are the
   last numbers. */
static inline tlb_bound *tlb_lru_tree(const tlb_array *a, uint32_t set)
{
   return a->tree + (size_t)set * 2 * a->g.ways;
}

/* Of that way. */
static inline tlb_bound tlb_lru_bound_of(const tlb_array *a, uint32_t way, uint64_t time)
{
   return time << a->way_bits | (way & ((1u << a->way_bits) - 1));
}

/* The way whose bound is the root's. */
static inline uint32_t tlb_lru_root_way(const tlb_array *a, const tlb_bound *tree)
{
   uint32_t at = 1;
   if (a->way_bits != 0)
      return (uint32_t)tree[1] & ((1u << a->way_bits) - 1);
   while (at < a->g.ways)
      at = 2 * at + (tree[2 * at] != tree[1]);
   return at - a->g.ways;
}

/* Notes in the set's tree that entry number e was not referenced before `time`. Whichever of two is
   older is a matter of chance, so it is chosen without a branch. */
static inline void tlb_lru_bound(tlb_array *a, uint32_t set, uint32_t e, uint64_t time)
{
   tlb_bound *const tree = tlb_lru_tree(a, set);
   const uint32_t way = e - set * a->g.ways;
   uint32_t at = a->g.ways + way;
   tlb_bound least = tlb_lru_bound_of(a, way, time);
   tree[at] = least;
   while (at > 1) {
      const tlb_bound other = tree[at ^ 1];
      least = other < least ? other : least;
      at /= 2;
      tree[at] = least;
   }
}

/* The oldest way of a set of an array with a tree, all of whose entries have short cuts
   to one page each. */
static inline uint32_t tlb_lru_oldest_known(tlb_array *a, uint32_t set)
{
   const tlb_bound *const tree = tlb_lru_tree(a, set);
   for (;;) {
      const uint32_t way = tlb_lru_root_way(a, tree);
      const uint32_t e = set * a->g.ways + way;
      const uint64_t time = tlb_array_attached_time(a, a->short_cut[e]);
      if (time == tree[1] >> a->way_bits)
         return way;
      tlb_lru_bound(a, set, e, time);
   }
}

#endif
