/* Flushes: translations that leave all levels because the kernel has changed page tables.

   Per machine a policy decides whether the pages are invalidated one by one, or everything is
   flushed because that is thought to be cheaper (tlb_flush_policy, mmu.h).

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_FLUSH_H
#define TLB_FLUSH_H

#include "sim/mmu/mmu_data.h"

/* Once the MMUs are there: those with a policy get room for what they lose. */
void tlb_flush_init(tlb_mmus *all);
void tlb_flush_free(tlb_mmus *all);

#endif
