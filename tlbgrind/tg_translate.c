/* One reference, as all machines of the run see it. See tg_translate.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "tg_fault_record.h"
#include "tg_reach.h"
#include "tg_replay.h"
#include "tg_translate.h"

static Bool fast_path;

/* What the reference at hand has missed so far, by machine: a bit for each of
   its costs. */
static UChar* missed_so_far;
static Bool missed_any;
static Bool unfinished; /* the call that follows is for the same reference */
static ULong* extra; /* TG_N_COSTS by machine */

void tg_translate_init(const TgOptions* options)
{
   fast_path = options->fast_path;
   missed_so_far = VG_(calloc)("tg.translate", tg_n_lanes,
                               sizeof *missed_so_far);
   extra = VG_(calloc)("tg.translate", tg_n_lanes * TG_N_COSTS, sizeof *extra);
   tg_translate_lanes_changed();
}

ULong* tg_translate_extra(UInt lane)
{
   return extra + lane * TG_N_COSTS;
}

/* Bit n for a miss that is counted as cost TG_MISS_1 + n. */
static UInt misses_of(const tlb_outcome* o)
{
   return o->missed
          | (o->walked ? 1u << (TG_WALKS - TG_MISS_1) : 0);
}

static void begin_reference(void)
{
   if (missed_any && !unfinished)
      VG_(memset)(missed_so_far, 0, tg_n_lanes * sizeof *missed_so_far);
   missed_any = missed_any && unfinished;
}

/* Books a miss of one part of a reference. Each part counts; what was missed by
   more than one of them is noted as well. */
static void book(TgRef* r, const TgLane* lane, const tlb_outcome* o)
{
   const UInt missed = misses_of(o);
   UInt again = missed & missed_so_far[lane->number];
   if (r->misses == NULL)
      r->misses = tg_line_misses(tg_site_line(r->site), r->kind);
   ULong* cost = r->misses + lane->number * TG_N_OF_A_MISS;
   cost[TG_WALK_REFS - TG_MISS_1] += o->walk_references;
   cost[TG_CYCLES - TG_MISS_1] += o->cycles;
   for (UInt bits = missed; bits != 0; bits >>= 1, cost++)
      *cost += bits & 1;
   cost = tg_translate_extra(lane->number) + tg_cost(r->kind, TG_MISS_1);
   for (; again != 0; again >>= 1, cost++)
      *cost += again & 1;
   missed_so_far[lane->number] |= (UChar)missed;
   missed_any = True;
}

