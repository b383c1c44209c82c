/* MMUs that are made, and page sizes that change. See mmu_init.h. */

#include "sim/mmu/mmu_init.h"

#include "sim/mmu/flush.h"
#include "sim/mmu/known_hits.h"
#include "sim/mmu/l1_lookup.h"
#include "sim/mmu/l1_misses.h"
#include "sim/mmu/l1_sharing.h"
#include "sim/mmu/l2_presence.h"
#include "sim/mmu/miss_counts.h"
#include "sim/mmu/one_machine.h"
#include "sim/mmu/mmu_memory.h"
#include "sim/mmu/prefetch.h"
#include "sim/mmu/run_reach.h"
#include "sim/mmu/ports.h"
#include "sim/mmu/traits.h"

/* --- What backs a page --- */

bool tlb_mmus_asks(const tlb_machine *machine, const tlb_page_policy *pages)
{
   if (pages != NULL
       && (pages->n_rules > 0 || pages->thp == TLB_THP_ALWAYS || pages->code_shift != 0))
      return true;
   return tlb_machine_largest_block(machine) != 0;
}

static tlb_backing backing_by_map(void *opaque, unsigned view, uint64_t address)
{
   return tlb_pagemap_backing(opaque, view, address);
}

static tlb_backing base_page(void *opaque, unsigned view, uint64_t address)
{
   const unsigned *const shift = opaque;
   (void)view, (void)address;
   return (tlb_backing){ (uint8_t)*shift, (uint8_t)*shift };
}

static void changed_in_map(void *opaque, uint64_t start, uint64_t end)
{
   const tlb_view_number *const v = opaque;
   tlb_mmus_changed(v->all, v->number, start, end);
}

static bool is_same_rule(const tlb_page_rule *a, const tlb_page_rule *b)
{
   unsigned i = 0;
   while (i < TLB_PATTERN_SIZE && a->pattern[i] == b->pattern[i] && a->pattern[i] != '\0')
      i++;
   return a->number == b->number && a->and_later == b->and_later && a->what == b->what
          && a->how == b->how && a->shift == b->shift
          && (i == TLB_PATTERN_SIZE || a->pattern[i] == b->pattern[i]);
}

static bool are_same_rules(const tlb_page_policy *a, const tlb_page_policy *b)
{
   if (a == NULL || b == NULL)
      return a == b;
   bool same = a->thp == b->thp && a->thp_shift == b->thp_shift
               && a->code_shift == b->code_shift && a->code_from == b->code_from
               && a->n_rules == b->n_rules
               && a->n_pools == b->n_pools;
   for (unsigned i = 0; same && i < a->n_rules; i++)
      same = is_same_rule(&a->rule[i], &b->rule[i]);
   for (unsigned i = 0; same && i < a->n_pools; i++)
      same = a->pool[i].shift == b->pool[i].shift && a->pool[i].pages == b->pool[i].pages;
   return same;
}

bool tlb_mmus_share_view(const tlb_mmu_machine *a, const tlb_mmu_machine *b)
{
   return a->machine->base_page_shift == b->machine->base_page_shift && a->asks == b->asks
          && a->shared == b->shared
          && (a->prefetch == TLB_PREFETCH_IGNORE) == (b->prefetch == TLB_PREFETCH_IGNORE)
          && are_same_rules(a->pages, b->pages);
}

/* The number of the machine's view of the map: that of a machine before it, or a new one. */
static unsigned view_of(tlb_mmus *all, unsigned number)
{
   static const tlb_page_policy none;
   const tlb_mmu_machine *const m = &all->options.machine[number];
   const unsigned block = tlb_machine_largest_block(m->machine);
   for (unsigned i = 0; i < number; i++) {
      if (tlb_mmus_share_view(&all->options.machine[i], m)) {
         tlb_pagemap_look_for(all->options.map, all->mmu[i].view, block);
         return all->mmu[i].view;
      }
   }
   tlb_view_number *const v = tlb_mmus_take(all, sizeof *v);
   *v = (tlb_view_number){ all, all->options.map->n_views };
   tlb_pagemap_add_view(all->options.map, m->machine->base_page_shift,
                        m->pages == NULL ? &none : m->pages, changed_in_map, v);
   tlb_pagemap_look_for(all->options.map, v->number, block);
   return v->number;
}

/* --- Start --- */

