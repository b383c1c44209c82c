/* The replay of a recording. See simulate/replay.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdlib.h>
#include <string.h>

#include "command/load_machine.h"
#include "sim/mmu/late_misses.h"
#include "sim/mmu/miss_counts.h"
#include "sim/mmu/mmu_data.h"
#include "sim/mmu/refer.h"
#include "sim/pages/advice_report.h"
#include "sim/record/late_uses.h"
#include "sim/tlb/hierarchy.h"
#include "simulate/call_costs.h"
#include "simulate/replay.h"

/* How much later each record is than the one before: as much as a reference takes that walks. */
enum { TICKS = 4 };

/* A run with phases and threads has no more. */
enum { MOST_PARTS = 8192 };

typedef struct {
   uint64_t *counts[TLB_N_USERS]; /* NULL: none yet */
} line_counts;

/* A part of the run, which has counts of its own. */
typedef struct {
   unsigned room;
   line_counts *line; /* number 1 is the first */
   unsigned arc_room;
   uint64_t **arc; /* likewise: of all kinds of reference, one behind the other; NULL: none yet */
   uint64_t (*extra)[TLB_N_USERS][TLB_N_COSTS]; /* by machine, but for what came last */
} part;

/* Where the record of a page of code is, by the lower bits of its number: the simulator searches. */
typedef struct {
   uint64_t number;
   tlb_page *page; /* NULL: none yet */
} known_code;

enum { CODE_PAGES = 256 };

/* What flushes at a line have cost. What a flush has thrown away can come back later, in another part
   of the run: so the parts get what has come since they have been told last. */
typedef struct {
   unsigned line;
   uint64_t *now, *told;
} flushed_line;

/* Machines whose pages are of the same sizes at any time, and lie in their first levels as entries
   of the same sizes: so a use of a page is one for all of them, or for none. */
typedef struct {
   tlb_mmus *all;
   tlb_pagemap *map; /* NULL: all pages are base pages */
   unsigned view;
   uint8_t piece[TLB_N_USERS][TLB_MAX_PAGE_SHIFT + 1]; /* the size of entries, by that of the page */
   part *part;        /* room for MOST_PARTS */
   uint64_t may_lack[TLB_N_TABLES]; /* MMUs to which a use of a page that they have not is none */
   uint64_t *of_uses; /* what uses miss: nothing else, if the recording is sound */
   uint64_t *uncounted; /* what references miss whose misses are counted nowhere */
   flushed_line *flushed;
   unsigned n_flushed;
   unsigned *flushed_at; /* by line: 1 more than the number in `flushed`; 0: it is not there */
   unsigned flushed_room;
   uint64_t first_page; /* of the last reference, or of its first part */
   bool counts;         /* the last reference was not such a one */
   size_t n_counts;
   bool is_plain[TLB_RECORD_BITS + 1]; /* by kind of record: of a known hit the time is all there is */
   known_code code[CODE_PAGES];
   TgCallCosts *calls; /* NULL: they are not counted */
} group;

/* Where machine number `nth` is. */
typedef struct {
   group *in;
   unsigned number;
   const TgSimulated *given;
} place;

/* Where something has been counted. */
typedef struct {
   unsigned line;
   TgCounted what;
} counted;

/* A copy of a file's name; equal names are one copy. */
typedef struct name name;

struct name {
   name *next;
   char text[];
};

enum { NAMES = 1 << 10 };

struct TgReplay {
   group group[TLB_MAX_MMUS];
   unsigned n_groups, n_machines;
   place place[TLB_MAX_MMUS];
   uint64_t now;
   unsigned n_lines;
   unsigned n_arcs; /* of calls */
   unsigned n_parts, at_hand; /* of each group */
   counted *changed; /* in part 0, of any group */
   unsigned n_changed;
   bool (*is_changed)[TG_N_COUNTED]; /* by line, number 1 is the first */
   unsigned changed_room; /* for so many lines */
   unsigned *changed_arc; /* numbers, likewise */
   unsigned n_changed_arcs;
   bool *is_changed_arc; /* by number, 1 is the first */
   unsigned changed_arc_room;
   uint8_t backing; /* the logarithm of the size of all pages; 0: as the policies say */
   TgPhysical *physical; /* has the sizes instead; NULL: there is none */
   uint8_t size[TLB_RECORD_SIZES + 1]; /* the recording's sizes of pages */
   unsigned n_sizes;
   tlb_switches switches;
   bool has_size[TLB_RECORD_BITS + 1]; /* by kind of record: its size is one of them */
   bool prefetches; /* the recording tells of them */
   bool in_order[TLB_N_TABLES]; /* uses of base pages tell the order of all pages */
   name *names[NAMES];
};

