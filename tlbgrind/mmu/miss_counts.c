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
   extra = VG_(calloc)("tg.missed", tg_n_lanes * TG_N_COSTS, sizeof *extra);
}

ULong* tg_missed_extra(UInt lane)
{
   return extra + lane * TG_N_COSTS;
}

void tg_missed_begin_parts(void)
{
   VG_(memset)(missed_so_far, 0, sizeof missed_so_far);
}

static void note_parts(TgKind kind, UInt cost, ULong lanes)
{
   lanes &= tg_missed_in_parts;
   ULong again = missed_so_far[cost] & lanes;
   missed_so_far[cost] |= lanes;
   for (; again != 0; again &= again - 1)
      tg_missed_extra((UInt)__builtin_ctzll(again))
         [tg_cost(kind, TG_MISS_1 + cost)]++;
}

static void note_missed(TgKind kind, const TgLane* lane, const tlb_outcome* o)
{
   if ((lane->bit & tg_missed_in_parts) == 0)
      return;
   for (UInt missed = tg_misses_of(o); missed != 0; missed &= missed - 1)
      note_parts(kind, (UInt)__builtin_ctz(missed), lane->bit);
}

void tg_missed_book(TgRef* r, const TgLane* lane, const tlb_outcome* o)
{
   tg_book_misses(tg_ref_misses(r) + lane->number * TG_N_OF_A_MISS, o);
   note_missed(r->kind, lane, o);
}

static ULong* walk_references(const TgRef* r, const TgLane* lane)
{
   return r->misses + lane->number * TG_N_OF_A_MISS + TG_WALK_REFS - TG_MISS_1;
}

/* No level of the machine has the page, and all its walks are alike. */
static void count_walk(TgRef* r, const TgLane* lane, TgTable table)
{
   tg_counts_of_walks(r->misses)[lane->number]++;
   note_missed(r->kind, lane, &lane->usual[table].walk);
}

/* What is usual has been counted; books what else it comes to. *o is used up. */
static void book_beside(TgRef* r, const TgLane* lane, TgTable table, tlb_outcome* o)
{
   const TgUsual* u = &lane->usual[table];
   const Int cycles = (Int)(o->cycles - u->usual.cycles);
   if (o->missed == 0 && !o->walked && cycles == 0)
      return;
   if (u->alike && o->walked && o->missed == u->walk.missed
       && cycles == (Int)u->walk.cycles) {
      count_walk(r, lane, table);
      *walk_references(r, lane) += (ULong)o->walk_references - u->walk.walk_references;
      return;
   }
   o->cycles = 0;
   tg_missed_book(r, lane, o);
   r->misses[lane->number * TG_N_OF_A_MISS + TG_CYCLES - TG_MISS_1]
      += (ULong)(Long)cycles;
}

/* What is read of the shelves has been driven out of the processor's nearest cache
   by that of other machines: asks for all before the first is needed. */
static void fetch_ahead(TgTable table, ULong machines, uint64_t page)
{
   for (ULong m = machines; m != 0; m &= m - 1)
      tlb_shelf_fetch_set(tg_shelf[table][__builtin_ctzll(m)], page);
   for (ULong m = machines; m != 0; m &= m - 1)
      tlb_shelf_fetch_entry(tg_shelf[table][__builtin_ctzll(m)], page);
   for (ULong m = machines; m != 0; m &= m - 1)
      tlb_shelf_fetch_page(tg_shelf[table][__builtin_ctzll(m)], page);
}

/* Behind the shelves of these machines are walks alone, all alike but for the references
   that some take. */
static void walk_all(TgRef* r, ULong absent, TgTable table, tlb_shelf_page* page,
                     const tlb_reference* ref)
{
   ULong* count = tg_counts_of_walks(r->misses);
   for (ULong m = absent & tg_behind_varies[table]; m != 0; m &= m - 1) {
      TgLane* lane = &tg_lanes[__builtin_ctzll(m)];
      *walk_references(r, lane) += tlb_hierarchy_references(&lane->h, ref);
   }
   for (ULong m = absent; m != 0; m &= m - 1) {
      const UInt number = (UInt)__builtin_ctzll(m);
      tlb_shelf_fill(tg_shelf[table][number], page, ref->now);
      count[number]++;
   }
   for (ULong m = absent & tg_missed_in_parts; m != 0; m &= m - 1) {
      const TgLane* lane = &tg_lanes[__builtin_ctzll(m)];
      note_missed(r->kind, lane, &lane->usual[table].walk);
   }
}

/* Most machines hold the page: what is usual. */
static void look_on_shelves(TgRef* r, ULong shelved, TgTable table,
                            tlb_shelf_page* page, const tlb_reference* ref)
{
   const ULong absent = shelved & ~page->held[table];
   const ULong last = absent & tg_behind_last[table];
   page->last = ref->now;
   if (absent == 0)
      return;
   fetch_ahead(table, absent, page->number);
   walk_all(r, last, table, page, ref);
   for (ULong m = absent & ~last; m != 0; m &= m - 1) {
      TgLane* lane = &tg_lanes[__builtin_ctzll(m)];
      tlb_outcome o = { .missed = 0 };
      tg_behind_fill(lane, table, page, ref, &o);
      book_beside(r, lane, table, &o);
   }
}

/* The first level's miss, and the walks of those that come to it at once. */
static void note_counted(TgKind kind, TgTable table, const TgMissed* missed)
{
   ULong known = missed->counted & tg_missed_in_parts
                 & ~(missed->shelved | missed->asked);
   note_parts(kind, 0, missed->counted);
   for (; known != 0; known &= known - 1) {
      const TgLane* lane = &tg_lanes[__builtin_ctzll(known)];
      note_missed(kind, lane, &lane->usual[table].usual);
   }
}

void tg_missed_ask(TgRef* r, const TgMissed* missed, TgTable table,
                   tlb_shelf_page* page, const tlb_reference* ref)
{
   if ((missed->counted & tg_missed_in_parts) != 0)
      note_counted(r->kind, table, missed);
   if (missed->shelved != 0)
      look_on_shelves(r, missed->shelved, table, page, ref);
   for (ULong one = missed->asked; one != 0; one &= one - 1) {
      TgLane* lane = &tg_lanes[__builtin_ctzll(one)];
      tlb_outcome o = { .missed = 0 };
      tlb_translate_behind(&lane->h, ref, &o);
      if ((lane->bit & missed->counted) == 0) {
         tg_missed_book(r, lane, &o);
         continue;
      }
      o.missed &= ~1u;
      book_beside(r, lane, table, &o);
   }
}