/* All machines that want to see a reference of that kind. */
static Bool refer_all(TgRef* r, TgPage* p, UWord number, TgKind kind,
                      ULong now, ULong mark)
{
   const Bool write = kind == TG_WRITE && tg_knowledge.split;
   ULong wanted = write ? tg_rest(p)->wanted_writes : tg_rest(p)->wanted;
   if ((wanted & TG_WANTED_BY_REACH) != 0
       && !tg_reach_refer(kind == TG_FETCH ? TG_CODE : TG_DATA, p, number, now,
                          mark))
      return False;
   for (wanted &= TG_WANTED_BY_LANES; wanted != 0; wanted &= wanted - 1) {
      TgLane* lane = &tg_lanes[__builtin_ctzll(wanted)];
      tlb_outcome o;
      if (!tg_lane_refer(lane, p, number, kind, now, mark, &o))
         return False;
      if (!o.missed)
         continue;
      book(r, lane, &o);
      TgLane* f = lane->follower[kind == TG_FETCH ? TG_CODE : TG_DATA];
      for (; f != NULL; f = f->follower[kind == TG_FETCH ? TG_CODE : TG_DATA]) {
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
   const Bool writes = r->kind == TG_WRITE || r->modifies;
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

/* --- The short way --- */

/* The common miss of the common run, written out: one machine, base pages only,
   no reach; an LRU level of a few ways, all of which is known, over another of
   a few ways. All of it is in tg_lane_refer() and tlb_translate_behind() once
   more, for any machine; what counts here is every instruction. */
typedef struct {
   tlb_array* first; /* NULL: there is no short way */
   tlb_array* second;
   ULong hit_cycles; /* of the second */
} ShortWay;

static ShortWay short_way[TG_N_KINDS];

typedef enum { DONE, NEEDED, NOT_SHORT } ShortEnd;

/* The first level has been dealt with and the second misses, too. */
static void walk_after_second(TgRef* r, UWord number, ULong now)
{
   tlb_hierarchy* h = &tg_lanes[0].h;
   const UChar shift = (UChar)h->base_shift;
   const tlb_reference ref = { .page = number, .now = now, .user = r->kind,
                               .page_shift = shift, .block_shift = shift };
   tlb_outcome o = { .missed = 0 };
   tlb_translate_behind(h, &ref, &o);
   o.missed &= ~1u;
   r->misses[TG_WALK_REFS - TG_MISS_1] += o.walk_references;
   r->misses[TG_CYCLES - TG_MISS_1] += o.cycles;
   ULong* cost = r->misses;
   for (UInt bits = misses_of(&o); bits != 0; bits >>= 1, cost++)
      *cost += bits & 1;
}

/* NEEDED, and nothing done, if the page to be evicted is one of the segment's;
   NOT_SHORT if it is not that simple. */
static inline ShortEnd go_short_way(TgRef* r, TgPage* p, UWord number,
                                    ULong now, ULong mark)
{
   const ShortWay* w = &short_way[r->kind];
   const tlb_key key = tlb_key_of(number, tg_knowledge.page_shift, 0);
   TgRest* rest = tg_rest(p);
   if (w->first == NULL || rest->wanted != 1 || mark == TG_NO_MARK
       || !tlb_plain_is_full(w->first, key))
      return NOT_SHORT;
   const UInt entry = tlb_plain_oldest(w->first, key);
   TgPage* victim = (TgPage*)(void*)((UChar*)w->first->short_cut[entry]
                                     - offsetof(TgPage, time));
   Bool needed = False;
   for (UInt i = 0; i < tg_segment_pages.n; i++)
      needed |= tg_segment_pages.page[i] == victim;
   if (needed)
      return NEEDED;
   tg_rest(victim)->wanted |= 1;
   tlb_plain_replace(w->first, entry, key, &p->time);
   rest->wanted = 0;
   p->time = now;
   if (r->kind == TG_FETCH) {
      victim->tag = TG_UNKNOWN;
      p->tag = 0;
   } else {
      tg_data_unknown(victim);
      tg_data_unknown(tg_writes(victim));
      tg_data_settle(p);
   }
   if (r->misses == NULL)
      r->misses = tg_line_misses(tg_site_line(r->site), r->kind);
   r->misses[0]++;
   const UInt hit = tlb_plain_find(w->second, key);
   if (UNLIKELY(hit == TLB_MISS)) {
      walk_after_second(r, number, now);
   } else {
      w->second->time[hit] = now;
      r->misses[TG_CYCLES - TG_MISS_1] += w->hit_cycles;
   }
   return DONE;
}

static void find_short_way(TgKind kind)
{
   TgLane* lane = &tg_lanes[0];
   const UInt shift = lane->h.base_shift;
   const tlb_route* route = tlb_route_of(&lane->h, kind, shift, shift);
   const tlb_stop* stop = &route->at[1];
   tlb_array* first = lane->front[kind].array;
   short_way[kind].first = NULL;
   if (tg_n_lanes > 1 || !fast_path || tg_knowledge.split || first == NULL
       || !first->plain || lane->h.entry_level[kind] != 0 || stop->n != 1
       || stop->shift[0] != shift || !lane->h.array[stop->array[0]].plain)
      return;
   const uint32_t cycles = lane->machine->m.array[stop->array[0]].hit_cycles;
   short_way[kind] = (ShortWay){
      .first = first, .second = &lane->h.array[stop->array[0]],
      .hit_cycles = cycles == TLB_UNKNOWN ? 0 : cycles };
}

void tg_translate_lanes_changed(void)
{
   for (UInt kind = 0; kind < TG_N_KINDS; kind++)
      find_short_way(kind);
}

/* --- All ways --- */

static Bool refer(TgRef* r, TgPage* p, UWord number, ULong now, ULong mark)
{
   touch(r, p, number);
   return refer_all(r, p, number, r->kind, now, mark)
          && (!r->modifies || !tg_knowledge.split
              || refer_all(r, p, number, TG_WRITE, now, mark));
}

Bool tg_translate(TgRef* r, TgPage* p, UWord number, ULong now, ULong mark)
{
   switch (go_short_way(r, p, number, now, mark)) {
   case DONE: return True;
   case NEEDED: return False;
   case NOT_SHORT: break;
   }
   if (mark != TG_NO_MARK)
      tg_segment_mark(mark);
   begin_reference();
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
   begin_reference();
   if (o.missed)
      book(r, &tg_lanes[0], &o);
}
