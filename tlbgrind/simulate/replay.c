/* The replay of a recording: what its records, points and events do. See simulate/replay.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdlib.h>
#include <string.h>

#include "sim/mmu/late_misses.h"
#include "sim/mmu/refer.h"
#include "simulate/replay_parts.h"

/* --- Records --- */

/* A known hit only has its time noted. `before`: the page of the reference's first part, if this is
   another; else the page itself. */
static void refer_behind(group *g, uint64_t *counts, tlb_user user, uint64_t before, uint64_t page,
                         uint64_t now)
{
   const bool split = g->all->traits.split;
   tlb_page *const p = tlb_page_of(g->all, tlb_side_of_user(user), (tlb_page_number)page);
   if (*tlb_observers_of(p, user, split) == 0)
      tlb_probe(p, split ? tlb_probe_at(user) : 0)->time = now;
   else if (before == page)
      tlb_refer_all(g->all, counts, p, (tlb_page_number)page, user, now);
   else
      tlb_refer_second(g->all, counts, p, (tlb_page_number)before, (tlb_page_number)page, user,
                       now);
}

static void refer(group *g, uint64_t *counts, tlb_user user, uint64_t page, uint64_t now)
{
   refer_behind(g, counts, user, page, page, now);
}

/* The size of the page as far as these machines know. */
static unsigned size_of_page(const group *g, uint64_t page)
{
   const unsigned base = g->all->traits.page_shift;
   return g->map == NULL || !g->all->mmu[0].asks
             ? g->all->mmu[0].base_shift : tlb_pagemap_shift(g->map, g->view, page << base);
}

/* Whether the page is in an entry of the size that the use is of. */
static bool is_for(const TgReplay *r, const group *g, const tlb_record *record)
{
   const tlb_user user = record->what & TLB_RECORD_USER;
   const unsigned size = tlb_record_size(record->what);
   if (size == 0 && (r->n_sizes == 1 || r->in_order[tlb_side_of_user(user)]))
      return true;
   return g->piece[user][size_of_page(g, record->page)] == r->size[size];
}

/* Whether all machines that do not know the page may have given it up before this use of it: see
   sim/record/late_uses.h. Large pages they have. */
static bool is_lacked(const group *g, const tlb_record *record)
{
   const tlb_side side = tlb_side_of_user(record->what & TLB_RECORD_USER);
   const tlb_page *const p = tlb_page_of(g->all, side, (tlb_page_number)record->page);
   return g->may_lack[side] != 0 && tlb_rest(p)->observers != 0
          && (tlb_rest(p)->observers & ~g->may_lack[side]) == 0
          && size_of_page(g, record->page) == g->all->mmu[0].base_shift;
}

static void use(const TgReplay *r, group *g, const tlb_record *record, uint64_t now)
{
   const tlb_user user = record->what & TLB_RECORD_USER;
   if (!is_for(r, g, record))
      return;
   if (is_lacked(g, record)) {
      tlb_page_of(g->all, tlb_side_of_user(user), (tlb_page_number)record->page)->time = now;
      return;
   }
   /* It may stand between two parts of a reference. */
   const uint64_t in_parts = g->all->parts.in_parts;
   g->all->parts.in_parts = 0;
   refer(g, g->of_uses, user, record->page, now);
   g->all->parts.in_parts = in_parts;
}

static void reference(TgReplay *r, group *g, const tlb_record *record, uint64_t now)
{
   const tlb_user user = record->what & TLB_RECORD_USER;
   const bool modifies = (record->what & TLB_RECORD_MODIFIES) != 0;
   const bool is_counted = (record->what & TLB_RECORD_UNCOUNTED) == 0;
   if (is_counted != g->counts) {
      tg_replay_keep_extra(r, g);
      g->counts = is_counted;
   }
   uint64_t *const counts = !is_counted        ? g->uncounted
                            : g->calls != NULL ? tg_call_costs_for(g->calls, record->line, user)
                                               : tg_replay_counts_of(r, g, record->line, user);
   if ((record->what & TLB_RECORD_GOES_ON) == 0) {
      g->first_page = record->page;
      tlb_missed_begin(g->all, (record->what & TLB_RECORD_IN_PARTS) != 0 ? TLB_OBSERVERS_MMUS
                               : modifies ? g->all->traits.apart : 0, user);
   }
   refer_behind(g, counts, user, g->first_page, record->page, now);
   if (modifies && g->all->traits.split)
      refer_behind(g, counts, TLB_STORE, g->first_page, record->page, now);
}

