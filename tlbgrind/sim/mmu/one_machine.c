/* A miss of a run's one machine. See one_machine.h. */

#include "sim/mmu/one_machine.h"

#include "sim/mmu/known_hits.h"
#include "sim/mmu/l1_misses.h"
#include "sim/mmu/miss_counts.h"
#include "sim/mmu/traits.h"
#include "sim/tlb/policy.h"

/* The second level, if it is the last, the only one there, and a hit in it only sets the time of
   the entry: not one that has to see hits, nor one of pairs. */
static tlb_array *simple_second(tlb_mmu *mmu, tlb_user user)
{
   const unsigned shift = mmu->h.base_shift;
   const tlb_stop *const stop = &tlb_route_of(&mmu->h, user, shift, shift)->at[1];
   if (mmu->h.levels != 2 || mmu->h.entry_level[user] != 0 || stop->n != 1
       || stop->shift[0] != shift)
      return NULL;
   tlb_array *const a = &mmu->h.array[stop->array[0]];
   return a->policy->by != TLB_BY_HITS && a->halves == NULL && !a->also_behind ? a : NULL;
}

static void find(tlb_mmus *all, tlb_user user)
{
   tlb_mmu *const mmu = &all->mmu[0];
   tlb_array *const a = tlb_base_array(mmu, user) == NULL ? NULL : simple_second(mmu, user);
   if (a == NULL || (all->l1.group[0].mmus[user] & 1) == 0)
      return;
   const tlb_stop *const stop
      = &tlb_route_of(&mmu->h, user, mmu->h.base_shift, mmu->h.base_shift)->at[1];
   all->second[user] = (tlb_second){
      .array = a, .hit_cycles = tlb_known_cycles(mmu->machine->array[stop->array[0]].hit_cycles) };
}

void tlb_one_machine_find(tlb_mmus *all)
{
   for (unsigned user = 0; user < TLB_N_USERS; user++) {
      all->second[user].array = NULL;
      if (all->fast_path && all->n_mmus == 1 && !all->mmu[0].alone
          && !tlb_has_also_behind(&all->mmu[0]))
         find(all, user);
   }
   /* A data page notes one place. */
   if (all->second[TLB_LOAD].array != all->second[TLB_STORE].array)
      all->second[TLB_LOAD].array = all->second[TLB_STORE].array = NULL;
}

/* Where the page was last, the second level does not have it. */
static __attribute__((noinline))
void look_up(tlb_mmus *all, uint64_t *cost, const tlb_second *s, tlb_page *p, tlb_key key,
             const tlb_reference *ref)
{
   tlb_hierarchy *const h = &all->mmu[0].h;
   uint32_t entry = tlb_array_lookup(s->array, key, ref->now);
   if (entry != TLB_MISS) {
      cost[TLB_COST_CYCLES] += s->hit_cycles;
   } else {
      tlb_outcome o = { .missed = 1u << 1 };
      tlb_hierarchy_walk(h, ref, &o);
      entry = tlb_array_fill(s->array, key, ref->now);
      tlb_book_misses(cost, &o);
   }
   tlb_rest(p)->place = entry;
}

bool tlb_one_machine_refer(tlb_mmus *all, uint64_t *counts, tlb_page *p, tlb_page_number number,
                           tlb_user user, uint64_t now)
{
   const tlb_second *const s = &all->second[user];
   const bool split = all->traits.split;
   if (s->array == NULL || *tlb_observers_of(p, user, split) != 1 || all->parts.in_parts != 0
       || !tlb_l1_one_miss(all, p, number, user, now))
      return false;
   tlb_probe(p, split ? tlb_probe_at(user) : 0)->time = now;
   tlb_page_settle(all, tlb_side_of_user(user), p);
   const uint8_t shift = (uint8_t)all->traits.page_shift;
   const tlb_key key = tlb_key_of(number, shift, 0);
   const uint32_t place = tlb_rest(p)->place;
   counts[TLB_COST_MISS_1]++;
   if (TLB_LIKELY(s->array->key[place] == key)) {
      s->array->time[place] = now;
      counts[TLB_COST_CYCLES] += s->hit_cycles;
   } else {
      const tlb_reference ref = { .page = number, .now = now, .user = (uint8_t)user,
                                  .page_shift = shift, .block_shift = shift };
      look_up(all, counts, s, p, key, &ref);
   }
   return true;
}
