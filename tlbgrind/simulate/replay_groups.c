/* The machines of a replay, in groups that share a page map. See simulate/replay.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdlib.h>
#include <string.h>

#include "sim/mmu/late_misses.h"
#include "sim/record/late_uses.h"
#include "sim/tlb/hierarchy.h"
#include "simulate/replay_parts.h"

/* The sizes of a recording, and on which side one set of base pages has all. */
static void read_strength(TgReplay *r, const tlb_strength *s)
{
   r->size[r->n_sizes++] = (uint8_t)s->base_page_shift;
   for (uint64_t rest = s->large; rest != 0; rest &= rest - 1)
      r->size[r->n_sizes++] = (uint8_t)__builtin_ctzll(rest);
   for (unsigned i = 0; i < TLB_N_TABLES; i++)
      r->in_order[i] = tlb_strength_sets(s, i == TLB_CODE) == 1;
   r->prefetches = tlb_strength_has_prefetches(s) != 0;
   for (unsigned what = 0; what <= TLB_RECORD_BITS; what++)
      r->has_size[what] = (what & TLB_RECORD_USE) == 0
                          || tlb_record_size((uint8_t)what) < r->n_sizes;
}

/* Uses of base pages that are for all machines, and references that are looked up once, and are
   whole. */
static bool is_plain(const TgReplay *r, const group *g, uint8_t what)
{
   const tlb_side side = tlb_side_of_user(what & TLB_RECORD_USER);
   if ((what & TLB_RECORD_USE) != 0)
      return tlb_record_size(what) == 0 && (r->n_sizes == 1 || r->in_order[side]);
   if ((what & TLB_RECORD_USER) == TLB_RECORD_PREFETCH)
      return false;
   const bool is_twice = (what & TLB_RECORD_MODIFIES) != 0 && g->all->traits.split;
   return !is_twice && (what & (TLB_RECORD_IN_PARTS | TLB_RECORD_GOES_ON)) == 0;
}

static void find_pieces(const TgReplay *r, const tlb_machine *m,
                        uint8_t piece[TLB_N_USERS][TLB_MAX_PAGE_SHIFT + 1])
{
   memset(piece, 0, TLB_N_USERS * sizeof *piece);
   for (unsigned user = 0; user < TLB_N_USERS; user++) {
      for (unsigned i = 0; i < r->n_sizes; i++) {
         if (r->size[i] >= m->base_page_shift)
            piece[user][r->size[i]] = tlb_machine_first_stop(m, user, r->size[i]).shift[0];
      }
   }
}

static tlb_mmu_machine mmu_machine(const TgReplay *r, const TgSimulated *s)
{
   static const tlb_page_policy base_pages;
   if (r->backing != 0)
      return (tlb_mmu_machine){ .machine = &s->m, .pages = &base_pages,
                                .asks = r->physical != NULL || r->backing != r->size[0] };
   return (tlb_mmu_machine){ .machine = &s->m, .pages = &s->pages,
                             .asks = tlb_mmus_asks(&s->m, &s->pages), .flush = s->flush,
                             .prefetch = s->prefetch,
                             .shared = r->switches.every > 0
                                       || s->syscalls.how != TLB_SYSCALLS_NONE };
}

/* Which of the machines are alike, by the number of the first; `of`: that of each. */
static void find_groups(const TgReplay *r, unsigned n, unsigned of[TLB_MAX_MMUS])
{
   for (unsigned i = 0; i < n; i++) {
      const tlb_mmu_machine one = mmu_machine(r, r->place[i].given);
      uint8_t mine[TLB_N_USERS][TLB_MAX_PAGE_SHIFT + 1], other[TLB_N_USERS][TLB_MAX_PAGE_SHIFT + 1];
      find_pieces(r, one.machine, mine);
      for (of[i] = 0; of[i] < i; of[i]++) {
         const tlb_mmu_machine first = mmu_machine(r, r->place[of[i]].given);
         find_pieces(r, first.machine, other);
         if (of[of[i]] == of[i] && tlb_mmus_share_view(&first, &one)
             && memcmp(mine, other, sizeof mine) == 0)
            break;
      }
   }
}

static tlb_backing backing_of(void *opaque, unsigned view, uint64_t address)
{
   const TgReplay *const r = opaque;
   (void)view;
   if (r->physical != NULL)
      return tg_physical_backing(r->physical, address);
   return (tlb_backing){ r->backing, r->backing };
}

