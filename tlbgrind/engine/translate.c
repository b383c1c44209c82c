/* One reference, as all machines of the run see it. See engine/translate.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"

#include "mmu/l2_presence.h"
#include "faults/recorder.h"
#include "mmu/l1_misses.h"
#include "mmu/miss_counts.h"
#include "mmu/reach.h"
#include "engine/replay.h"
#include "mmu/l1_sharing.h"
#include "engine/translate.h"

static Bool fast_path;

void tg_translate_init(const TgOptions* options)
{
   fast_path = options->fast_path;
}

/* What the machine and those that follow it have missed in their first levels. */
static void miss(TgRef* r, TgLane* leader, TgTable table, TgPage* p,
                 const tlb_reference* ref)
{
   const UInt large = leader->large;
   tlb_shelf_page* behind
      = tg_n_lanes == 1 ? NULL
        : tg_behind(table, tg_first_page(p, (UWord)ref->page, large), large);
   TgMissed missed = { 0, 0, 0 };
   const TgStream* s = &leader->stream[tg_side_of(leader, ref->user)];
   tg_missed_stream(&missed, tg_ref_misses(r) + tg_streams_at(), behind, s,
                    tg_rungs_missed(s, behind, tg_evicted), ref->now);
   tg_missed_ask(r, &missed, table, behind, ref);
}

/* Machines without a front, one after the other. Not part of the common way, which has
   to be short: there are programs with more hot code than a processor's first cache
   holds. */
static __attribute__((noinline))
void refer_each(TgRef* r, TgPage* p, UWord number, TgKind kind, ULong now, ULong wanted)
{
   const TgTable table = tg_table_of_kind(kind);
   if ((wanted & TG_WANTED_BY_REACH) != 0)
      tg_reach_refer(table, p, number, now);
   wanted &= TG_WANTED_BY_LANES;
   for (; wanted != 0; wanted &= wanted - 1) {
      TgLane* lane = &tg_lanes[__builtin_ctzll(wanted)];
      tlb_reference ref;
      tg_evicted = NULL;
      if (tg_lane_refer(lane, p, number, kind, now, &ref))
         miss(r, lane, table, p, &ref);
   }
}

/* All machines that want to see a reference of that kind. */
static void refer_all(TgRef* r, TgPage* p, UWord number, TgKind kind, ULong now)
{
   const Bool write = kind == TG_WRITE && tg_knowledge.split;
   const TgTable table = tg_table_of_kind(kind);
   ULong wanted = write ? tg_rest(p)->wanted_writes : tg_rest(p)->wanted;
   wanted &= TG_WANTED_BY_LANES | TG_WANTED_BY_REACH;
   for (const TgFronts* f = tg_fronts; f < tg_fronts + tg_n_fronts; f++) {
      const ULong have_fronts = wanted & f->lanes[kind];
      if (have_fronts == 0)
         continue;
      wanted &= ~have_fronts;
      wanted |= tg_fronts_miss(f, r, p, number, kind, have_fronts, now);
   }
   if (wanted != 0)
      refer_each(r, p, number, kind, now, wanted);
   (write ? tg_writes(p) : p)->time = now;
   if (fast_path)
      tg_settle(table, p);
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

static void refer(TgRef* r, TgPage* p, UWord number, ULong now)
{
   touch(r, p, number);
   refer_all(r, p, number, r->kind, now);
   if (r->modifies && tg_knowledge.split)
      refer_all(r, p, number, TG_WRITE, now);
}

void tg_translate(TgRef* r, TgPage* p, UWord number, ULong now, Bool on_one_page)
{
   tg_missed_begin(!on_one_page  ? TG_WANTED_BY_LANES
                   : r->modifies ? tg_knowledge.apart : 0);
   refer(r, p, number, now);
}

void tg_translate_second(TgRef* r, TgPage* p, UWord number, ULong now)
{
   refer(r, p, number, now);
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
   tg_missed_begin(0);
   if (o.missed)
      tg_missed_book(r, &tg_lanes[0], &o);
}
