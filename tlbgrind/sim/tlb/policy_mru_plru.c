/* (MRU+1)%3-PLRU4, of 12 ways in three groups of four: the group behind that of the last reference
   to the set, round and round, and in it the choice of a tree (Kaby Lake's second level: TLB;DR,
   USENIX Security 2022). */

#include "sim/tlb/policy_plru.h"

enum { GROUP = 4, N_GROUPS = 3, WAYS = GROUP * N_GROUPS };

/* Both follow from the times, as the tree alone does. */
static uint32_t victim(tlb_array *a, uint32_t set)
{
   uint32_t last = 0;
   uint64_t last_time = 0, latest[GROUP];
   for (uint32_t way = 0; way < WAYS; way++) {
      const uint64_t time = tlb_array_time(a, set * WAYS + way);
      last = time > last_time ? way / GROUP : last;
      last_time = time > last_time ? time : last_time;
   }
   const uint32_t group = (last + 1) % N_GROUPS * GROUP;
   for (uint32_t way = 0; way < GROUP; way++)
      latest[way] = tlb_array_time(a, set * WAYS + group + way);
   return group + tlb_plru_of_few(latest, GROUP);
}

const tlb_policy_rules tlb_policy_mru_plru = { .by = TLB_BY_TIMES, .victim = victim };
