/* FIFO: the entry that was filled first, so the ways of a set in turn. */

#include "sim/tlb/policy.h"

/* The next victim of each set. */
static size_t room(const tlb_geometry *g)
{
   return tlb_geometry_sets(g) * sizeof(uint32_t);
}

static void init(tlb_array *a)
{
   uint32_t *const next = a->state;
   for (uint32_t set = 0; set < a->sets; set++)
      next[set] = 0;
}

static uint32_t victim(tlb_array *a, uint32_t set)
{
   const uint32_t *const next = a->state;
   return next[set];
}

static void evicts(tlb_array *a, uint32_t set)
{
   uint32_t *const next = a->state;
   next[set] = next[set] + 1 == a->g.ways ? 0 : next[set] + 1;
}

const tlb_policy_rules tlb_policy_fifo = {
   .by = TLB_BY_FILLS, .room = room, .init = init, .victim = victim, .evicts = evicts
};
