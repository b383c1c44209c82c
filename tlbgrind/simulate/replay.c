/* The replay of a recording. See simulate/replay.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdlib.h>

#include "command/load_machine.h"
#include "sim/mmu/miss_counts.h"
#include "sim/mmu/mmu_data.h"
#include "sim/mmu/refer.h"
#include "simulate/replay.h"

/* How much later each record is than the one before: as much as a reference takes that walks. */
enum { TICKS = 4 };

/* A run with phases and threads has no more. */
enum { MOST_PARTS = 8192 };

typedef struct {
   uint64_t *counts[TLB_N_USERS]; /* NULL: none yet */
   bool is_changed[TLB_N_USERS];
} line_counts;

typedef struct {
   unsigned line;
   tlb_user user;
} place;

/* A part of the run, which has counts of its own. */
typedef struct {
   unsigned room;
   line_counts *line; /* number 1 is the first */
   uint64_t (*extra)[TLB_N_USERS][TLB_N_COSTS]; /* by machine, but for what came last */
} part;

struct TgReplay {
   tlb_mmus *all;
   uint64_t now;
   unsigned n_lines;
   part *part;
   unsigned n_parts, at_hand;
   place *changed; /* of part 0: room for each line and kind */
   unsigned n_changed;
   uint8_t backing; /* the logarithm of the size of the pages */
   uint64_t *of_uses; /* what uses miss: nothing, if the recording is sound */
   size_t n_counts;
};

static void *need(void *memory)
{
   if (memory == NULL)
      tg_load_refuse("no memory");
   return memory;
}

static void *take(size_t bytes, void *opaque)
{
   (void)opaque;
   return need(malloc(bytes));
}

static void give(void *memory, void *opaque)
{
   (void)opaque;
   free(memory);
}

static void add_part(TgReplay *r)
{
   part *const p = &r->part[r->n_parts++];
   *p = (part){ .room = 0, .extra = need(calloc(r->all->n_mmus, sizeof *p->extra)) };
}

TgReplay *tg_replay_new(const TgSimulatedList *list, unsigned first, unsigned step,
                        unsigned page_shift, bool nested)
{
   return tg_replay_new_backed(list, first, step, page_shift, nested, page_shift);
}

static tlb_backing backing_of(void *opaque, unsigned view, uint64_t address)
{
   const TgReplay *const r = opaque;
   (void)view, (void)address;
   return (tlb_backing){ r->backing, r->backing };
}

TgReplay *tg_replay_new_backed(const TgSimulatedList *list, unsigned first, unsigned step,
                               unsigned page_shift, bool nested, unsigned backing)
{
   TgReplay *const r = need(calloc(1, sizeof *r));
   tlb_mmu_machine machine[TLB_MAX_MMUS] = { { .machine = NULL } };
   tlb_mmus_options options = { .machine = machine, .page_shift = page_shift, .nested = nested,
                                .memory = { take, give, NULL },
                                .backing = backing_of, .opaque = r };
   r->backing = (uint8_t)backing;
   for (unsigned i = first; i < list->n; i += step)
      machine[options.n++] = (tlb_mmu_machine){ .machine = &list->machine[i].m,
                                                .asks = backing != page_shift };
   r->all = tlb_mmus_new(&options);
   r->n_counts = tlb_mmus_n_counts(r->all);
   r->of_uses = need(calloc(r->n_counts, sizeof *r->of_uses));
   r->part = need(calloc(MOST_PARTS, sizeof *r->part));
   add_part(r);
   return r;
}

/* --- Parts --- */

static void keep_extra(TgReplay *r)
{
   part *const p = &r->part[r->at_hand];
   for (unsigned i = 0; i < r->all->n_mmus; i++) {
      for (unsigned user = 0; user < TLB_N_USERS; user++) {
         for (unsigned j = 0; j < TLB_N_COSTS; j++)
            p->extra[i][user][j] += tlb_missed_extra(r->all, r->all->mmu[i].counts)[user][j];
      }
   }
   tlb_missed_zero_extra(r->all);
}

bool tg_replay_part(TgReplay *r, unsigned number)
{
   if (number > r->n_parts || number == MOST_PARTS)
      return false;
   keep_extra(r);
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
   free(p->line);
   free(p->extra);
}

/* --- Records --- */

static void make_room(TgReplay *r, part *p, unsigned line)
{
   unsigned room = p->room == 0 ? 64 : p->room;
   while (room < line)
      room *= 2;
   p->line = need(realloc(p->line, room * sizeof *p->line));
   for (unsigned i = p->room; i < room; i++)
      p->line[i] = (line_counts){ { NULL }, { false } };
   if (r->at_hand == 0)
      r->changed = need(realloc(r->changed, (size_t)room * TLB_N_USERS * sizeof *r->changed));
   p->room = room;
}

/* Each new line has the next number. */
static uint64_t *counts_of(TgReplay *r, unsigned line, tlb_user user)
{
   if (line > r->n_lines + 1)
      return NULL;
   part *const p = &r->part[r->at_hand];
   if (line > p->room)
      make_room(r, p, line);
   r->n_lines = line > r->n_lines ? line : r->n_lines;
   line_counts *const l = &p->line[line - 1];
   if (!l->is_changed[user] && r->at_hand == 0) {
      l->is_changed[user] = true;
      r->changed[r->n_changed++] = (place){ line, user };
   }
   uint64_t **const counts = &l->counts[user];
   if (*counts == NULL)
      *counts = need(calloc(r->n_counts, sizeof **counts));
   return *counts;
}

