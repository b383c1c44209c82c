/* Misses. See miss_counts.h. */

#include "sim/mmu/miss_counts.h"

#include "sim/mmu/late_misses.h"
#include "sim/mmu/miss_counts_parts.h"
#include "sim/mmu/mmu_memory.h"

void tlb_missed_init(tlb_mmus *all)
{
   all->parts.extra = tlb_mmus_take(all, all->n_mmus * sizeof *all->parts.extra);
   tlb_missed_zero_extra(all);
}

void tlb_missed_zero_extra(tlb_mmus *all)
{
   for (unsigned i = 0; i < all->n_mmus; i++) {
      for (unsigned user = 0; user < TLB_N_USERS; user++) {
         for (unsigned cost = 0; cost < TLB_N_COSTS; cost++)
            all->parts.extra[i][user][cost] = 0;
      }
   }
}

void tlb_missed_begin_parts(tlb_mmus *all, tlb_user user)
{
   all->parts.user = user;
   for (unsigned i = 0; i < TLB_N_COSTS; i++)
      all->parts.so_far[i] = 0;
}

static void note_parts(tlb_mmus *all, unsigned cost, uint64_t mmus)
{
   mmus &= all->parts.in_parts;
   uint64_t again = all->parts.so_far[cost] & mmus;
   all->parts.so_far[cost] |= mmus;
   for (; again != 0; again &= again - 1)
      all->parts.extra[__builtin_ctzll(again)][all->parts.user][cost]++;
}

static void note_missed(tlb_mmus *all, const tlb_mmu *mmu, const tlb_outcome *o)
{
   if ((mmu->bit & all->parts.in_parts) == 0)
      return;
   for (unsigned missed = tlb_misses_of(o); missed != 0; missed &= missed - 1)
      note_parts(all, (unsigned)__builtin_ctz(missed), mmu->bit);
}

static uint64_t *costs_of(uint64_t *counts, const tlb_mmu *mmu)
{
   return counts + mmu->number * TLB_N_COSTS;
}

void tlb_missed_book(tlb_mmus *all, uint64_t *counts, const tlb_mmu *mmu, const tlb_outcome *o)
{
   tlb_book_misses(costs_of(counts, mmu), o);
   note_missed(all, mmu, o);
}

/* No level of the machine has the page, and all its walks are alike. */
static void count_walk(tlb_mmus *all, uint64_t *counts, const tlb_mmu *mmu, tlb_side table)
{
   tlb_counts_of_walks(all, counts)[mmu->number]++;
   note_missed(all, mmu, &mmu->common[table].walk);
}

void tlb_missed_walk(uint64_t *counts, tlb_mmu *mmu, const tlb_reference *ref)
{
   uint64_t *const cost = costs_of(counts, mmu);
   const uint32_t references = tlb_hierarchy_references(&mmu->h, ref);
   cost[TLB_COST_WALK_REFERENCES] += references;
   cost[TLB_COST_CYCLES] += tlb_hierarchy_varying_cycles(&mmu->h, references);
}

/* What is usual has been counted; books what else it comes to. *o is used up. */
static void book_beside(tlb_mmus *all, uint64_t *counts, const tlb_mmu *mmu, tlb_side table,
                        tlb_outcome *o)
{
   const tlb_common_outcome *u = &mmu->common[table];
   const int cycles = (int)(o->cycles - u->common.cycles);
   if (o->missed == 0 && !o->walked && cycles == 0)
      return;
   if (u->alike && o->walked && o->missed == u->walk.missed
       && cycles == (int)u->walk.cycles) {
      count_walk(all, counts, mmu, table);
      costs_of(counts, mmu)[TLB_COST_WALK_REFERENCES]
         += (uint64_t)o->walk_references - u->walk.walk_references;
      return;
   }
   o->cycles = 0;
   tlb_missed_book(all, counts, mmu, o);
   costs_of(counts, mmu)[TLB_COST_CYCLES] += (uint64_t)(int64_t)cycles;
}

/* What is read of the lazy LRU arrays has been driven out of the processor's nearest cache
   by that of other machines: asks for all before the first is needed. */
static void fetch_ahead(const tlb_mmus *all, tlb_side table, uint64_t machines, uint64_t page)
{
   for (uint64_t m = machines; m != 0; m &= m - 1)
      tlb_lazy_lru_fetch_set(all->l2.lazy_lru_of[table][__builtin_ctzll(m)], page);
   for (uint64_t m = machines; m != 0; m &= m - 1)
      tlb_lazy_lru_fetch_entry(all->l2.lazy_lru_of[table][__builtin_ctzll(m)], page);
   for (uint64_t m = machines; m != 0; m &= m - 1)
      tlb_lazy_lru_fetch_page(all->l2.lazy_lru_of[table][__builtin_ctzll(m)], page);
}

/* Behind the lazy LRU arrays of these machines are walks alone, all alike but for the
   references that some take, and what these cost. */