static void prefetch(TgReplay *r, group *g, const tlb_record *record, uint64_t now)
{
   if (!g->all->prefetches)
      return;
   uint64_t *const counts = (record->what & TLB_RECORD_UNCOUNTED) != 0
                               ? g->uncounted : tg_replay_counts_of(r, g, record->line, TLB_LOAD);
   if (r->at_hand == 0 && counts != g->uncounted)
      tg_replay_note_change(r, record->line, TG_COUNTED_PREFETCHES);
   tlb_mmus_prefetch_page(g->all, counts, record->page, now,
                          (record->what & TLB_RECORD_PRESENT) != 0);
}

/* Each new line has the next number, and each use is of pages of some size. */
static const char *check(TgReplay *r, const tlb_record *record, unsigned n)
{
   unsigned n_lines = r->n_lines;
   bool has_size = true, is_turn = true, any_prefetch = false;
   for (unsigned i = 0; i < n; i++) {
      has_size &= r->has_size[record[i].what];
      any_prefetch |= (record[i].what & TLB_RECORD_USER) == TLB_RECORD_PREFETCH;
      is_turn &= record[i].line <= n_lines + 1; /* of a use it is 0 */
      n_lines = record[i].line > n_lines ? record[i].line : n_lines;
   }
   r->n_lines = n_lines;
   return !has_size  ? "a page is said to be of a size that the recording does not have"
          : !is_turn ? "a line has a number that is not its turn"
          : any_prefetch && !r->prefetches ? "it has a prefetch, and its head has none" : NULL;
}

static __attribute__((noinline))
tlb_page *find_code(group *g, uint64_t number)
{
   known_code *const c = &g->code[number % CODE_PAGES];
   *c = (known_code){ number, tlb_page_of(g->all, TLB_CODE, (tlb_page_number)number) };
   return c->page;
}

static inline tlb_page *code_of(group *g, uint64_t number)
{
   const known_code *const c = &g->code[number % CODE_PAGES];
   return TLB_LIKELY(c->number == number && c->page != NULL) ? c->page : find_code(g, number);
}

/* Most records are uses, and only note a time. This is for those of them, and those references,
   that are known hits: the tag of the page's record says so. Whether a record is the one or the
   other cannot be foreseen, so no branch depends on it. */
static void simulate(TgReplay *r, group *g, const tlb_record *record, unsigned n, uint64_t now)
{
   enum { AHEAD = 16 }; /* the memory of so many records on is requested */
   tlb_page_record *const near = g->all->near;
   const tlb_page_number mask = g->all->near_mask;
   const unsigned shift = g->all->traits.page_shift;
   const bool split = g->all->traits.split;
   const uintptr_t probe_at[4] = { 0, 0, split ? tlb_probe_at(TLB_STORE) : 0, 0 };
   for (unsigned i = 0; i < n; i++) {
      const tlb_record *const one = &record[i];
      const tlb_page_number number = (tlb_page_number)one->page;
      const unsigned user = one->what & TLB_RECORD_USER;
      const bool is_code = user == TLB_FETCH;
      tlb_page *const probe = is_code ? code_of(g, one->page)
                                      : tlb_probe(&near[number & mask].page, probe_at[user]);
      __builtin_prefetch(&near[record[i + AHEAD < n ? i + AHEAD : i].page & mask], 1);
      now += TICKS;
      if (TLB_LIKELY(g->is_plain[one->what] && probe->tag >> shift == (is_code ? 0 : number)))
         probe->time = now;
      else if ((one->what & TLB_RECORD_USE) != 0)
         use(r, g, one, now);
      else if (user == TLB_RECORD_PREFETCH)
         prefetch(r, g, one, now);
      else
         reference(r, g, one, now);
   }
}

/* A replay and a group of it, for call_costs.h. */
typedef struct {
   TgReplay *r;
   group *g;
} call_place;

static uint64_t *counts_of_line(void *opaque, unsigned line, tlb_user user)
{
   const call_place *const at = opaque;
   return tg_replay_counts_of(at->r, at->g, line, user);
}

