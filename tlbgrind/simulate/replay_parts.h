/* What the files of a replay share: replay.c, replay_groups.c, replay_counts.c, replay_flushes.c.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_REPLAY_PARTS_H
#define TG_SIMULATE_REPLAY_PARTS_H

#include <stdlib.h>

#include "command/load_machine.h"
#include "sim/mmu/mmu_data.h"
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

/* Where the record of a page of code is, by the lower bits of its number:
   the simulator searches. */
typedef struct {
   uint64_t number;
   tlb_page *page; /* NULL: none yet */
} known_code;

enum { CODE_PAGES = 256 };

/* What flushes at a line have cost. What a flush has thrown away can come back later, in another
   part of the run: so the parts get what has come since they have been told last. */
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
   uint8_t piece[TLB_N_USERS][TLB_MAX_PAGE_SHIFT + 1]; /* the size of entries,
                                                          by that of the page */
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
   bool is_plain[TLB_RECORD_BITS + 1]; /* by kind of record:
                                          of a known hit the time is all there is */
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

/* --- Parts and their counts: replay_counts.c --- */

/* A part more, which is empty. */
void tg_replay_add_part(TgReplay *r);
void tg_replay_free_part(const part *p);

/* The number of places to make, of which there are `room`, for so many. */
unsigned tg_replay_room(unsigned n_lines, unsigned room);

/* For all lines so far. */
void tg_replay_make_room(const TgReplay *r, part *p);
void tg_replay_make_room_for_changes(TgReplay *r);

/* Adds up the misses beyond a reference's first that have come since the last time, unless they are
   counted nowhere. */
void tg_replay_keep_extra(const TgReplay *r, group *g);

/* Brings all counts of a group up to date. */
void tg_replay_settle_group(const TgReplay *r, group *g);

static inline void tg_replay_note_change(TgReplay *r, unsigned line, TgCounted what)
{
   if (line > r->changed_room)
      tg_replay_make_room_for_changes(r);
   bool *const is_changed = &r->is_changed[line - 1][what];
   if (!*is_changed)
      r->changed[r->n_changed++] = (counted){ line, what };
   *is_changed = true;
}

static inline uint64_t *tg_replay_counts_of(TgReplay *r, const group *g, unsigned line,
                                            tlb_user user)
{
   part *const p = &g->part[r->at_hand];
   if (line > p->room)
      tg_replay_make_room(r, p);
   if (r->at_hand == 0)
      tg_replay_note_change(r, line, (TgCounted)user);
   uint64_t **const counts = &p->line[line - 1].counts[user];
   if (*counts == NULL)
      *counts = tg_load_need(calloc(g->n_counts, sizeof **counts));
   return *counts;
}

/* --- Calls: replay.c --- */

/* The costs of all frames so far become their arcs'. */
void tg_replay_settle_calls(TgReplay *r);

/* --- Flushes: replay_flushes.c --- */

/* The part at hand gets what flushes have cost since they have been told last. */
void tg_replay_keep_flushes(TgReplay *r, group *g);

/* No part gets it. */
void tg_replay_forget_flushes(group *g);
void tg_replay_free_flushes(group *g);

#endif
