/* Memory of simulated MMUs: all of it goes when they do, so nothing is given back before.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_MMU_MEMORY_H
#define TLB_MMU_MEMORY_H

#include "sim/mmu/mmu_data.h"

/* Each stretch of memory begins a line of the processor's cache. */
enum { TLB_CACHE_LINE = 64 };

/* Memory with any contents, and with zeroes. */
void *tlb_mmus_take(tlb_mmus *all, size_t bytes);
void *tlb_mmus_take_zeroes(tlb_mmus *all, size_t bytes);

/* Gives all back. */
void tlb_mmus_give(tlb_mmus *all);

/* A list of pointers to chunks, of which number n (0, or one more than the last) is to be
   there: the list, which may have moved. */
void *tlb_mmus_list(tlb_mmus *all, void *list, unsigned n);

#endif
