/* Reach of a run. See run_reach.h. */

#include "sim/mmu/run_reach.h"

#include "sim/mmu/known_hits.h"
#include "sim/mmu/mmu_memory.h"

static void observe(uint64_t *time, void *opaque)
{
   const tlb_run_reach *const r = opaque;
   tlb_page_observe(r->all, r->table, tlb_page_of_time(time, 0), true, true,
                    TLB_OBSERVER_REACH);
}

void tlb_run_reach_init(tlb_mmus *all)
{
   for (unsigned table = 0; table < TLB_N_TABLES; table++) {
      tlb_run_reach *const r = &all->reach[table];
      *r = (tlb_run_reach){ tlb_mmus_take(all, sizeof *r->of), all, table };
      tlb_reach_init(r->of, all->options.memory, observe, r);
   }
   if (all->traits.split)
      all->reach[TLB_DATA].of->second_time = TLB_SECOND_TIME;
}

void tlb_run_reach_free(tlb_mmus *all)
{
   for (unsigned table = 0; table < TLB_N_TABLES; table++) {
      if (all->reach[table].of != NULL)
         tlb_reach_destroy(all->reach[table].of);
   }
}

void tlb_run_reach_refer(tlb_mmus *all, tlb_side table, tlb_page *p,
                         tlb_page_number number, uint64_t now)
{
   const unsigned shift = all->traits.page_shift - TLB_REACH_PAGE_SHIFT;
   tlb_reach_reference(all->reach[table].of, (uint64_t)number << shift, now,
                       all->fast_path ? &p->time : NULL);
   if (all->fast_path) {
      tlb_rest(p)->observers &= ~TLB_OBSERVER_REACH;
      tlb_rest(p)->write_observers &= ~TLB_OBSERVER_REACH;
   }
}

void tlb_run_reach_zero(tlb_mmus *all)
{
   for (unsigned table = 0; table < TLB_N_TABLES; table++)
      tlb_reach_zero(all->reach[table].of);
}