/* A known hit only has its time noted. */
static void refer(TgReplay *r, uint64_t *counts, tlb_user user, uint64_t page)
{
   const bool split = r->all->traits.split;
   tlb_page *const p = tlb_page_of(r->all, tlb_side_of_user(user), (tlb_page_number)page);
   if (*tlb_observers_of(p, user, split) == 0)
      tlb_probe(p, split ? tlb_probe_at(user) : 0)->time = r->now;
   else
      tlb_refer_all(r->all, counts, p, (tlb_page_number)page, user, r->now);
}

static bool simulate(TgReplay *r, const tlb_record *record)
{
   const tlb_user user = record->what & TLB_RECORD_USER;
   const bool modifies = (record->what & TLB_RECORD_MODIFIES) != 0;
   r->now += TICKS;
   if ((record->what & TLB_RECORD_USE) != 0) {
      tlb_missed_begin(r->all, 0, user);
      refer(r, r->of_uses, user, record->page);
      return true;
   }
   uint64_t *const counts = counts_of(r, record->line, user);
   if (counts == NULL)
      return false;
   if ((record->what & TLB_RECORD_GOES_ON) == 0)
      tlb_missed_begin(r->all, (record->what & TLB_RECORD_IN_PARTS) != 0 ? TLB_OBSERVERS_MMUS
                               : modifies ? r->all->traits.apart : 0, user);
   refer(r, counts, user, record->page);
   if (modifies && r->all->traits.split)
      refer(r, counts, TLB_STORE, record->page);
   return true;
}

const char *tg_replay_records(TgReplay *r, const tlb_record *record, unsigned n)
{
   for (unsigned i = 0; i < n; i++) {
      if (!simulate(r, &record[i]))
         return "a line has a number that is not its turn";
   }
   for (size_t i = 0; i < r->n_counts; i++) {
      if (r->of_uses[i] != 0)
         return "a page is said to be in the first level, and is not";
   }
   return NULL;
}

/* --- Counts --- */

void tg_replay_zero(TgReplay *r)
{
   for (unsigned i = 0; i < r->n_parts; i++)
      free_part(&r->part[i]);
   r->n_parts = r->at_hand = r->n_changed = 0;
   free(r->changed);
   r->changed = NULL;
   add_part(r);
   tlb_missed_zero_extra(r->all);
}

unsigned tg_replay_n_machines(const TgReplay *r)
{
   return r->all->n_mmus;
}

unsigned tg_replay_n_changed(const TgReplay *r)
{
   return r->n_changed;
}

void tg_replay_changed(const TgReplay *r, unsigned i, unsigned *line, tlb_user *user)
{
   *line = r->changed[i].line;
   *user = r->changed[i].user;
}

void tg_replay_forget_changes(TgReplay *r)
{
   for (unsigned i = 0; i < r->n_changed; i++)
      r->part[0].line[r->changed[i].line - 1].is_changed[r->changed[i].user] = false;
   r->n_changed = 0;
}

const uint64_t *tg_replay_costs(const TgReplay *r, unsigned nth, unsigned line, tlb_user user)
{
   return r->part[0].line[line - 1].counts[user] + tlb_mmus_cost_of(r->all, nth);
}

void tg_replay_settle(TgReplay *r)
{
   keep_extra(r);
   for (const part *p = r->part; p < r->part + r->n_parts; p++) {
      for (unsigned i = 0; i < p->room; i++) {
         for (unsigned user = 0; user < TLB_N_USERS; user++) {
            if (p->line[i].counts[user] != NULL)
               tlb_mmus_settle(r->all, user, p->line[i].counts[user]);
         }
      }
   }
}

unsigned tg_replay_n_lines(const TgReplay *r)
{
   return r->n_lines;
}

unsigned tg_replay_levels(const TgReplay *r, unsigned nth)
{
   return r->all->mmu[nth].h.levels;
}

static bool has(const TgSelection *parts, unsigned number)
{
   return parts == NULL || (number < parts->n && parts->has[number]);
}

void tg_replay_add(const TgReplay *r, unsigned nth, unsigned line, const TgSelection *parts,
                   uint64_t cost[TLB_N_USERS][TLB_N_COSTS])
{
   const size_t at = tlb_mmus_cost_of(r->all, nth);
   for (unsigned number = 0; number < r->n_parts; number++) {
      const part *const p = &r->part[number];
      for (unsigned user = 0; has(parts, number) && line <= p->room && user < TLB_N_USERS; user++) {
         const uint64_t *const counts = p->line[line - 1].counts[user];
         for (unsigned i = 0; counts != NULL && i < TLB_N_COSTS; i++)
            cost[user][i] += counts[at + i];
      }
   }
}

void tg_replay_extra(const TgReplay *r, unsigned nth, const TgSelection *parts,
                     uint64_t extra[TLB_N_USERS][TLB_N_COSTS])
{
   for (unsigned number = 0; number < r->n_parts; number++) {
      for (unsigned user = 0; has(parts, number) && user < TLB_N_USERS; user++) {
         for (unsigned i = 0; i < TLB_N_COSTS; i++)
            extra[user][i] += r->part[number].extra[nth][user][i];
      }
   }
}

void tg_replay_free(TgReplay *r)
{
   for (unsigned i = 0; i < r->n_parts; i++)
      free_part(&r->part[i]);
   free(r->part);
   free(r->changed);
   free(r->of_uses);
   tlb_mmus_free(r->all);
   free(r);
}
