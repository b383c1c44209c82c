/* One reference, as all machines of the run see it. See tg_translate.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "tg_fault_record.h"
#include "tg_reach.h"
#include "tg_replay.h"
#include "tg_shared.h"
#include "tg_translate.h"

static Bool fast_path;

/* What the reference at hand has missed so far, by machine: a bit for each of
   its costs. */
static UChar* missed_so_far;
static Bool missed_any;
static Bool in_parts; /* it can have more than one */
static Bool unfinished; /* the call that follows is for the same reference */
static ULong* extra; /* TG_N_COSTS by machine */

void tg_translate_init(const TgOptions* options)
{
   fast_path = options->fast_path;
   missed_so_far = VG_(calloc)("tg.translate", tg_n_lanes,
                               sizeof *missed_so_far);
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
   if (missed_any && !unfinished)
      VG_(memset)(missed_so_far, 0, tg_n_lanes * sizeof *missed_so_far);
   missed_any = missed_any && unfinished;
}

/* Books a miss of one part of a reference. Each part counts; what was missed by
   more than one of them is noted as well. */
static void book(TgRef* r, const TgLane* lane, const tlb_outcome* o)
{
   if (r->misses == NULL)
      r->misses = tg_line_misses(tg_site_line(r->site), r->kind);
   tg_book_misses(r->misses + lane->number * TG_N_OF_A_MISS, o);
   if (!in_parts)
      return;
   const UInt missed = tg_misses_of(o);
   UInt again = missed & missed_so_far[lane->number];
   ULong* cost = tg_translate_extra(lane->number) + tg_cost(r->kind, TG_MISS_1);
   for (; again != 0; again >>= 1, cost++)
      *cost += again & 1;
   missed_so_far[lane->number] |= (UChar)missed;
   missed_any = True;
}

/* All machines that want to see a reference of that kind. */
static Bool refer_all(TgRef* r, TgPage* p, UWord number, TgKind kind,
                      ULong now, UInt mark)
{
   const Bool write = kind == TG_WRITE && tg_knowledge.split;
   const TgTable table = kind == TG_FETCH ? TG_CODE : TG_DATA;
   ULong wanted = write ? tg_rest(p)->wanted_writes : tg_rest(p)->wanted;
   if ((wanted & TG_WANTED_BY_REACH) != 0
       && !tg_reach_refer(table, p, number, now,
                          mark))
      return False;
   for (wanted &= TG_WANTED_BY_LANES; wanted != 0; wanted &= wanted - 1) {
      TgLane* lane = &tg_lanes[__builtin_ctzll(wanted)];
      tlb_outcome o;
      tg_evicted = NULL;
      if (!tg_lane_refer(lane, p, number, kind, now, mark, &o))
         return False;
      if (!o.missed)
         continue;
      book(r, lane, &o);
      const UInt rungs = lane->ladder[table] == NULL
                            ? TLB_MAX_RUNGS : tg_shared_missed(lane, table, p);
      for (TgLane* f = lane->follower[table]; f != NULL; f = f->follower[table]) {
         if (f->rung[table] >= rungs)
            continue;
         tg_lane_follow(f, &o);
         book(r, f, &o);
      }
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
