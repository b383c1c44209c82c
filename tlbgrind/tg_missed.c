/* What first levels have missed. See tg_missed.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "tg_missed.h"

/* What the reference at hand has missed so far: by cost, from TG_MISS_1 on, a bit
   for each machine. */
static ULong missed_so_far[TG_N_OF_A_MISS];
static Bool in_parts; /* it can have more than one */
static ULong* extra; /* TG_N_COSTS by machine */

void tg_missed_init(void)
{
   extra = VG_(calloc)("tg.missed", tg_n_lanes * TG_N_COSTS, sizeof *extra);
}

ULong* tg_missed_extra(UInt lane)
{
   return extra + lane * TG_N_COSTS;
}

void tg_missed_begin(Bool has_parts)
{
   in_parts = has_parts;
   if (has_parts)
      VG_(memset)(missed_so_far, 0, sizeof missed_so_far);
}

static void note_parts(TgKind kind, UInt cost, ULong lanes)
{
   ULong again = missed_so_far[cost] & lanes;
   missed_so_far[cost] |= lanes;
   for (; again != 0; again &= again - 1)
      tg_missed_extra((UInt)__builtin_ctzll(again))
         [tg_cost(kind, TG_MISS_1 + cost)]++;
}

static void note_missed(TgKind kind, const TgLane* lane, const tlb_outcome* o)
{
   for (UInt missed = tg_misses_of(o); missed != 0; missed &= missed - 1)
      note_parts(kind, (UInt)__builtin_ctz(missed), lane->bit);
}

void tg_missed_book(TgRef* r, const TgLane* lane, const tlb_outcome* o)
{
   tg_book_misses(tg_ref_misses(r) + lane->number * TG_N_OF_A_MISS, o);
   if (in_parts)
      note_missed(r->kind, lane, o);
}

/* What is read of the shelves has been driven out of the processor's nearest cache
   by that of other machines: asks for all before the first is needed. */
static void fetch_ahead(const tlb_shelf_page* page, TgTable table, ULong machines)
{
   for (; machines != 0; machines &= machines - 1) {
      const TgLane* lane = &tg_lanes[__builtin_ctzll(machines)];
      const tlb_shelf* shelf = &lane->shelf[table]->shelf;
      const tlb_shelf_entry* set = tlb_shelf_set(shelf, page->number);
      __builtin_prefetch(set, 1);
      __builtin_prefetch(set + shelf->ways - 1, 1);
   }
}

/* The page is not on a shelf that is the last: what that comes to is always the
   same. */
static void walk_alike(TgRef* r, const TgLane* lane, TgTable table,
                       tlb_shelf_page* page, ULong now)
{
   TgShelf* s = lane->shelf[table];
   tlb_shelf_fill(&s->shelf, page, now);
   ++*tg_count_of_last(r->misses, lane->number);
   if (in_parts)
      note_missed(r->kind, lane, &s->walk);
}

/* Most machines hold the page: what its stream counts is for all, and the others
   are booked as far as they differ. */
static void look_on_shelves(TgRef* r, ULong shelved, TgTable table,
                            tlb_shelf_page* page, const tlb_reference* ref)
{
   ULong absent = shelved & ~page->held[table];
   ULong last = absent & tg_behind_last[table];
   if (in_parts)
      note_parts(r->kind, 0, shelved);
   page->last = ref->now;
   if (absent == 0)
      return;
   fetch_ahead(page, table, absent);
   for (absent &= ~last; last != 0; last &= last - 1)
      walk_alike(r, &tg_lanes[__builtin_ctzll(last)], table, page, ref->now);
   for (; absent != 0; absent &= absent - 1) {
      TgLane* lane = &tg_lanes[__builtin_ctzll(absent)];
      tlb_outcome o = { .missed = 0 };
      tg_behind_fill(lane, table, page, ref, &o);
      tg_missed_book(r, lane, &o);
      r->misses[lane->number * TG_N_OF_A_MISS + TG_CYCLES - TG_MISS_1]
         -= lane->shelf[table]->cycles;
   }
}

void tg_missed_ask(TgRef* r, const TgMissed* missed, TgTable table,
                   tlb_shelf_page* page, const tlb_reference* ref)
{
   if (missed->shelved != 0)
      look_on_shelves(r, missed->shelved, table, page, ref);
   for (ULong one = missed->asked; one != 0; one &= one - 1) {
      TgLane* lane = &tg_lanes[__builtin_ctzll(one)];
      tlb_outcome o = { .missed = 0 };
      tlb_translate_behind(&lane->h, ref, &o);
      tg_missed_book(r, lane, &o);
   }
}
