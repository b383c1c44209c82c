/* One reference, as all machines of the run see it. See tg_translate.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "tg_behind.h"
#include "tg_fault_record.h"
#include "tg_reach.h"
#include "tg_replay.h"
#include "tg_shared.h"
#include "tg_translate.h"

static Bool fast_path;

/* What the reference at hand has missed so far: by cost, from TG_MISS_1 on, a bit
   for each machine. */
static ULong missed_so_far[TG_N_OF_A_MISS];
static Bool in_parts; /* it can have more than one */
static Bool unfinished; /* the call that follows is for the same reference */
static ULong* extra; /* TG_N_COSTS by machine */

void tg_translate_init(const TgOptions* options)
{
   fast_path = options->fast_path;
   extra = VG_(calloc)("tg.translate", tg_n_lanes * TG_N_COSTS, sizeof *extra);
}

ULong* tg_translate_extra(UInt lane)
{
   return extra + lane * TG_N_COSTS;
}

/* A reference crosses to another page only where all of a segment is replayed, and
   is a read and a write where these are told apart. */
static void begin_reference(const TgRef* r, UInt mark)
{
   in_parts = mark == TG_NO_MARK || (r->modifies && tg_knowledge.split);
   if (!unfinished)
      VG_(memset)(missed_so_far, 0, sizeof missed_so_far);
}

/* What machines miss in one part of a reference is a miss for each part; what was
   missed by more than one of them is noted as well. */
static void note_parts(TgKind kind, UInt cost, ULong lanes)
{
   ULong again = missed_so_far[cost] & lanes;
   missed_so_far[cost] |= lanes;
   for (; again != 0; again &= again - 1)
      tg_translate_extra((UInt)__builtin_ctzll(again))
         [tg_cost(kind, TG_MISS_1 + cost)]++;
}