static void find_lacking(group *g, const tlb_strength *s, const tlb_machine *m, uint64_t bit)
{
   if (tlb_late_may_lack(s, m, TLB_FETCHES))
      g->may_lack[TLB_CODE] |= bit;
   if (tlb_late_may_lack(s, m, TLB_LOADS | TLB_STORES))
      g->may_lack[TLB_DATA] |= bit;
}

static void make_group(TgReplay *r, group *g, const unsigned *of, unsigned first, unsigned n,
                       const tlb_strength *s, bool nested)
{
   tlb_mmu_machine machine[TLB_MAX_MMUS] = { { .machine = NULL } };
   tlb_mmus_options options = { .machine = machine, .page_shift = s->base_page_shift,
                                .nested = nested, .memory = tg_load_memory,
                                .backing = backing_of, .opaque = r };
   for (unsigned i = first; i < n; i++) {
      if (of[i] != first)
         continue;
      r->place[i].in = g;
      r->place[i].number = options.n;
      machine[options.n++] = mmu_machine(r, r->place[i].given);
   }
   for (unsigned i = 0; i < options.n; i++)
      find_lacking(g, s, machine[i].machine, UINT64_C(1) << i);
   if (s->large != 0) {
      g->map = tg_load_need(malloc(sizeof *g->map));
      tlb_pagemap_init(g->map, &tg_load_memory);
      options.map = g->map;
   }
   g->all = tlb_mmus_new(&options);
   tlb_late_begin(g->all);
   g->view = g->all->mmu[0].view;
   find_pieces(r, machine[0].machine, g->piece);
   for (unsigned what = 0; what <= TLB_RECORD_BITS; what++)
      g->is_plain[what] = is_plain(r, g, (uint8_t)what);
   g->n_counts = tlb_mmus_n_counts(g->all);
   g->of_uses = tg_load_need(calloc(g->n_counts, sizeof *g->of_uses));
   g->uncounted = tg_load_need(calloc(g->n_counts, sizeof *g->uncounted));
   g->counts = true;
   g->part = tg_load_need(calloc(MOST_PARTS, sizeof *g->part));
}

static TgReplay *make(const TgSimulatedList *list, unsigned first, unsigned step,
                      const tlb_strength *strength, bool nested, unsigned backing,
                      TgPhysical *physical)
{
   TgReplay *const r = tg_load_need(calloc(1, sizeof *r));
   unsigned n = 0, of[TLB_MAX_MMUS];
   r->backing = (uint8_t)backing;
   r->physical = physical;
   r->switches = list->switches;
   read_strength(r, strength);
   for (unsigned i = first; i < list->n; i += step)
      r->place[n++].given = &list->machine[i];
   r->n_machines = n;
   find_groups(r, n, of);
   for (unsigned i = 0; i < n; i++) {
      if (of[i] == i)
         make_group(r, &r->group[r->n_groups++], of, i, n, strength, nested);
   }
   tg_replay_add_part(r);
   return r;
}

TgReplay *tg_replay_new(const TgSimulatedList *list, unsigned first, unsigned step,
                        const tlb_strength *strength, bool nested)
{
   return make(list, first, step, strength, nested, 0, NULL);
}

TgReplay *tg_replay_new_backed(const TgSimulatedList *list, unsigned first, unsigned step,
                               unsigned page_shift, bool nested, unsigned backing,
                               TgPhysical *physical)
{
   const tlb_strength strength = { .base_page_shift = page_shift };
   return make(list, first, step, &strength, nested, backing, physical);
}

/* --- End --- */

static void free_group(group *g, unsigned n_parts)
{
   for (unsigned i = 0; i < n_parts; i++)
      tg_replay_free_part(&g->part[i]);
   tg_replay_free_flushes(g);
   free(g->part);
   free(g->of_uses);
   free(g->uncounted);
   if (g->calls != NULL)
      tg_call_costs_free(g->calls);
   tlb_mmus_free(g->all);
   if (g->map != NULL)
      tlb_pagemap_free(g->map);
   free(g->map);
}

void tg_replay_free(TgReplay *r)
{
   for (group *g = r->group; g < r->group + r->n_groups; g++)
      free_group(g, r->n_parts);
   for (unsigned i = 0; i < NAMES; i++) {
      while (r->names[i] != NULL) {
         name *const next = r->names[i]->next;
         free(r->names[i]);
         r->names[i] = next;
      }
   }
   free(r->changed);
   free(r->is_changed);
   free(r->changed_arc);
   free(r->is_changed_arc);
   free(r);
}
