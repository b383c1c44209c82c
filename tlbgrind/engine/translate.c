/* One reference, as all machines of the run see it. See engine/translate.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"

#include "mmu/l2_presence.h"
#include "faults/recorder.h"
#include "mmu/l1_misses.h"
#include "mmu/miss_counts.h"
#include "mmu/reach.h"
#include "trace/segment_run.h"
#include "mmu/l1_sharing.h"
#include "engine/translate.h"

static Bool fast_path;

void tg_translate_init(const TgOptions* options)
{
   fast_path = options->fast_path;
}

/* What the machine and those that follow it have missed in their first levels. */
static void miss(TgRef* r, TgMmu* leader, TgTable table, TgPage* p,
                 const tlb_reference* ref)
{
   const UInt large = leader->large;
   tlb_lazy_lru_page* l2
      = tg_n_mmus == 1 ? NULL
        : tg_l2_of_page(table, tg_first_page(p, (UWord)ref->page, large), large);
   TgMissed missed = { 0, 0, 0 };
   const TgMissGroup* s = &leader->miss_group[tg_side_of(leader, ref->user)];
   tg_missed_group(&missed, tg_ref_misses(r) + tg_miss_groups_at(), l2, s,
                    tg_sizes_missed(s, l2, tg_evicted), ref->now);
   tg_missed_ask(r, &missed, table, l2, ref);
}

/* Machines without a front, one after the other. Not part of the common way, which has
   to be short: there are programs with more hot code than a processor's first cache
   holds. */
static __attribute__((noinline))
void refer_each(TgRef* r, TgPage* p, UWord number, TgKind kind, ULong now, ULong observers)
{
   const TgTable table = tg_table_of_kind(kind);
   if ((observers & TG_OBSERVER_REACH) != 0)
      tg_reach_refer(table, p, number, now);
   observers &= TG_OBSERVERS_MMUS;
   for (; observers != 0; observers &= observers - 1) {
      TgMmu* mmu = &tg_mmus[__builtin_ctzll(observers)];
      tlb_reference ref;
      tg_evicted = NULL;
      if (tg_mmu_refer(mmu, p, number, kind, now, &ref))
         miss(r, mmu, table, p, &ref);
   }
}

/* All machines that want to see a reference of that kind. */
static void refer_all(TgRef* r, TgPage* p, UWord number, TgKind kind, ULong now)
{
   const Bool write = kind == TG_WRITE && tg_run_traits.split;
   const TgTable table = tg_table_of_kind(kind);
   ULong observers = write ? tg_rest(p)->write_observers : tg_rest(p)->observers;
   observers &= TG_OBSERVERS_MMUS | TG_OBSERVER_REACH;
   for (const TgL1Group* f = tg_l1_groups; f < tg_l1_groups + tg_n_l1_groups; f++) {
      const ULong have_l1s = observers & f->mmus[kind];
      if (have_l1s == 0)
         continue;
      observers &= ~have_l1s;
      observers |= tg_l1_group_miss(f, r, p, number, kind, have_l1s, now);
   }
   if (observers != 0)
      refer_each(r, p, number, kind, now, observers);
   (write ? tg_writes(p) : p)->time = now;
   if (fast_path)
      tg_settle(table, p);
}

/* The first read, fetch or write of a page, for the fault log. */
static void touch(const TgRef* r, TgPage* p, UWord number)
{
   TgRest* rest = tg_rest(p);
   const Bool writes = r->kind == TG_WRITE || r->modifies || r->locked;
   const ULong observers = writes ? rest->write_observers : rest->observers;
   if (LIKELY((observers & TG_OBSERVER_FAULTS) == 0))
      return;
   tg_faults_touch(r->site, r->kind == TG_FETCH ? TLB_TOUCH_FETCH
                            : writes            ? TLB_TOUCH_WRITE
                                                : TLB_TOUCH_READ,
                   number << tg_run_traits.page_shift, tg_instructions_before(r));
   /* What has been written to can be read. */
   rest->observers &= ~TG_OBSERVER_FAULTS;
   if (writes)
      rest->write_observers &= ~TG_OBSERVER_FAULTS;
}

static void refer(TgRef* r, TgPage* p, UWord number, ULong now)
{
   touch(r, p, number);
   refer_all(r, p, number, r->kind, now);
   if (r->modifies && tg_run_traits.split)
      refer_all(r, p, number, TG_WRITE, now);
}

void tg_translate(TgRef* r, TgPage* p, UWord number, ULong now, Bool on_one_page)
{
   tg_missed_begin(!on_one_page  ? TG_OBSERVERS_MMUS
                   : r->modifies ? tg_run_traits.apart : 0);
   refer(r, p, number, now);
}

void tg_translate_second(TgRef* r, TgPage* p, UWord number, ULong now)
{
   refer(r, p, number, now);
}

void tg_translate_as_cachegrind(TgRef* r, UWord first, UWord last, ULong now)
{
   tlb_hierarchy* h = &tg_mmus[0].h;
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
      tg_missed_book(r, &tg_mmus[0], &o);
}