/* --- Groups --- */

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
      r->has_size[what] = (what & TLB_RECORD_USE) == 0 || tlb_record_size((uint8_t)what) < r->n_sizes;
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
                             .shared = r->switches.every > 0 || s->syscalls.how != TLB_SYSCALLS_NONE };
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

static void add_part(TgReplay *r)
{
   for (group *g = r->group; g < r->group + r->n_groups; g++) {
      part *const p = &g->part[r->n_parts];
      *p = (part){ .room = 0, .extra = tg_load_need(calloc(g->all->n_mmus, sizeof *p->extra)) };
   }
   r->n_parts++;
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
   add_part(r);
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

/* --- Parts --- */

/* Adds up what has come since the last time, unless that is counted nowhere. */
static void keep_extra_of(const TgReplay *r, group *g)
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

static void keep_flushes(TgReplay *r, group *g);
static void settle_calls(TgReplay *r);

static void keep_extra(TgReplay *r)
{
   for (group *g = r->group; g < r->group + r->n_groups; g++)
      keep_flushes(r, g);
   for (group *g = r->group; g < r->group + r->n_groups; g++)
      keep_extra_of(r, g);
}

bool tg_replay_part(TgReplay *r, unsigned number)
{
   if (number > r->n_parts || number == MOST_PARTS)
      return false;
   keep_extra(r);
   settle_calls(r);
   if (number == r->n_parts)
      add_part(r);
   r->at_hand = number;
   return true;
}

static void free_part(const part *p)
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

/* --- Records --- */

static unsigned room_for(unsigned n_lines, unsigned room)
{
   room = room == 0 ? 64 : room;
   while (room < n_lines)
      room *= 2;
   return room;
}

static void make_room(const TgReplay *r, part *p)
{
   const unsigned room = room_for(r->n_lines, p->room);
   p->line = tg_load_need(realloc(p->line, room * sizeof *p->line));
   for (unsigned i = p->room; i < room; i++)
      p->line[i] = (line_counts){ { NULL } };
   p->room = room;
}

static void make_room_for_changes(TgReplay *r)
{
   const unsigned room = room_for(r->n_lines, r->changed_room);
   r->changed = tg_load_need(realloc(r->changed, (size_t)room * TG_N_COUNTED * sizeof *r->changed));
   r->is_changed = tg_load_need(realloc(r->is_changed, room * sizeof *r->is_changed));
   memset(r->is_changed + r->changed_room, 0, (room - r->changed_room) * sizeof *r->is_changed);
   r->changed_room = room;
}

static inline void note_change(TgReplay *r, unsigned line, TgCounted what)
{
   if (line > r->changed_room)
      make_room_for_changes(r);
   bool *const is_changed = &r->is_changed[line - 1][what];
   if (!*is_changed)
      r->changed[r->n_changed++] = (counted){ line, what };
   *is_changed = true;
}

static uint64_t *counts_of(TgReplay *r, const group *g, unsigned line, tlb_user user)
{
   part *const p = &g->part[r->at_hand];
   if (line > p->room)
      make_room(r, p);
   if (r->at_hand == 0)
      note_change(r, line, (TgCounted)user);
   uint64_t **const counts = &p->line[line - 1].counts[user];
   if (*counts == NULL)
      *counts = tg_load_need(calloc(g->n_counts, sizeof **counts));
   return *counts;
}

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
      tlb_refer_second(g->all, counts, p, (tlb_page_number)before, (tlb_page_number)page, user, now);
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
      keep_extra_of(r, g);
      g->counts = is_counted;
   }
   uint64_t *const counts = !is_counted        ? g->uncounted
                            : g->calls != NULL ? tg_call_costs_for(g->calls, record->line, user)
                                               : counts_of(r, g, record->line, user);
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
                               ? g->uncounted : counts_of(r, g, record->line, TLB_LOAD);
   if (r->at_hand == 0 && counts != g->uncounted)
      note_change(r, record->line, TG_COUNTED_PREFETCHES);
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

/* Most records are uses, and only note a time. This is for those of them, and those references, that
   are known hits: the tag of the page's record says so. Whether a record is the one or the other
   cannot be foreseen, so no branch depends on it. */
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
   return counts_of(at->r, at->g, line, user);
}

