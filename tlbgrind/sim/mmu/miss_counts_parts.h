/* Misses behind the first level of one machine: for miss_counts.c, and for late_misses.c, which has
   them looked up later.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_MISS_COUNTS_PARTS_H
#define TLB_MISS_COUNTS_PARTS_H

#include "sim/mmu/miss_counts.h"

/* What varies of a walk. */
void tlb_missed_walk(uint64_t *counts, tlb_mmu *mmu, const tlb_reference *ref);

/* The levels behind the lazy LRU array, which has missed, and walks. */
void tlb_missed_behind(tlb_mmus *all, uint64_t *counts, tlb_mmu *mmu, const tlb_reference *ref);

/* All levels behind the first. `counted`: as in tlb_missed. */
void tlb_missed_asked(tlb_mmus *all, uint64_t *counts, tlb_mmu *mmu, const tlb_reference *ref,
                      uint64_t counted);

#endif
