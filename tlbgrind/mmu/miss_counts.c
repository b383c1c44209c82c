/* What first levels have missed. See mmu/miss_counts.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "mmu/miss_counts.h"

/* What the reference at hand has missed so far: by cost, from TG_MISS_1 on, a bit
   for each machine. */
static ULong missed_so_far[TG_N_OF_A_MISS];
ULong tg_missed_in_parts;
static ULong* extra; /* TG_N_COSTS by machine */

void tg_missed_init(void)
{
   extra = VG_(calloc)("tg.missed", tg_n_mmus * TG_N_COSTS, sizeof *extra);
}

ULong* tg_missed_extra(UInt mmu)
{
   return extra + mmu * TG_N_COSTS;
}

void tg_missed_begin_parts(void)
{
   VG_(memset)(missed_so_far, 0, sizeof missed_so_far);
}

static void note_parts(TgKind kind, UInt cost, ULong mmus)
{
   mmus &= tg_missed_in_parts;
   ULong again = missed_so_far[cost] & mmus;
   missed_so_far[cost] |= mmus;
   for (; again != 0; again &= again - 1)
      tg_missed_extra((UInt)__builtin_ctzll(again))
         [tg_cost(kind, TG_MISS_1 + cost)]++;
}

static void note_missed(TgKind kind, const TgMmu* mmu, const tlb_outcome* o)
{
   if ((mmu->bit & tg_missed_in_parts) == 0)
      return;
   for (UInt missed = tg_misses_of(o); missed != 0; missed &= missed - 1)
      note_parts(kind, (UInt)__builtin_ctz(missed), mmu->bit);
}

void tg_missed_book(TgRef* r, const TgMmu* mmu, const tlb_outcome* o)
{
   tg_book_misses(tg_ref_misses(r) + mmu->number * TG_N_OF_A_MISS, o);
   note_missed(r->kind, mmu, o);
}

static ULong* walk_references(const TgRef* r, const TgMmu* mmu)
{
   return r->misses + mmu->number * TG_N_OF_A_MISS + TG_WALK_REFS - TG_MISS_1;
}

/* No level of the machine has the page, and all its walks are alike. */
static void count_walk(TgRef* r, const TgMmu* mmu, TgTable table)
{
   tg_counts_of_walks(r->misses)[mmu->number]++;
   note_missed(r->kind, mmu, &mmu->common[table].walk);
}

/* What is usual has been counted; books what else it comes to. *o is used up. */
static void book_beside(TgRef* r, const TgMmu* mmu, TgTable table, tlb_outcome* o)
{
   const TgCommonOutcome* u = &mmu->common[table];
   const Int cycles = (Int)(o->cycles - u->common.cycles);
   if (o->missed == 0 && !o->walked && cycles == 0)
      return;
   if (u->alike && o->walked && o->missed == u->walk.missed
       && cycles == (Int)u->walk.cycles) {
      count_walk(r, mmu, table);
      *walk_references(r, mmu) += (ULong)o->walk_references - u->walk.walk_references;
      return;
   }
   o->cycles = 0;
   tg_missed_book(r, mmu, o);
   r->misses[mmu->number * TG_N_OF_A_MISS + TG_CYCLES - TG_MISS_1]
      += (ULong)(Long)cycles;
}

/* What is read of the lazy LRU arrays has been driven out of the processor's nearest cache
   by that of other machines: asks for all before the first is needed. */
static void fetch_ahead(TgTable table, ULong machines, uint64_t page)
{
   for (ULong m = machines; m != 0; m &= m - 1)
      tlb_lazy_lru_fetch_set(tg_lazy_lrus[table][__builtin_ctzll(m)], page);
   for (ULong m = machines; m != 0; m &= m - 1)
      tlb_lazy_lru_fetch_entry(tg_lazy_lrus[table][__builtin_ctzll(m)], page);
   for (ULong m = machines; m != 0; m &= m - 1)
      tlb_lazy_lru_fetch_page(tg_lazy_lrus[table][__builtin_ctzll(m)], page);
}

/* Behind the lazy LRU arrays of these machines are walks alone, all alike but for the references
   that some take. */
static void walk_all(TgRef* r, ULong absent, TgTable table, tlb_lazy_lru_page* page,
                     const tlb_reference* ref)
{
   ULong* count = tg_counts_of_walks(r->misses);
   for (ULong m = absent & tg_l2_varies[table]; m != 0; m &= m - 1) {
      TgMmu* mmu = &tg_mmus[__builtin_ctzll(m)];
      *walk_references(r, mmu) += tlb_hierarchy_references(&mmu->h, ref);
   }
   for (ULong m = absent; m != 0; m &= m - 1) {
      const UInt number = (UInt)__builtin_ctzll(m);
      tlb_lazy_lru_fill(tg_lazy_lrus[table][number], page, ref->now);
      count[number]++;
   }
   for (ULong m = absent & tg_missed_in_parts; m != 0; m &= m - 1) {
      const TgMmu* mmu = &tg_mmus[__builtin_ctzll(m)];
      note_missed(r->kind, mmu, &mmu->common[table].walk);
   }
}

/* Most machines hold the page: what is usual. */
static void look_up_lazy_lrus(TgRef* r, ULong lazy, TgTable table,
                            tlb_lazy_lru_page* page, const tlb_reference* ref)
{
   const ULong absent = lazy & ~page->held[table];
   const ULong last = absent & tg_l2_last[table];
   page->last = ref->now;
   if (absent == 0)
      return;
   fetch_ahead(table, absent, page->number);
   walk_all(r, last, table, page, ref);
   for (ULong m = absent & ~last; m != 0; m &= m - 1) {
      TgMmu* mmu = &tg_mmus[__builtin_ctzll(m)];
      tlb_outcome o = { .missed = 0 };
      tg_l2_fill(mmu, table, page, ref, &o);
      book_beside(r, mmu, table, &o);
   }
}

/* The first level's miss, and the walks of those that come to it at once. */
static void note_counted(TgKind kind, TgTable table, const TgMissed* missed)
{
   ULong known = missed->counted & tg_missed_in_parts
                 & ~(missed->lazy | missed->asked);
   note_parts(kind, 0, missed->counted);
   for (; known != 0; known &= known - 1) {
      const TgMmu* mmu = &tg_mmus[__builtin_ctzll(known)];
      note_missed(kind, mmu, &mmu->common[table].common);
   }
}

void tg_missed_ask(TgRef* r, const TgMissed* missed, TgTable table,
                   tlb_lazy_lru_page* page, const tlb_reference* ref)
{
   if ((missed->counted & tg_missed_in_parts) != 0)
      note_counted(r->kind, table, missed);
   if (missed->lazy != 0)
      look_up_lazy_lrus(r, missed->lazy, table, page, ref);
   for (ULong one = missed->asked; one != 0; one &= one - 1) {
      TgMmu* mmu = &tg_mmus[__builtin_ctzll(one)];
      tlb_outcome o = { .missed = 0 };
      tlb_translate_behind(&mmu->h, ref, &o);
      if ((mmu->bit & missed->counted) == 0) {
         tg_missed_book(r, mmu, &o);
         continue;
      }
      o.missed &= ~1u;
      book_beside(r, mmu, table, &o);
   }
}