static void note_changed_arc(TgReplay *r, unsigned arc)
{
   if (arc > r->changed_arc_room) {
      const unsigned room = room_for(arc, r->changed_arc_room);
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
      const unsigned room = room_for(arc, p->arc_room);
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
static void simulate_between(TgReplay *r, group *g, const tlb_stream_reader *s, unsigned from, unsigned to)
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
      return s->n_moves > 0 ? "calls stand where there are none" : tg_replay_records(r, s->record, s->n);
   const char *wrong = check(r, s->record, s->n);
   for (group *g = r->group; wrong == NULL && g < r->group + r->n_groups; g++)
      wrong = simulate_with_moves(r, g, s);
   r->now += (uint64_t)s->n * TICKS;
   r->n_arcs = tg_call_costs_n_arcs(r->group[0].calls);
   return wrong;
}

static void settle_calls(TgReplay *r)
{
   for (group *g = r->group; g < r->group + r->n_groups && g->calls != NULL; g++) {
      call_place at = { r, g };
      tg_call_costs_settle(g->calls, &at);
   }
}

/* --- Flushes --- */

static void keep_flushes(TgReplay *r, group *g)
{
   const size_t first = g->n_flushed > 0 ? tlb_mmus_flushes_at(g->all, 0) : 0;
   for (flushed_line *f = g->flushed; f < g->flushed + g->n_flushed; f++) {
      if (memcmp(f->now, f->told, g->n_counts * sizeof *f->now) == 0)
         continue;
      uint64_t *const counts = counts_of(r, g, f->line, TLB_LOAD);
      if (r->at_hand == 0)
         note_change(r, f->line, TG_COUNTED_FLUSHES);
      for (size_t i = first; i < g->n_counts; i++)
         counts[i] += f->now[i] - f->told[i];
      memcpy(f->told, f->now, g->n_counts * sizeof *f->now);
   }
}

/* The counts of the line, which stay where they are. */
static uint64_t *flush_counts(const TgReplay *r, group *g, unsigned line)
{
   if (line >= g->flushed_room) {
      const unsigned room = 2 * r->n_lines + 64;
      g->flushed_at = tg_load_need(realloc(g->flushed_at, room * sizeof *g->flushed_at));
      memset(g->flushed_at + g->flushed_room, 0, (room - g->flushed_room) * sizeof *g->flushed_at);
      g->flushed_room = room;
   }
   if (g->flushed_at[line] == 0) {
      g->flushed = tg_load_need(realloc(g->flushed, (g->n_flushed + 1) * sizeof *g->flushed));
      g->flushed[g->n_flushed++] = (flushed_line){
         line, tg_load_need(calloc(g->n_counts, sizeof(uint64_t))),
         tg_load_need(calloc(g->n_counts, sizeof(uint64_t))) };
      g->flushed_at[line] = g->n_flushed;
   }
   return g->flushed[g->flushed_at[line] - 1].now;
}

const char *tg_replay_flush(TgReplay *r, const tlb_flush_point *f)
{
   if (f->line > r->n_lines + 1)
      return "a line has a number that is not its turn";
   r->n_lines = f->line > r->n_lines ? f->line : r->n_lines;
   for (group *g = r->group; g < r->group + r->n_groups; g++) {
      if (g->all->flushes)
         tlb_mmus_flush(g->all, f->line != 0 ? flush_counts(r, g, f->line) : g->uncounted, f->start, f->end,
                        f->bytes);
   }
   return NULL;
}

static void forget_flushes(group *g)
{
   for (flushed_line *f = g->flushed; f < g->flushed + g->n_flushed; f++)
      memcpy(f->told, f->now, g->n_counts * sizeof *f->now);
}

static void free_flushes(group *g)
{
   for (flushed_line *f = g->flushed; f < g->flushed + g->n_flushed; f++) {
      free(f->now);
      free(f->told);
   }
   free(g->flushed);
   free(g->flushed_at);
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

static void settle_counts(void *opaque, uint64_t *counts)
{
   const group *const g = opaque;
   for (unsigned user = 0; user < TLB_N_USERS; user++)
      tlb_mmus_settle(g->all, user, counts + user * g->n_counts);
}

static void settle(const TgReplay *r, group *g)
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
         settle(r, g);
         tlb_mmus_ask(g->all);
      } else if (g->map != NULL) {
         tlb_pagemap_apply(g->map, &copy);
      }
   }
}

/* --- Counts --- */

void tg_replay_zero(TgReplay *r)
{
   for (group *g = r->group; g < r->group + r->n_groups; g++) {
      for (unsigned i = 0; i < r->n_parts; i++)
         free_part(&g->part[i]);
      tlb_missed_zero_extra(g->all);
      forget_flushes(g);
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
   add_part(r);
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
   settle_calls(r);
   for (group *g = r->group; g < r->group + r->n_groups; g++)
      settle(r, g);
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

/* --- End --- */

static void free_group(group *g, unsigned n_parts)
{
   for (unsigned i = 0; i < n_parts; i++)
      free_part(&g->part[i]);
   free_flushes(g);
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