static void note_changed_arc(TgReplay *r, unsigned arc)
{
   if (arc > r->changed_arc_room) {
      const unsigned room = tg_replay_room(arc, r->changed_arc_room);
      r->changed_arc = tg_load_need(realloc(r->changed_arc, room * sizeof *r->changed_arc));
      r->is_changed_arc = tg_load_need(realloc(r->is_changed_arc, room));
      memset(r->is_changed_arc + r->changed_arc_room, 0, room - r->changed_arc_room);
      r->changed_arc_room = room;
   }
   if (!r->is_changed_arc[arc - 1])
      r->changed_arc[r->n_changed_arcs++] = arc;
   r->is_changed_arc[arc - 1] = true;
}

static uint64_t *counts_of_arc(void *opaque, unsigned arc)
{
   const call_place *const at = opaque;
   part *const p = &at->g->part[at->r->at_hand];
   if (at->r->at_hand == 0)
      note_changed_arc(at->r, arc);
   if (arc > p->arc_room) {
      const unsigned room = tg_replay_room(arc, p->arc_room);
      p->arc = tg_load_need(realloc(p->arc, room * sizeof *p->arc));
      memset(p->arc + p->arc_room, 0, (room - p->arc_room) * sizeof *p->arc);
      p->arc_room = room;
   }
   uint64_t **const counts = &p->arc[arc - 1];
   if (*counts == NULL)
      *counts = tg_load_need(calloc(TLB_N_USERS * at->g->n_counts, sizeof **counts));
   return *counts;
}

/* Misses that have been noted are looked up before their counts are added. */
static void add_calls(group *g, TgReplay *r)
{
   call_place at = { r, g };
   tlb_late_do(g->all);
   tg_call_costs_add(g->calls, &at);
}

static const char *end_block(group *g, TgReplay *r)
{
   tlb_late_do(g->all);
   if (g->calls != NULL)
      add_calls(g, r);
   for (size_t i = 0; i < g->n_counts; i++) {
      if (g->of_uses[i] != 0)
         return "a page is said to be in the first level, and is not";
   }
   return NULL;
}

const char *tg_replay_records(TgReplay *r, const tlb_record *record, unsigned n)
{
   const char *const wrong = check(r, record, n);
   if (wrong != NULL)
      return wrong;
   for (group *g = r->group; g < r->group + r->n_groups; g++) {
      simulate(r, g, record, n, r->now);
      const char *const of_uses = end_block(g, r);
      if (of_uses != NULL)
         return of_uses;
   }
   r->now += (uint64_t)n * TICKS;
   return NULL;
}

/* --- Calls --- */

void tg_replay_count_calls(TgReplay *r)
{
   for (group *g = r->group; g < r->group + r->n_groups; g++)
      g->calls = tg_call_costs_new(g->n_counts, counts_of_line, counts_of_arc);
}

/* Simulates records between two moves, as many at once as there is room for their counts. */
static void simulate_between(TgReplay *r, group *g, const tlb_stream_reader *s, unsigned from,
                             unsigned to)
{
   while (from < to) {
      const unsigned room = tg_call_costs_room(g->calls), n = to - from < room ? to - from : room;
      simulate(r, g, s->record + from, n, r->now + (uint64_t)from * TICKS);
      from += n;
      if (tg_call_costs_room(g->calls) == 0)
         add_calls(g, r);
   }
}

/* Simulates the records of a block, with the moves of the stacks. */
static const char *simulate_with_moves(TgReplay *r, group *g, const tlb_stream_reader *s)
{
   const uint8_t *at = s->move;
   unsigned nth = 0, from = 0; /* the next reference, and the next record */
   uint64_t number;
   while (tlb_stream_take_move(s, &at, &number)) {
      if (number == 0) {
         nth++;
         continue;
      }
      const unsigned to = nth < s->n_referred ? s->referred[nth] : s->n;
      simulate_between(r, g, s, from, to);
      from = to;
      const char *const wrong = tg_call_costs_move(g->calls, tlb_move_of(number),
                                                   tlb_move_count(number));
      if (wrong != NULL)
         return wrong;
   }
   simulate_between(r, g, s, from, s->n);
   return end_block(g, r);
}

