/* Misses that are looked up behind the first level later, many of one machine after the other.

   What stands behind the first levels of many machines does not fit into a cache of the processor
   that simulates them: each miss would wait for the memory of each machine. But nothing that
   happens there changes a first level, or the presence at the pages. So a caller that needs no
   counts for a while can let misses be noted; then each machine gets all of its own, in their
   order, and what the next ones read is requested ahead.

   This is for machines of which that is true: not if a level is inclusive or exclusive, if a
   first-level array stands behind another, or if walks leave something in the last level.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_LATE_MISSES_H
#define TLB_LATE_MISSES_H

#include "sim/mmu/mmu_data.h"

/* From now on misses are noted. Not for runs with flushes, prefetches, cores or others. */
void tlb_late_begin(tlb_mmus *all);

/* Looks up all that have been noted: to be called before counts are read or given back, and before
   any call that is no reference. */
void tlb_late_do(tlb_mmus *all);

/* Notes a miss, for one bit of each machine: those whose walk follows, those that go on behind
   their lazy LRU arrays, and those that are asked for all that is behind the first level. These are
   of all->late.mmus. `counted`: as in tlb_missed. */
void tlb_late_add(tlb_mmus *all, uint64_t *counts, const tlb_reference *ref, tlb_late_way way,
                  uint64_t mmus, uint64_t counted);

#endif
