/* Random: a seeded generator, one for all sets of an array. See policy_random.h. */

#include "sim/tlb/policy_random.h"

#include "sim/tlb/policy.h"

static size_t room(const tlb_geometry *g)
{
   (void)g;
   return sizeof(uint64_t);
}

static void init(tlb_array *a)
{
   uint64_t *const state = a->state;
   *state = a->g.seed;
}

static uint32_t victim(tlb_array *a, uint32_t set)
{
   uint64_t state = *(const uint64_t *)a->state;
   (void)set;
   return tlb_random_next(&state, a->g.ways);
}

static void evicts(tlb_array *a, uint32_t set)
{
   (void)set;
   tlb_random_next(a->state, a->g.ways);
}

const tlb_policy_rules tlb_policy_random = {
   .by = TLB_BY_FILLS, .room = room, .init = init, .victim = victim, .evicts = evicts
};
