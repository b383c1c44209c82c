/* What a replay has counted, by part of the run and line. See simulate/replay.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdlib.h>
#include <string.h>

#include "sim/mmu/miss_counts.h"
#include "sim/pages/advice_report.h"
#include "simulate/replay_parts.h"

/* --- Parts --- */

void tg_replay_add_part(TgReplay *r)
{
   for (group *g = r->group; g < r->group + r->n_groups; g++) {
      part *const p = &g->part[r->n_parts];
      *p = (part){ .room = 0, .extra = tg_load_need(calloc(g->all->n_mmus, sizeof *p->extra)) };
   }
   r->n_parts++;
}

void tg_replay_keep_extra(const TgReplay *r, group *g)
{
   uint64_t (*const extra)[TLB_N_USERS][TLB_N_COSTS] = g->part[r->at_hand].extra;
   for (unsigned i = 0; g->counts && i < g->all->n_mmus; i++) {
      for (unsigned user = 0; user < TLB_N_USERS; user++) {
         for (unsigned j = 0; j < TLB_N_COSTS; j++)
            extra[i][user][j] += tlb_missed_extra(g->all, g->all->mmu[i].counts)[user][j];
      }
   }
   tlb_missed_zero_extra(g->all);
}

static void keep_extra(TgReplay *r)
{
   for (group *g = r->group; g < r->group + r->n_groups; g++)
      tg_replay_keep_flushes(r, g);
   for (group *g = r->group; g < r->group + r->n_groups; g++)
      tg_replay_keep_extra(r, g);
}

bool tg_replay_part(TgReplay *r, unsigned number)
{
   if (number > r->n_parts || number == MOST_PARTS)
      return false;
   keep_extra(r);
   tg_replay_settle_calls(r);
   if (number == r->n_parts)
      tg_replay_add_part(r);
   r->at_hand = number;
   return true;
}

void tg_replay_free_part(const part *p)
{
   for (unsigned i = 0; i < p->room; i++) {
      for (unsigned user = 0; user < TLB_N_USERS; user++)
         free(p->line[i].counts[user]);
   }
   for (unsigned i = 0; i < p->arc_room; i++)
      free(p->arc[i]);
   free(p->arc);
   free(p->line);
   free(p->extra);
}

/* --- Room --- */

unsigned tg_replay_room(unsigned n_lines, unsigned room)
{
   room = room == 0 ? 64 : room;
   while (room < n_lines)
      room *= 2;
   return room;
}

void tg_replay_make_room(const TgReplay *r, part *p)
{
   const unsigned room = tg_replay_room(r->n_lines, p->room);
   p->line = tg_load_need(realloc(p->line, room * sizeof *p->line));
   for (unsigned i = p->room; i < room; i++)
      p->line[i] = (line_counts){ { NULL } };
   p->room = room;
}

void tg_replay_make_room_for_changes(TgReplay *r)
{
   const unsigned room = tg_replay_room(r->n_lines, r->changed_room);
   r->changed = tg_load_need(realloc(r->changed, (size_t)room * TG_N_COUNTED * sizeof *r->changed));
   r->is_changed = tg_load_need(realloc(r->is_changed, room * sizeof *r->is_changed));
   memset(r->is_changed + r->changed_room, 0, (room - r->changed_room) * sizeof *r->is_changed);
   r->changed_room = room;
}

/* --- Counts --- */

static void settle_counts(void *opaque, uint64_t *counts)
{
   const group *const g = opaque;
   for (unsigned user = 0; user < TLB_N_USERS; user++)
      tlb_mmus_settle(g->all, user, counts + user * g->n_counts);
}

void tg_replay_settle_group(const TgReplay *r, group *g)
{
   if (g->calls != NULL)
      tg_call_costs_each(g->calls, settle_counts, g);
   for (const part *p = g->part; p < g->part + r->n_parts; p++) {
      for (unsigned i = 0; i < p->arc_room; i++) {
         if (p->arc[i] != NULL)
            settle_counts(g, p->arc[i]);
      }
   }
   for (const part *p = g->part; p < g->part + r->n_parts; p++) {
      for (unsigned i = 0; i < p->room && i < r->n_lines; i++) {
         for (unsigned user = 0; user < TLB_N_USERS; user++) {
            if (p->line[i].counts[user] != NULL)
               tlb_mmus_settle(g->all, user, p->line[i].counts[user]);
         }
      }
   }
}