const char *tg_replay_block(TgReplay *r, const tlb_stream_reader *s)
{
   if (r->group[0].calls == NULL)
      return s->n_moves > 0 ? "calls stand where there are none"
                            : tg_replay_records(r, s->record, s->n);
   const char *wrong = check(r, s->record, s->n);
   for (group *g = r->group; wrong == NULL && g < r->group + r->n_groups; g++)
      wrong = simulate_with_moves(r, g, s);
   r->now += (uint64_t)s->n * TICKS;
   r->n_arcs = tg_call_costs_n_arcs(r->group[0].calls);
   return wrong;
}

void tg_replay_settle_calls(TgReplay *r)
{
   for (group *g = r->group; g < r->group + r->n_groups && g->calls != NULL; g++) {
      call_place at = { r, g };
      tg_call_costs_settle(g->calls, &at);
   }
}

/* --- Others --- */

/* Returns how many times it takes. */
static uint64_t switch_context(TgReplay *r)
{
   for (group *g = r->group; r->switches.every != 0 && g < r->group + r->n_groups; g++) {
      const uint64_t all = ~UINT64_C(0) >> (64 - g->all->n_mmus);
      if (r->switches.pages == 0)
         tlb_mmus_empty(g->all, all);
      else
         tlb_mmus_others(g->all, all, TLB_OTHERS_PROCESS, r->switches.pages, r->now + TICKS, TICKS);
   }
   return 2 * (uint64_t)r->switches.pages;
}

/* Likewise. */
static uint64_t interrupt(const place *at, tlb_point point, uint64_t first, uint64_t last,
                          uint64_t now)
{
   group *const g = at->in;
   const tlb_syscalls *const s = &at->given->syscalls;
   const uint64_t mmu = UINT64_C(1) << at->number;
   if (s->how == TLB_SYSCALLS_FLUSH && (point == TLB_POINT_CALL || point == TLB_POINT_RETURN))
      tlb_mmus_empty(g->all, mmu);
   if (s->how != TLB_SYSCALLS_KERNEL)
      return 0;
   if (point == TLB_POINT_CALL)
      tlb_mmus_others(g->all, mmu, TLB_OTHERS_KERNEL, s->pages, now + TICKS, TICKS);
   for (uint64_t page = first; point >= TLB_POINT_READ && page <= last; page++)
      tlb_mmus_refer_uncounted(g->all, mmu, point == TLB_POINT_WRITE ? TLB_STORE : TLB_LOAD, page,
                               now + (page - first + 1) * TICKS);
   return point == TLB_POINT_CALL ? 2 * (uint64_t)s->pages : last - first + 1;
}

void tg_replay_point(TgReplay *r, tlb_point point, uint64_t first, uint64_t last)
{
   uint64_t most = point == TLB_POINT_SWITCH ? switch_context(r) : 0;
   for (unsigned i = 0; point != TLB_POINT_SWITCH && i < r->n_machines; i++) {
      const uint64_t took = interrupt(&r->place[i], point, first, last, r->now);
      most = most < took ? took : most;
   }
   /* What comes next is later than the last of these. */
   r->now += (most + 1) * TICKS;
}

/* --- Changes of the page map --- */

static const char *kept_name(TgReplay *r, const char *text)
{
   uint32_t sum = 0;
   for (const char *c = text; *c != '\0'; c++)
      sum = sum * 31 + (unsigned char)*c;
   name **at = &r->names[sum % NAMES];
   while (*at != NULL && strcmp((*at)->text, text) != 0)
      at = &(*at)->next;
   if (*at == NULL) {
      const size_t n = strlen(text) + 1;
      *at = tg_load_need(malloc(sizeof **at + n));
      (*at)->next = NULL;
      memcpy((*at)->text, text, n);
   }
   return (*at)->text;
}

void tg_replay_event(TgReplay *r, const tlb_map_event *e)
{
   tlb_map_event copy = *e;
   tlb_mapping m;
   if (e->mapping != NULL) {
      m = *e->mapping;
      m.name = m.name == NULL ? NULL : kept_name(r, m.name);
      copy.mapping = &m;
   }
   for (group *g = r->group; g < r->group + r->n_groups; g++) {
      if (e->what == TLB_EVENT_ASK) {
         tg_replay_settle_group(r, g);
         tlb_mmus_ask(g->all);
      } else if (g->map != NULL) {
         tlb_pagemap_apply(g->map, &copy);
      }
   }
}
