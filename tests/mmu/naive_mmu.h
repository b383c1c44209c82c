/* A naive MMU: what one machine does to a stream of references, one at a time.

   Written from docs/machines.md and docs/reference.md alone, in C for the sake of many short cases;
   tests/model/naive_machine.py says the same in Python. Of the simulator it takes the description
   of a machine (sim/machine/machine.h), and no code. No tables, no short cuts, no speed.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef NAIVE_MMU_H
#define NAIVE_MMU_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/machine/machine.h"

enum { NAIVE_FETCH, NAIVE_LOAD, NAIVE_STORE, NAIVE_USERS };

/* What is counted of each kind of reference. */
enum {
   NAIVE_MISS_1,
   NAIVE_MISS_2,
   NAIVE_MISS_3,
   NAIVE_WALKS,
   NAIVE_WALK_REFERENCES,
   NAIVE_CYCLES,
   NAIVE_COSTS
};

/* What flushes are counted as: of everything, of single pages; translations that were to go, others
   that went; of those the ones that were walked for again. */
enum {
   NAIVE_FLUSHES_OF_ALL,
   NAIVE_FLUSHES_OF_PAGES,
   NAIVE_FLUSHED_WITHIN,
   NAIVE_FLUSHED_OUTSIDE,
   NAIVE_FLUSHED_AGAIN,
   NAIVE_FLUSHES_REMOTE,
   NAIVE_FLUSH_COSTS
};

/* What prefetches are counted as. */
enum {
   NAIVE_PREFETCHES,
   NAIVE_PREFETCH_MISSES,
   NAIVE_PREFETCH_WALKS,
   NAIVE_PREFETCH_WALKS_IN_VAIN,
   NAIVE_PREFETCHES_DROPPED,
   NAIVE_PREFETCH_COSTS
};

typedef struct naive_mmu naive_mmu;

/* The machine must stay. */
naive_mmu *naive_new(const tlb_machine *m, bool nested);
void naive_free(naive_mmu *n);

/* One translation of `address`, which a page of 2^page_shift bytes backs, in a block of
   2^block_shift bytes. No page is smaller than the machine's base page. */
void naive_translate(naive_mmu *n, unsigned user, uint64_t address, unsigned page_shift,
                     unsigned block_shift);

/* The same, not counted. */
void naive_translate_uncounted(naive_mmu *n, unsigned user, uint64_t address, unsigned page_shift,
                               unsigned block_shift);

/* All goes. */
void naive_empty(naive_mmu *n);

/* The hardware thread of `n` is on the core of that of `first`. */
void naive_share(naive_mmu *n, naive_mmu *first);

/* As it was at the start, but for what has been counted. */
void naive_reset(naive_mmu *n);
/* A prefetch: `strong` ones do what a load does, others only what is somewhere in the TLBs. Of a
   page that is not `present` no TLB has anything, nor gets anything. */
void naive_prefetch(naive_mmu *n, uint64_t address, unsigned page_shift, unsigned block_shift,
                    bool strong, bool present);

/* What naive_flush() is going to throw away is counted: on all hardware threads of all cores,
   before that. A translation that some array has which threads share counts once. They are flushed
   page by page, as many as `pages`, or all. `whole`: the range is the whole address space;
   `remote`: the flush itself is another's, and counts there; `is_first`: none of its core has
   counted what they share. */
void naive_count_flush(naive_mmu *n, uint64_t start, uint64_t end, uint64_t pages, bool full,
                       bool whole, bool remote, bool is_first);

/* The translations of [start, end) go; with `full`, all others below 2^63 do, too. */
void naive_flush(naive_mmu *n, uint64_t start, uint64_t end, bool full, bool whole);

/* Counts a flush for which others are asked. */
void naive_flush_asks(naive_mmu *n);

/* Entries for base pages of loads in the last level that has some. */
uint32_t naive_last_entries(const tlb_machine *m);

/* What has been counted so far. */
uint64_t naive_flush_count(const naive_mmu *n, unsigned cost);
uint64_t naive_prefetch_count(const naive_mmu *n, unsigned cost);
uint64_t naive_count(const naive_mmu *n, unsigned user, unsigned cost);

/* The arrays of a level (from 1) that a page goes to, by number. Returns how many. */
unsigned naive_takers(const tlb_machine *m, unsigned user, unsigned level, unsigned page_shift,
                      unsigned array[TLB_MAX_ARRAYS]);

/* The array, by number, that keeps entries of page tables among translations; -1: none can. */
int naive_keeps_steps(const tlb_machine *m);

#endif