void tg_replay_zero(TgReplay *r)
{
   for (group *g = r->group; g < r->group + r->n_groups; g++) {
      for (unsigned i = 0; i < r->n_parts; i++)
         tg_replay_free_part(&g->part[i]);
      tlb_missed_zero_extra(g->all);
      tg_replay_forget_flushes(g);
      if (g->calls != NULL)
         tg_call_costs_zero(g->calls);
   }
   r->n_parts = r->at_hand = r->n_changed = 0;
   tg_replay_forget_changed_arcs(r);
   free(r->changed);
   free(r->is_changed);
   r->changed = NULL;
   r->is_changed = NULL;
   r->changed_room = 0;
   tg_replay_add_part(r);
}

unsigned tg_replay_n_machines(const TgReplay *r)
{
   unsigned n = 0;
   for (const group *g = r->group; g < r->group + r->n_groups; g++)
      n += g->all->n_mmus;
   return n;
}

unsigned tg_replay_n_changed(const TgReplay *r)
{
   return r->n_changed;
}

void tg_replay_changed(const TgReplay *r, unsigned i, unsigned *line, TgCounted *what)
{
   *line = r->changed[i].line;
   *what = r->changed[i].what;
}

void tg_replay_forget_changes(TgReplay *r)
{
   for (unsigned i = 0; i < r->n_changed; i++)
      r->is_changed[r->changed[i].line - 1][r->changed[i].what] = false;
   r->n_changed = 0;
}

unsigned tg_counted_costs(TgCounted what)
{
   return what == TG_COUNTED_FLUSHES ? TLB_N_FLUSH_COSTS
          : what == TG_COUNTED_PREFETCHES ? TLB_N_PREFETCH_COSTS : TLB_N_COSTS;
}

const uint64_t *tg_replay_costs(const TgReplay *r, unsigned nth, unsigned line, TgCounted what)
{
   static const uint64_t none[TLB_N_COSTS + TLB_N_FLUSH_COSTS + TLB_N_PREFETCH_COSTS];
   const place *const at = &r->place[nth];
   const tlb_mmus *const all = at->in->all;
   const part *const p = &at->in->part[0];
   const tlb_user user = what < TG_COUNTED_FLUSHES ? (tlb_user)what : TLB_LOAD;
   const uint64_t *const counts = line <= p->room ? p->line[line - 1].counts[user] : NULL;
   if (counts == NULL || (what == TG_COUNTED_FLUSHES && !all->flushes)
       || (what == TG_COUNTED_PREFETCHES && !all->prefetches))
      return none;
   return counts + (what == TG_COUNTED_FLUSHES      ? tlb_mmus_flushes_at(all, at->number)
                    : what == TG_COUNTED_PREFETCHES ? tlb_mmus_prefetches_at(all, at->number)
                                                    : tlb_mmus_cost_of(all, at->number));
}

void tg_replay_settle(TgReplay *r)
{
   keep_extra(r);
   tg_replay_settle_calls(r);
   for (group *g = r->group; g < r->group + r->n_groups; g++)
      tg_replay_settle_group(r, g);
}

unsigned tg_replay_n_changed_arcs(const TgReplay *r)
{
   return r->n_changed_arcs;
}

unsigned tg_replay_changed_arc(const TgReplay *r, unsigned i)
{
   return r->changed_arc[i];
}

void tg_replay_forget_changed_arcs(TgReplay *r)
{
   for (unsigned i = 0; i < r->n_changed_arcs; i++)
      r->is_changed_arc[r->changed_arc[i] - 1] = false;
   r->n_changed_arcs = 0;
}

unsigned tg_replay_n_arcs(const TgReplay *r)
{
   return r->n_arcs;
}

unsigned tg_replay_n_lines(const TgReplay *r)
{
   return r->n_lines;
}

unsigned tg_replay_levels(const TgReplay *r, unsigned nth)
{
   return r->place[nth].in->all->mmu[r->place[nth].number].h.levels;
}

static bool has(const TgSelection *parts, unsigned number)
{
   return parts == NULL || (number < parts->n && parts->has[number]);
}