static void init_mmu(tlb_mmus *all, unsigned number)
{
   const tlb_mmu_machine *const given = &all->options.machine[number];
   tlb_mmu *const mmu = &all->mmu[number];
   mmu->all = all;
   mmu->number = mmu->counts = number;
   mmu->bit = UINT64_C(1) << number;
   mmu->machine = given->machine;
   mmu->base_shift = given->machine->base_page_shift;
   mmu->asks = given->asks;
   mmu->flush = given->flush;
   mmu->prefetch = given->prefetch;
   all->flushes |= given->flush.how != TLB_FLUSH_NONE;
   all->prefetches |= given->prefetch != TLB_PREFETCH_IGNORE;
   all->apart |= all->flushes || all->prefetches || given->shared;
   mmu->base_pages = !mmu->asks && mmu->base_shift == all->traits.page_shift;
   mmu->view = all->options.map == NULL ? given->view : view_of(all, number);
   mmu->memory = tlb_mmus_take(all, tlb_hierarchy_bytes(mmu->machine));
   tlb_mmu_make_arrays(mmu);
   mmu->tells_apart = tlb_tells_apart(mmu);
   mmu->alone = tlb_has_inclusion(mmu, TLB_INCLUSIVE) || tlb_has_inclusion(mmu, TLB_EXCLUSIVE);
   mmu->asked_always = tlb_has_doubles(mmu) || tlb_has_pairs_first(mmu)
                       || tlb_sees_hits_first(mmu);
}

/* What the machine adds to the run's traits. */
static void add_traits(tlb_run_traits *k, const tlb_mmu *mmu)
{
   for (unsigned user = 0; user < TLB_N_USERS; user++) {
      if (!mmu->follows[tlb_mmu_side(mmu, user)])
         *tlb_first_observers(k, user) |= mmu->bit;
   }
   k->apart |= mmu->tells_apart ? mmu->bit : 0;
   k->mixed |= tlb_is_mixed(mmu) || tlb_drives_out_code(mmu);
   k->own_times |= tlb_has_also_behind(mmu);
   k->code_behind |= tlb_has_code_behind(mmu);
   if (!tlb_mmu_is_plain(mmu))
      k->wide |= mmu->bit;
   if (mmu->base_shift > k->page_shift && tlb_has_inclusion(mmu, TLB_INCLUSIVE))
      k->once |= mmu->bit;
}

static void find_traits(tlb_mmus *all, uint64_t others)
{
   tlb_run_traits *const k = &all->traits;
   for (unsigned i = 0; i < all->n_mmus; i++) {
      if (all->mmu[i].counts == i)
         add_traits(k, &all->mmu[i]);
   }
   k->split = k->apart != 0 || all->options.apart;
   k->writes = k->split || (others & TLB_OBSERVER_FAULTS) != 0;
   if (!k->split)
      k->write_observers = 0;
   if (all->options.idle)
      k->apart = k->observers[TLB_DATA] = k->observers[TLB_CODE] = k->write_observers = 0;
   k->observers[TLB_DATA] |= others;
   k->observers[TLB_CODE] |= others;
   k->write_observers |= k->split ? others : others & TLB_OBSERVER_FAULTS;
}

/* An array that code and data ask first has entries whose pages have two records each, and
   no time of one is that of both: a run with such a machine simulates every reference. So does
   one with machines that ignore prefetches beside others: a page's record has one time for all.
   And one with an inclusive level: any miss can make any page unknown, that of the code that
   executes, too, and others of a segment that is half done. */
static bool has_fast_path(const tlb_mmus *all)
{
   for (unsigned i = 0; i < all->n_mmus; i++) {
      if (tlb_is_mixed(&all->mmu[i]) || tlb_has_inclusion(&all->mmu[i], TLB_INCLUSIVE)
          || (all->prefetches && all->mmu[i].prefetch == TLB_PREFETCH_IGNORE))
         return false;
   }
   return !all->options.exhaustive;
}

