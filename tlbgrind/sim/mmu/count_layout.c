/* Where counts stand among those of a place, and what they say. See mmu.h.

   First what machines have cost, then the miss groups that several share, then flushes, then
   prefetches, each of the latter two only if some machine has them. */

#include "sim/mmu/mmu.h"

#include "sim/mmu/l2_presence.h"
#include "sim/mmu/mmu_data.h"

size_t tlb_mmus_flushes_at(const tlb_mmus *all, unsigned machine)
{
   return tlb_miss_groups_at(all) + all->l2.n_miss_groups + all->n_mmus
          + machine * TLB_N_FLUSH_COSTS;
}

size_t tlb_mmus_prefetches_at(const tlb_mmus *all, unsigned machine)
{
   return tlb_mmus_flushes_at(all, all->flushes ? all->n_mmus : 0)
          + machine * TLB_N_PREFETCH_COSTS;
}

size_t tlb_mmus_n_counts(const tlb_mmus *all)
{
   return tlb_mmus_prefetches_at(all, all->prefetches ? all->n_mmus : 0);
}

void tlb_mmus_flushes(const tlb_mmus *all, unsigned machine, uint64_t cost[TLB_N_FLUSH_COSTS])
{
   for (unsigned i = 0; i < TLB_N_FLUSH_COSTS; i++)
      cost[i] = all->flushes ? all->counts[TLB_LOAD][tlb_mmus_flushes_at(all, machine) + i] : 0;
}

void tlb_mmus_prefetches(const tlb_mmus *all, unsigned machine,
                         uint64_t cost[TLB_N_PREFETCH_COSTS])
{
   for (unsigned i = 0; i < TLB_N_PREFETCH_COSTS; i++)
      cost[i] = all->prefetches
                   ? all->counts[TLB_LOAD][tlb_mmus_prefetches_at(all, machine) + i] : 0;
}

void tlb_mmus_settle(const tlb_mmus *all, tlb_user user, uint64_t *counts)
{
   tlb_l2_settle(all, tlb_side_of_user(user), counts);
}

size_t tlb_mmus_cost_of(const tlb_mmus *all, unsigned machine)
{
   return all->mmu[machine].counts * TLB_N_COSTS;
}

void tlb_mmus_counts(tlb_mmus *all, unsigned machine, tlb_user user,
                     uint64_t cost[TLB_N_COSTS])
{
   const uint64_t *const counted = all->counts[user] + tlb_mmus_cost_of(all, machine);
   tlb_mmus_settle(all, user, all->counts[user]);
   for (unsigned i = 0; i < TLB_N_COSTS; i++)
      cost[i] = counted[i];
}