static void book(TgRef* r, const TgLane* lane, const tlb_outcome* o)
{
   tg_book_misses(tg_ref_misses(r) + lane->number * TG_N_OF_A_MISS, o);
   for (UInt missed = in_parts ? tg_misses_of(o) : 0; missed != 0;
        missed &= missed - 1)
      note_parts(r->kind, (UInt)__builtin_ctz(missed), lane->bit);
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

/* What it comes to for machines with shelves. Most of them hold the page: one count
   is for all, and the others are booked as far as they differ. */
static void look_on_shelves(TgRef* r, const TgStream* s, UInt rungs, TgTable table,
                            TgPage* p, const tlb_reference* ref)
{
   tlb_shelf_page* page = tg_behind(table, p);
   const ULong shelved = s->shelved[rungs];
   ULong absent = shelved & ~page->held[table];
   ++*tg_count_of_stream(tg_ref_misses(r), s, rungs);
   if (in_parts)
      note_parts(r->kind, 0, shelved);
   fetch_ahead(page, table, absent);
   for (; absent != 0; absent &= absent - 1) {
      TgLane* lane = &tg_lanes[__builtin_ctzll(absent)];
      tlb_outcome o = { .missed = 0 };
      tg_behind_fill(lane, table, page, ref, &o);
      book(r, lane, &o);
      r->misses[lane->number * TG_N_OF_A_MISS + TG_CYCLES - TG_MISS_1]
         -= lane->shelf[table]->cycles;
   }
   page->last = page->time[s->first + rungs - 1] = ref->now;
}

/* What the machine and those that follow it have missed in their first levels. */
static void miss(TgRef* r, TgLane* leader, TgTable table, TgPage* p,
                 const tlb_reference* ref)
{
   const TgStream* s = &leader->stream[table];
   const UInt rungs = leader->ladder[table] == NULL
                         ? 1 : tg_shared_missed(leader, table, p);
   if (s->shelved[rungs] != 0)
      look_on_shelves(r, s, rungs, table, p, ref);
   for (ULong one = s->asked[rungs]; one != 0; one &= one - 1) {
      TgLane* lane = &tg_lanes[__builtin_ctzll(one)];
      tlb_outcome o = { .missed = 0 };
      tlb_translate_behind(&lane->h, ref, &o);
      book(r, lane, &o);
   }
}

/* All machines that want to see a reference of that kind. */
static Bool refer_all(TgRef* r, TgPage* p, UWord number, TgKind kind,
                      ULong now, UInt mark)
{
   const Bool write = kind == TG_WRITE && tg_knowledge.split;
   const TgTable table = kind == TG_FETCH ? TG_CODE : TG_DATA;
   ULong wanted = write ? tg_rest(p)->wanted_writes : tg_rest(p)->wanted;
   if ((wanted & TG_WANTED_BY_REACH) != 0
       && !tg_reach_refer(table, p, number, now, mark))
      return False;
   for (wanted &= TG_WANTED_BY_LANES; wanted != 0; wanted &= wanted - 1) {
      TgLane* lane = &tg_lanes[__builtin_ctzll(wanted)];
      tlb_reference ref;
      Bool missed;
      tg_evicted = NULL;
      if (!tg_lane_refer(lane, p, number, kind, now, mark, &ref, &missed))
         return False;
      if (missed)
         miss(r, lane, table, p, &ref);
   }
   (write ? tg_writes(p) : p)->time = now;
   if (!fast_path)
      return True;
   if (kind == TG_FETCH)
      tg_code_settle(p);
   else
      tg_data_settle(p);
   return True;
}

/* The first read, fetch or write of a page, for the fault log. */
static void touch(const TgRef* r, TgPage* p, UWord number)
{
   TgRest* rest = tg_rest(p);
   const Bool writes = r->kind == TG_WRITE || r->modifies || r->locked;
   const ULong wanted = writes ? rest->wanted_writes : rest->wanted;
   if (LIKELY((wanted & TG_WANTED_BY_FAULTS) == 0))
      return;
   tg_faults_touch(r->site, r->kind == TG_FETCH ? TLB_TOUCH_FETCH
                            : writes            ? TLB_TOUCH_WRITE
                                                : TLB_TOUCH_READ,
                   number << tg_knowledge.page_shift, tg_replay_instructions(r));
   /* What has been written to can be read. */
   rest->wanted &= ~TG_WANTED_BY_FAULTS;
   if (writes)
      rest->wanted_writes &= ~TG_WANTED_BY_FAULTS;
}

static Bool refer(TgRef* r, TgPage* p, UWord number, ULong now, UInt mark)
{
   touch(r, p, number);
   return refer_all(r, p, number, r->kind, now, mark)
          && (!r->modifies || !tg_knowledge.split
              || refer_all(r, p, number, TG_WRITE, now, mark));
}

Bool tg_translate(TgRef* r, TgPage* p, UWord number, ULong now, UInt mark)
{
   if (mark != TG_NO_MARK)
      tg_segment_mark(mark);
   begin_reference(r, mark);
   unfinished = !refer(r, p, number, now, mark);
   return !unfinished;
}

void tg_translate_second(TgRef* r, TgPage* p, UWord number, ULong now)
{
   refer(r, p, number, now, TG_NO_MARK);
}

void tg_translate_as_cachegrind(TgRef* r, UWord first, UWord last, ULong now)
{
   tlb_hierarchy* h = &tg_lanes[0].h;
   const UChar shift = (UChar)h->base_shift;
   tlb_reference a = { .page = first, .now = now - TG_HALF_TICKS, .user = r->kind,
                       .page_shift = shift, .block_shift = shift };
   tlb_reference b = a;
   tlb_outcome o = { .walked = 1 };
   b.page = last;
   b.now = now;
   tl_assert(!fast_path);
   for (UInt level = 0; level < h->levels; level++) {
      if (tlb_route_of(h, r->kind, shift, shift)->at[level].n == 0)
         continue;
      const int either = tlb_translate_level(h, &a, level)
                         | tlb_translate_level(h, &b, level);
      if (!either) {
         o.walked = 0;
         break;
      }
      o.missed |= 1u << level;
   }
   begin_reference(r, TG_NO_MARK);
   if (o.missed)
      book(r, &tg_lanes[0], &o);
}
