/* Misses that are looked up later. See late_misses.h. */

#include "sim/mmu/late_misses.h"

#include "sim/mmu/miss_counts_parts.h"
#include "sim/mmu/mmu_memory.h"
#include "sim/mmu/traits.h"

/* How far ahead the memory of walks is requested. */
enum { AHEAD = 4 };

static bool is_for(const tlb_mmu *mmu)
{
   return !mmu->alone && !tlb_has_also_behind(mmu) && tlb_walk_array(mmu->machine) < 0;
}

void tlb_late_begin(tlb_mmus *all)
{
   if (!all->fast_path || all->apart || all->n_mmus == 1)
      return;
   for (tlb_mmu *mmu = all->mmu; mmu < all->mmu + all->n_mmus; mmu++) {
      all->late.mmus |= is_for(mmu) ? mmu->bit : 0;
      mmu->h.walker.is_fetched = is_for(mmu);
   }
   all->late.miss = tlb_mmus_take(all, TLB_LATE_MISSES * sizeof *all->late.miss);
   all->late.mmus_of = tlb_mmus_take(all, TLB_LATE_MISSES * sizeof *all->late.mmus_of);
   all->late.of_one = tlb_mmus_take(all, TLB_LATE_MISSES * sizeof *all->late.of_one);
}

void tlb_late_add(tlb_mmus *all, uint64_t *counts, const tlb_reference *ref, tlb_late_way way,
                  uint64_t mmus, uint64_t counted)
{
   if (all->late.n == TLB_LATE_MISSES)
      tlb_late_do(all);
   all->late.mmus_of[all->late.n] = mmus;
   all->late.miss[all->late.n++] = (tlb_late_miss){ .counts = counts, .counted = counted,
                                                    .ref = *ref, .way = way };
}

/* --- Later --- */

static void do_one(tlb_mmus *all, tlb_mmu *mmu, const tlb_late_miss *m)
{
   switch (m->way) {
   case TLB_LATE_WALK:
      tlb_missed_walk(m->counts, mmu, &m->ref);
      break;
   case TLB_LATE_BEHIND:
      tlb_missed_behind(all, m->counts, mmu, &m->ref);
      break;
   case TLB_LATE_ASK:
      tlb_missed_asked(all, m->counts, mmu, &m->ref, m->counted);
      break;
   }
}

static unsigned find_those_of(const tlb_mmus *all, uint64_t bit)
{
   unsigned n = 0;
   for (unsigned i = 0; i < all->late.n; i++) {
      all->late.of_one[n] = (uint16_t)i;
      n += (all->late.mmus_of[i] & bit) != 0;
   }
   return n;
}

static void do_those_of(tlb_mmus *all, tlb_mmu *mmu)
{
   const tlb_late_miss *const miss = all->late.miss;
   const uint16_t *const of_one = all->late.of_one;
   const unsigned n = find_those_of(all, mmu->bit);
   for (unsigned i = 0; i < n; i++) {
      if (i + AHEAD < n)
         tlb_walk_fetch(&mmu->h.walker, miss[of_one[i + AHEAD]].ref.page << mmu->h.base_shift);
      do_one(all, mmu, &miss[of_one[i]]);
   }
}

void tlb_late_do(tlb_mmus *all)
{
   const uint64_t in_parts = all->parts.in_parts; /* of the reference at hand */
   if (all->late.n == 0)
      return;
   all->parts.in_parts = 0;
   for (uint64_t rest = all->late.mmus; rest != 0; rest &= rest - 1)
      do_those_of(all, &all->mmu[__builtin_ctzll(rest)]);
   all->late.n = 0;
   all->parts.in_parts = in_parts;
}