static void walk_all(tlb_mmus *all, uint64_t *counts, uint64_t absent, tlb_side table,
                     tlb_lazy_lru_page *page, const tlb_reference *ref)
{
   uint64_t *count = tlb_counts_of_walks(all, counts);
   const uint64_t varies = absent & all->l2.varies[table];
   const uint64_t late = varies & all->late.mmus;
   if (late != 0)
      tlb_late_add(all, counts, ref, TLB_LATE_WALK, late, late);
   for (uint64_t m = varies & ~late; m != 0; m &= m - 1)
      tlb_missed_walk(counts, &all->mmu[__builtin_ctzll(m)], ref);
   for (uint64_t m = absent; m != 0; m &= m - 1) {
      const unsigned number = (unsigned)__builtin_ctzll(m);
      tlb_lazy_lru_fill(all->l2.lazy_lru_of[table][number], page, ref->now);
      count[number]++;
   }
   for (uint64_t m = absent & all->parts.in_parts; m != 0; m &= m - 1) {
      const tlb_mmu *mmu = &all->mmu[__builtin_ctzll(m)];
      note_missed(all, mmu, &mmu->common[table].walk);
   }
}

void tlb_missed_behind(tlb_mmus *all, uint64_t *counts, tlb_mmu *mmu, const tlb_reference *ref)
{
   const tlb_side table = tlb_side_of_user(ref->user);
   const unsigned level = mmu->lazy_lru[table]->level;
   tlb_outcome o = { .missed = 1u << level };
   tlb_translate_from(&mmu->h, ref, level + 1, &o);
   book_beside(all, counts, mmu, table, &o);
}

/* Which of these machines can be looked up later. What one misses in one part of a reference is
   compared with what it has missed in another, so it has to be known now, as all before it. */
static uint64_t may_be_late(tlb_mmus *all, uint64_t mmus)
{
   mmus &= all->late.mmus;
   if (TLB_UNLIKELY((mmus & all->parts.in_parts) != 0))
      tlb_late_do(all);
   return mmus & ~all->parts.in_parts;
}

/* Most machines hold the page: what is usual. */
static void look_up_lazy_lrus(tlb_mmus *all, uint64_t *counts, uint64_t lazy, tlb_side table,
                            tlb_lazy_lru_page *page, const tlb_reference *ref)
{
   const uint64_t absent = lazy & ~page->held[table];
   const uint64_t last = absent & all->l2.last[table];
   page->last = ref->now;
   if (absent == 0)
      return;
   fetch_ahead(all, table, absent, page->number);
   walk_all(all, counts, last, table, page, ref);
   const uint64_t late = may_be_late(all, absent & ~last);
   if (late != 0)
      tlb_late_add(all, counts, ref, TLB_LATE_BEHIND, late, late);
   for (uint64_t m = absent & ~last; m != 0; m &= m - 1) {
      tlb_mmu *mmu = &all->mmu[__builtin_ctzll(m)];
      if ((mmu->bit & late) == 0)
         tlb_missed_behind(all, counts, mmu, ref);
      tlb_lazy_lru_fill(all->l2.lazy_lru_of[table][mmu->number], page, ref->now);
   }
}

void tlb_missed_asked(tlb_mmus *all, uint64_t *counts, tlb_mmu *mmu, const tlb_reference *ref,
                      uint64_t counted)
{
   tlb_outcome o = { .missed = 0 };
   tlb_translate_behind(&mmu->h, ref, &o);
   if ((mmu->bit & counted) == 0) {
      tlb_missed_book(all, counts, mmu, &o);
      return;
   }
   o.missed &= ~1u;
   book_beside(all, counts, mmu, tlb_side_of_user(ref->user), &o);
}

/* The first level's miss, and the walks of those that come to it at once. */
static void note_counted(tlb_mmus *all, tlb_side table, const tlb_missed *missed)
{
   uint64_t known = missed->counted & all->parts.in_parts
                 & ~(missed->lazy | missed->asked);
   note_parts(all, 0, missed->counted);
   for (; known != 0; known &= known - 1) {
      const tlb_mmu *mmu = &all->mmu[__builtin_ctzll(known)];
      note_missed(all, mmu, &mmu->common[table].common);
   }
}

void tlb_missed_ask(tlb_mmus *all, uint64_t *counts, const tlb_missed *missed, tlb_side table,
                   tlb_lazy_lru_page *page, const tlb_reference *ref)
{
   if ((missed->counted & all->parts.in_parts) != 0)
      note_counted(all, table, missed);
   if (missed->lazy != 0)
      look_up_lazy_lrus(all, counts, missed->lazy, table, page, ref);
   if (missed->asked == 0)
      return;
   const uint64_t late = may_be_late(all, missed->asked);
   if (late != 0)
      tlb_late_add(all, counts, ref, TLB_LATE_ASK, late, missed->counted);
   for (uint64_t one = missed->asked & ~late; one != 0; one &= one - 1)
      tlb_missed_asked(all, counts, &all->mmu[__builtin_ctzll(one)], ref, missed->counted);
}
