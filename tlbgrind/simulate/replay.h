/* The replay of a recording: its references, as the MMUs of several machines see them.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_REPLAY_H
#define TG_SIMULATE_REPLAY_H

#include <stdbool.h>

#include "sim/mmu/mmu.h"
#include "sim/pages/backing_report.h"
#include "sim/record/strength.h"
#include "sim/record/stream.h"
#include "simulate/machines.h"

typedef struct TgReplay TgReplay;

/* Machines `first`, first + step and so on of the list. */
TgReplay *tg_replay_new(const TgSimulatedList *list, unsigned first, unsigned step,
                        const tlb_strength *strength, bool nested);

/* Simulates n records. Returns NULL, or what is wrong with them. */
const char *tg_replay_records(TgReplay *r, const tlb_record *record, unsigned n);

/* Makes a change of the page map. */
void tg_replay_event(TgReplay *r, const tlb_map_event *e);

/* Adds what was counted for machines together to the costs of each; to be called before these are
   read. */
void tg_replay_settle(TgReplay *r);

/* The lines that there were. */
unsigned tg_replay_n_lines(const TgReplay *r);

/* How many levels the machine has, of those of the replay number `nth`. */
unsigned tg_replay_levels(const TgReplay *r, unsigned nth);

/* Adds the costs of a line, by kind of reference. */
void tg_replay_add(const TgReplay *r, unsigned nth, unsigned line,
                   uint64_t cost[TLB_N_USERS][TLB_N_COSTS]);

/* Misses of a level beyond a reference's first. */
const uint64_t (*tg_replay_extra(const TgReplay *r, unsigned nth))[TLB_N_COSTS];

/* What an out-file says of the page sizes of the machine's memory. */
void tg_replay_backing(const TgReplay *r, unsigned nth, tlb_backing_line *line, void *opaque);

void tg_replay_free(TgReplay *r);

#endif