void tlb_mmus_init(tlb_mmus *all, const tlb_mmus_options *options, uint64_t others,
                   tlb_page_record *near, tlb_page_number n_near)
{
   tlb_mmus_options *const o = &all->options;
   *o = *options;
   all->traits.page_shift = o->page_shift;
   all->n_mmus = o->n;
   all->mmu = tlb_mmus_take_zeroes(all, o->n * sizeof *all->mmu);
   if (o->map != NULL) {
      o->backing = backing_by_map;
      o->opaque = o->map;
   } else if (o->backing == NULL) {
      o->backing = base_page;
      o->opaque = &o->page_shift;
   }
   for (unsigned i = 0; i < o->n; i++) {
      init_mmu(all, i);
      if (all->n_views <= all->mmu[i].view)
         all->n_views = all->mmu[i].view + 1;
   }
   all->fast_path = has_fast_path(all);
   for (unsigned i = 0; all->fast_path && !all->apart && i < o->n; i++)
      all->mmu[i].large = tlb_large_of(&all->mmu[i]);
   if (all->fast_path && !all->apart)
      tlb_sharing_find(all);
   find_traits(all, others);
   tlb_known_init(all, near, n_near);
   for (tlb_mmu *mmu = all->mmu; mmu < all->mmu + o->n; mmu++)
      tlb_mmu_make_ports(mmu);
   tlb_l2_find(all);
   tlb_flush_init(all);
   tlb_prefetch_init(all);
   tlb_missed_init(all);
   tlb_l1_groups_find(all);
   tlb_one_machine_find(all);
   if ((others & TLB_OBSERVER_REACH) != 0)
      tlb_run_reach_init(all);
   o->machine = NULL; /* the caller's, and may go */
}

/* --- Page sizes that change --- */

/* Entries stay where they are, under their old size: nothing invalidates them here. */
void tlb_mmus_changed(tlb_mmus *all, unsigned view, uint64_t start, uint64_t end)
{
   const unsigned shift = all->traits.page_shift;
   const tlb_page_number first = (tlb_page_number)(start >> shift);
   const tlb_page_number n = (tlb_page_number)((end - start) >> shift);
   uint64_t bits = 0;
   if (n == 0)
      return;
   for (unsigned i = 0; i < all->n_mmus; i++) {
      tlb_mmu *const mmu = &all->mmu[i];
      if (mmu->view != view || !mmu->asks)
         continue;
      bits |= mmu->bit;
      tlb_l1_release_between(mmu, first, first + (n - 1));
   }
   if (bits == 0)
      return; /* what backs a page has been asked in no machine of the view */
   for (unsigned table = 0; table < TLB_N_TABLES; table++)
      tlb_pages_forget(all, table, first, n, bits, view);
}

void tlb_mmus_ask(tlb_mmus *all)
{
   const tlb_page_number end = ~(tlb_page_number)0;
   uint64_t bits = 0;
   for (unsigned i = 0; i < all->n_mmus; i++)
      bits |= all->mmu[i].asks ? 0 : all->mmu[i].bit;
   if (bits == 0)
      return;
   for (unsigned user = 0; user < TLB_N_USERS && all->counts[user] != NULL; user++)
      tlb_l2_settle(all, tlb_side_of_user(user), all->counts[user]);
   tlb_sharing_part(all);
   tlb_l2_part(all);
   for (uint64_t rest = bits; rest != 0; rest &= rest - 1) {
      tlb_mmu *const mmu = &all->mmu[__builtin_ctzll(rest)];
      tlb_l1_release_between(mmu, 0, end);
      mmu->base_pages = false;
      mmu->large = 0;
      mmu->asks = true;
   }
   all->traits.wide |= bits;
   for (unsigned table = 0; table < TLB_N_TABLES; table++)
      tlb_pages_forget(all, table, 0, end, bits, TLB_NO_VIEW);
   tlb_l1_groups_find(all);
   tlb_one_machine_find(all);
}

/* A run without such observers keeps no tags for writes. */
static void watch_writes(tlb_mmus *all, tlb_page *p, void *opaque)
{
   const unsigned shift = all->traits.page_shift;
   (void)opaque;
   if (tlb_space_of(all, tlb_page_number_of_data(p, shift)) == 0)
      tlb_rest(p)->write_observers |= TLB_OBSERVER_FAULTS;
   tlb_data_unknown(tlb_writes(p), shift);
}

bool tlb_mmus_watch_writes(tlb_mmus *all)
{
   const bool is_first = !all->traits.writes;
   all->traits.writes = true;
   all->traits.write_observers |= TLB_OBSERVER_FAULTS;
   tlb_pages_each(all, TLB_DATA, watch_writes, NULL);
   return is_first;
}
