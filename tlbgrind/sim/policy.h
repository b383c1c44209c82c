/* Who is evicted: the replacement policies.
   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_POLICY_H
#define TLB_POLICY_H

#include "array.h"

/* The way that a full set gives up next; asking changes nothing that matters. */
uint32_t tlb_policy_victim(tlb_array *a, uint32_t set);

/* The set gives that way up: changes the state that a choice changes (FIFO's
   pointer, the generator). */
void tlb_policy_evicts(tlb_array *a, uint32_t set);

/* How many leaves the trees of such an array have, by which LRU finds the oldest
   of many ways; 0: it has none. */
uint32_t tlb_policy_leaves(const tlb_geometry *g);

/* Notes in the set's tree that entry number e was not referenced before `time`. */
void tlb_policy_bound(tlb_array *a, uint32_t set, uint32_t e, uint64_t time);

/* The oldest entry of an array with a tree and one set, all of whose entries have
   short cuts to one page each. */
static inline uint32_t tlb_policy_oldest_known(tlb_array *a)
{
   const tlb_bound *const root = tlb_array_root(a, 0);
   for (;;) {
      const uint64_t time = tlb_array_attached_time(a, a->short_cut[root->way]);
      if (time == root->time)
         return root->way;
      tlb_policy_bound(a, 0, root->way, time);
   }
}

/* The way of the victim in a set of a PLRU array of so many ways, all of whose entries
   have short cuts to one page each. */
uint32_t tlb_policy_plru_16(const tlb_array *a, uint32_t set);
uint32_t tlb_policy_plru_32(const tlb_array *a, uint32_t set);

/* NRU: entry number e of `set` is referenced now. */
void tlb_policy_use(tlb_array *a, uint32_t set, uint32_t e, uint64_t now);

/* NRU: all used bits are off, of sets that hold nothing. */
void tlb_policy_clear_all(tlb_array *a);

/* NRU, of two ways or more: the first way of the set whose used bit is off. */
uint32_t tlb_policy_first_unused(tlb_array *a, uint32_t set);

/* NRU: whether the used bit of entry number e of `set` is on. */
int tlb_policy_is_used(tlb_array *a, uint32_t set, uint32_t e);

/* Notes that entry number e of `set` is referenced (hit or fill) now. */
static inline void tlb_policy_touch(tlb_array *a, uint32_t set, uint32_t e,
                                    uint64_t now)
{
   uint64_t *const time = a->short_cut == NULL ? NULL : a->short_cut[e];
   if (time != NULL && time != &tlb_range && !a->also_behind)
      *time = now;
   else
      a->time[e] = now;
   if (a->g.policy == TLB_NRU)
      tlb_policy_use(a, set, e, now);
}

/* The generator behind TLB_RANDOM, a linear congruential one with Knuth's
   MMIX constants: the state moves on, the upper 31 bits modulo `ways` are the
   way. Written down so that other programs can repeat the choice. */
static inline uint32_t tlb_random_next(uint64_t *state, uint32_t ways)
{
   *state = *state * UINT64_C(6364136223846793005)
            + UINT64_C(1442695040888963407);
   return (uint32_t)(*state >> 33) % ways;
}

#endif
