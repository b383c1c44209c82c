/* Data prefetches. See prefetch.h. */

#include "sim/mmu/prefetch.h"

#include "sim/mmu/known_hits.h"
#include "sim/mmu/l1_lookup.h"
#include "sim/mmu/miss_counts.h"
#include "sim/mmu/mmu_memory.h"
#include "sim/mmu/refer.h"

void tlb_prefetch_init(tlb_mmus *all)
{
   if (all->prefetches)
      all->prefetched = tlb_mmus_take_zeroes(all, tlb_mmus_n_counts(all)
                                                     * sizeof *all->prefetched);
}

static uint64_t *costs_of(const tlb_mmu *mmu, uint64_t *counts)
{
   return counts + tlb_mmus_prefetches_at(mmu->all, mmu->number);
}

/* No level has the page. */
static void miss(const tlb_mmu *mmu, uint64_t *cost)
{
   cost[TLB_PREFETCH_MISSES] += mmu->h.entry_level[TLB_LOAD] == 0;
   cost[TLB_PREFETCHES_DROPPED] += mmu->prefetch == TLB_PREFETCH_WEAK;
}

/* A walk that finds no page leaves nothing, in caches of walks neither. */
static void walk_in_vain(const tlb_mmu *mmu, uint64_t *cost)
{
   miss(mmu, cost);
   cost[TLB_PREFETCH_WALKS] += mmu->prefetch == TLB_PREFETCH_STRONG;
   cost[TLB_PREFETCH_WALKS_IN_VAIN] += mmu->prefetch == TLB_PREFETCH_STRONG;
}

static bool is_dropped(tlb_mmu *mmu, const tlb_page *p, tlb_page_number number)
{
   tlb_reference r;
   if (mmu->prefetch != TLB_PREFETCH_WEAK)
      return false;
   tlb_l1_ask(mmu, p, number, TLB_LOAD, &r);
   return !tlb_hierarchy_has(&mmu->h, &r);
}

/* Those of the MMUs that do with a page that is there what a load would do. */
static uint64_t accept(tlb_mmus *all, uint64_t *counts, const tlb_page *p, tlb_page_number number,
                       uint64_t mmus)
{
   uint64_t accepting = 0;
   for (; mmus != 0; mmus &= mmus - 1) {
      tlb_mmu *const mmu = &all->mmu[__builtin_ctzll(mmus)];
      if (mmu->prefetch == TLB_PREFETCH_IGNORE)
         continue;
      if (is_dropped(mmu, p, number))
         miss(mmu, costs_of(mmu, counts));
      else
         accepting |= mmu->bit;
   }
   return accepting;
}

/* Whether an MMU that does not observe the page heeds prefetches. */
static bool hits_somewhere(const tlb_mmus *all, uint64_t observers)
{
   for (unsigned i = 0; i < all->n_mmus; i++) {
      if ((observers & all->mmu[i].bit) == 0 && all->mmu[i].prefetch != TLB_PREFETCH_IGNORE)
         return true;
   }
   return false;
}

/* What these MMUs have missed; nothing is shared, so each has counted for itself. */
static void book(tlb_mmus *all, uint64_t *counts, uint64_t mmus)
{
   for (; mmus != 0; mmus &= mmus - 1) {
      const tlb_mmu *const mmu = &all->mmu[__builtin_ctzll(mmus)];
      uint64_t *const of_load = all->prefetched + mmu->number * TLB_N_COSTS;
      uint64_t *const cost = costs_of(mmu, counts);
      cost[TLB_PREFETCH_MISSES] += of_load[TLB_COST_MISS_1];
      cost[TLB_PREFETCH_WALKS] += of_load[TLB_COST_WALKS];
      for (unsigned i = 0; i < TLB_N_COSTS; i++)
         of_load[i] = 0;
   }
}

/* The page is used, whatever machines make of it: where none has it, no machine reads its time. */
static void note_time(const tlb_mmus *all, tlb_page *p, uint64_t now)
{
   tlb_probe(p, all->traits.split ? tlb_probe_at(TLB_LOAD) : 0)->time = now;
}

/* Others simulate it; but what backs the page is asked here, too. */
static void ask(tlb_mmus *all, tlb_page_number number, uint64_t now)
{
   tlb_page *const p = tlb_page_of(all, TLB_DATA, number);
   tlb_reference unused;
   note_time(all, p, now);
   for (const tlb_mmu *mmu = all->mmu; mmu < all->mmu + all->n_mmus; mmu++) {
      if (mmu->asks && mmu->prefetch != TLB_PREFETCH_IGNORE)
         tlb_l1_ask(mmu, p, number, TLB_LOAD, &unused);
   }
}

void tlb_mmus_prefetch_page(tlb_mmus *all, uint64_t *counts, uint64_t page, uint64_t now,
                            bool present)
{
   const tlb_page_number number = (tlb_page_number)page;
   all->now = now;
   if (all->options.idle) {
      if (present)
         ask(all, number, now);
      return;
   }
   for (unsigned i = 0; i < all->n_mmus; i++) {
      const tlb_mmu *const mmu = &all->mmu[i];
      if (mmu->prefetch == TLB_PREFETCH_IGNORE)
         continue;
      costs_of(mmu, counts)[TLB_PREFETCHES]++;
      if (!present)
         walk_in_vain(mmu, costs_of(mmu, counts));
   }
   if (!present || !all->prefetches)
      return;
   tlb_page *const p = tlb_page_of(all, TLB_DATA, number);
   const uint64_t observers = *tlb_observers_of(p, TLB_LOAD, all->traits.split);
   /* A recording's bit is that of a machine that there is not beside it. */
   const uint64_t accepting = accept(all, counts, p, number,
                                     observers & TLB_OBSERVERS_MMUS & ~TLB_OBSERVER_RECORDING);
   if (accepting == 0 && !hits_somewhere(all, observers)) {
      note_time(all, p, now);
      return;
   }
   tlb_missed_begin(all, 0, TLB_LOAD);
   tlb_refer_mmus(all, all->prefetched, p, number, TLB_LOAD, now, accepting);
   book(all, counts, accepting);
}