void tg_replay_add(const TgReplay *r, unsigned nth, unsigned line, const TgSelection *parts,
                   uint64_t cost[TLB_N_USERS][TLB_N_COSTS])
{
   const group *const g = r->place[nth].in;
   const size_t at = tlb_mmus_cost_of(g->all, r->place[nth].number);
   for (unsigned number = 0; number < r->n_parts; number++) {
      const part *const p = &g->part[number];
      for (unsigned user = 0; has(parts, number) && line <= p->room && user < TLB_N_USERS; user++) {
         const uint64_t *const counts = p->line[line - 1].counts[user];
         for (unsigned i = 0; counts != NULL && i < TLB_N_COSTS; i++)
            cost[user][i] += counts[at + i];
      }
   }
}

void tg_replay_add_arc(const TgReplay *r, unsigned nth, unsigned arc, const TgSelection *parts,
                       uint64_t cost[TLB_N_USERS][TLB_N_COSTS])
{
   const group *const g = r->place[nth].in;
   const size_t at = tlb_mmus_cost_of(g->all, r->place[nth].number);
   for (unsigned number = 0; number < r->n_parts; number++) {
      const part *const p = &g->part[number];
      if (!has(parts, number) || arc > p->arc_room || p->arc[arc - 1] == NULL)
         continue;
      for (unsigned user = 0; user < TLB_N_USERS; user++) {
         for (unsigned i = 0; i < TLB_N_COSTS; i++)
            cost[user][i] += p->arc[arc - 1][user * g->n_counts + at + i];
      }
   }
}

/* Adds n counts, which begin at `at` among those for loads. */
static void add_of_loads(const TgReplay *r, const group *g, unsigned line, const TgSelection *parts,
                         size_t at, unsigned n, uint64_t *cost)
{
   for (unsigned number = 0; number < r->n_parts; number++) {
      const part *const p = &g->part[number];
      if (!has(parts, number) || line > p->room || p->line[line - 1].counts[TLB_LOAD] == NULL)
         continue;
      for (unsigned i = 0; i < n; i++)
         cost[i] += p->line[line - 1].counts[TLB_LOAD][at + i];
   }
}

void tg_replay_add_flushes(const TgReplay *r, unsigned nth, unsigned line, const TgSelection *parts,
                           uint64_t cost[TLB_N_FLUSH_COSTS])
{
   const group *const g = r->place[nth].in;
   if (g->all->flushes)
      add_of_loads(r, g, line, parts, tlb_mmus_flushes_at(g->all, r->place[nth].number),
                   TLB_N_FLUSH_COSTS, cost);
}

void tg_replay_add_prefetches(const TgReplay *r, unsigned nth, unsigned line,
                              const TgSelection *parts, uint64_t cost[TLB_N_PREFETCH_COSTS])
{
   const group *const g = r->place[nth].in;
   if (g->all->prefetches)
      add_of_loads(r, g, line, parts, tlb_mmus_prefetches_at(g->all, r->place[nth].number),
                   TLB_N_PREFETCH_COSTS, cost);
}

void tg_replay_extra(const TgReplay *r, unsigned nth, const TgSelection *parts,
                     uint64_t extra[TLB_N_USERS][TLB_N_COSTS])
{
   const place *const at = &r->place[nth];
   for (unsigned number = 0; number < r->n_parts; number++) {
      for (unsigned user = 0; has(parts, number) && user < TLB_N_USERS; user++) {
         for (unsigned i = 0; i < TLB_N_COSTS; i++)
            extra[user][i] += at->in->part[number].extra[at->number][user][i];
      }
   }
}

void tg_replay_backing(const TgReplay *r, unsigned nth, tlb_backing_line *line, void *opaque)
{
   const group *const g = r->place[nth].in;
   const TgSimulated *const s = r->place[nth].given;
   if (g->map != NULL)
      tlb_backing_out_file(g->map, g->view, &s->m, &s->pages, line, opaque);
}

tlb_rule_effect tg_replay_variant(const TgReplay *r, unsigned nth, unsigned number,
                                  tlb_backing_line *line, void *opaque)
{
   const group *const g = r->place[nth].in;
   const TgSimulated *const s = r->place[nth].given;
   tlb_advice_same_keys(g->map, g->view, &s->m, &s->pages, number, line, opaque);
   return tlb_backing_effect(g->map, g->view, s->pages.n_rules - 1);
}
