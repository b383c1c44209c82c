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
#include "simulate/physical.h"

typedef struct TgReplay TgReplay;

/* Machines `first`, first + step and so on of the list. */
TgReplay *tg_replay_new(const TgSimulatedList *list, unsigned first, unsigned step,
                        const tlb_strength *strength, bool nested);

/* The same, with pages of 2^`backing` bytes in place of the base pages everywhere; or, unless it is
   NULL, with those of `physical`. */
TgReplay *tg_replay_new_backed(const TgSimulatedList *list, unsigned first, unsigned step,
                               unsigned page_shift, bool nested, unsigned backing,
                               TgPhysical *physical);

/* Simulates n records. Returns NULL, or what is wrong with them. */
const char *tg_replay_records(TgReplay *r, const tlb_record *record, unsigned n);

/* From now on the costs of calls are counted, too: to be called before the first record. */
void tg_replay_count_calls(TgReplay *r);

/* Simulates the records that have been read last, with the moves of the call stacks. Returns NULL,
   or what is wrong with them. */
const char *tg_replay_block(TgReplay *r, const tlb_stream_reader *s);

/* From now on counts are those of another part of the run. Part 0 is the first; a new one has the
   next number. False: it is none of these, or there are too many. */
bool tg_replay_part(TgReplay *r, unsigned number);

/* Sets all counts to zero, and goes on with part 0, the only one. */
void tg_replay_zero(TgReplay *r);

/* Makes a change of the page map. */
void tg_replay_event(TgReplay *r, const tlb_map_event *e);

/* Adds what was counted for machines together to the costs of each; to be called before these are
   read. */
void tg_replay_settle(TgReplay *r);

/* How many machines there are. */
unsigned tg_replay_n_machines(const TgReplay *r);

/* What is counted at a line: references of a kind, flushes or prefetches. */
typedef enum {
   TG_COUNTED_FETCHES = TLB_FETCH,
   TG_COUNTED_LOADS = TLB_LOAD,
   TG_COUNTED_STORES = TLB_STORE,
   TG_COUNTED_FLUSHES,
   TG_COUNTED_PREFETCHES,
   TG_N_COUNTED
} TgCounted;

/* The places, each a line and one of these, that have been counted at since the last call of
   tg_replay_forget_changes() or tg_replay_zero(); behind tg_replay_settle(). */
unsigned tg_replay_n_changed(const TgReplay *r);
void tg_replay_changed(const TgReplay *r, unsigned i, unsigned *line, TgCounted *what);
void tg_replay_forget_changes(TgReplay *r);

/* The lines that there were. */
unsigned tg_replay_n_lines(const TgReplay *r);

/* How many levels the machine has, of those of the replay number `nth`. */
unsigned tg_replay_levels(const TgReplay *r, unsigned nth);

/* How many numbers that are: TLB_N_COSTS, TLB_N_FLUSH_COSTS or TLB_N_PREFETCH_COSTS. */
unsigned tg_counted_costs(TgCounted what);

/* These, of a line that has been counted at in part 0. */
const uint64_t *tg_replay_costs(const TgReplay *r, unsigned nth, unsigned line, TgCounted what);

/* Some parts of the run: a bool for each of its first n, and none of those behind them. NULL:
   all. */
typedef struct {
   unsigned n;
   bool *has;
} TgSelection;

/* Adds the costs of a line, by kind of reference. */
void tg_replay_add(const TgReplay *r, unsigned nth, unsigned line, const TgSelection *parts,
                   uint64_t cost[TLB_N_USERS][TLB_N_COSTS]);

/* The arcs of calls whose costs have changed, in the same way. */
unsigned tg_replay_n_changed_arcs(const TgReplay *r);
unsigned tg_replay_changed_arc(const TgReplay *r, unsigned i);
void tg_replay_forget_changed_arcs(TgReplay *r);

/* The arcs of calls that there were; adds the costs of one. */
unsigned tg_replay_n_arcs(const TgReplay *r);
void tg_replay_add_arc(const TgReplay *r, unsigned nth, unsigned arc, const TgSelection *parts,
                       uint64_t cost[TLB_N_USERS][TLB_N_COSTS]);

/* Adds misses of a level beyond a reference's first. */
void tg_replay_extra(const TgReplay *r, unsigned nth, const TgSelection *parts,
                     uint64_t extra[TLB_N_USERS][TLB_N_COSTS]);

/* What an out-file says of the page sizes of the machine's memory. */
void tg_replay_backing(const TgReplay *r, unsigned nth, tlb_backing_line *line, void *opaque);

/* What the out-file of a machine says of its variant, which has that number, if no count is
   another: tlb_advice_same_keys(). Returns what its rule has come to. The recording has changes of
   mappings. */
tlb_rule_effect tg_replay_variant(const TgReplay *r, unsigned nth, unsigned number,
                                  tlb_backing_line *line, void *opaque);

/* Others use the core: what the machines' system calls and context switches make of it. */
void tg_replay_point(TgReplay *r, tlb_point point, uint64_t first, uint64_t last);

/* A flush. Returns NULL, or what is wrong. */
const char *tg_replay_flush(TgReplay *r, const tlb_flush_point *f);

/* Adds what flushes at a line have cost. */
void tg_replay_add_flushes(const TgReplay *r, unsigned nth, unsigned line, const TgSelection *parts,
                           uint64_t cost[TLB_N_FLUSH_COSTS]);

/* The same of prefetches. */
void tg_replay_add_prefetches(const TgReplay *r, unsigned nth, unsigned line,
                              const TgSelection *parts, uint64_t cost[TLB_N_PREFETCH_COSTS]);

void tg_replay_free(TgReplay *r);

#endif
