/* Replacement policies: which entry of a full set is evicted.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_POLICY_H
#define TLB_POLICY_H

#include "sim/base/api.h"
#include "sim/tlb/short_cut.h"

TLB_API_BEGIN

/* The way that a full set evicts next. Changes no outcome. */
uint32_t tlb_policy_victim(tlb_array *a, uint32_t set);

/* That way is evicted: moves the state of the policy on (FIFO's pointer, the random
   generator). */
void tlb_policy_evicts(tlb_array *a, uint32_t set);

/* How many leaves the trees of such an array have, by which LRU finds the oldest
   of many ways; 0: it has none. */
uint32_t tlb_policy_leaves(const tlb_geometry *g);

/* Notes in the set's tree that entry number e was not referenced before `time`. */
void tlb_policy_bound(tlb_array *a, uint32_t set, uint32_t e, uint64_t time);

/* The oldest way of a set of an array with a tree, all of whose entries have short cuts
   to one page each. */
static inline uint32_t tlb_policy_oldest_known(tlb_array *a, uint32_t set)
{
   const tlb_bound *const root = tlb_array_root(a, set);
   for (;;) {
      const uint32_t e = set * a->g.ways + root->way;
      const uint64_t time = tlb_array_attached_time(a, a->short_cut[e]);
      if (time == root->time)
         return root->way;
      tlb_policy_bound(a, set, e, time);
   }
}

/* The way of the victim in a set of a PLRU array of so many ways, all of whose entries
   have short cuts to one page each. */
uint32_t tlb_policy_plru_16(const tlb_array *a, uint32_t set);
uint32_t tlb_policy_plru_32(const tlb_array *a, uint32_t set);

/* NRU: entry number e of `set` is referenced now; its time says so already. */
void tlb_policy_use(tlb_array *a, uint32_t set, uint32_t e, uint64_t now);

/* Entry number e has been emptied: its used bit is off. */
void tlb_policy_empties(tlb_array *a, uint32_t set, uint32_t e);

/* Puts the key in the place of an entry of an array that is full and all of which has
   short cuts, with `time` as its own. The caller deals with the short cut of the key
   that was there. It is the key's first reference. */
void tlb_array_replace(tlb_array *a, uint32_t entry, tlb_key key, uint64_t now,
                       uint64_t *time);

/* The caller has done so by hand: written to `key` and `short_cut`, and called
   tlb_policy_bound() where there is a tree. (Nothing is looked up in such an array, so
   its index can wait.) */
static inline void tlb_array_replaced(tlb_array *a)
{
   a->unindexed = 1;
}

/* References a key that belongs to `set` of an array that is full, and all of whose
   entries have short cuts to one time each. The key is not among these. From now on its time
   is *time. Returns the short cut of the entry that is gone. */
uint64_t *tlb_policy_refer_known(tlb_array *a, uint32_t set, tlb_key key, uint64_t now,
                                 uint64_t *time);

enum { TLB_MAX_FEW_WAYS = 8 };

/* By bits, for of a condition the compiler makes a branch. */
static inline uint64_t tlb_chosen(int first, uint64_t a, uint64_t b)
{
   return b ^ ((a ^ b) & -(uint64_t)first);
}

/* Which of so many ways a tree points to, a constant power of two, by the times of their last
   references, without branches. Destroys `latest`. */
static inline __attribute__((always_inline))
uint32_t tlb_policy_tree_of_few(uint64_t *latest, uint32_t ways)
{
   uint64_t victim[TLB_MAX_FEW_WAYS / 2];
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
uint32_t tlb_policy_plru_few(const tlb_array *a, uint32_t set, uint32_t ways, uint32_t second)
{
   uint64_t latest[TLB_MAX_FEW_WAYS];
   #pragma GCC unroll 8
   for (uint32_t way = 0; way < ways; way++) {
      const uint64_t *const time = a->short_cut[set * ways + way];
      latest[way] = time[0] > time[second] ? time[0] : time[second];
   }
   return tlb_policy_tree_of_few(latest, ways);
}

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

TLB_API_END

#endif
