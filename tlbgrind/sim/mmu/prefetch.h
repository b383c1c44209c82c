/* Data prefetches: references that are counted apart, and that a machine may drop.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_PREFETCH_H
#define TLB_PREFETCH_H

#include "sim/mmu/mmu_data.h"

/* Behind tlb_l2_find(), once it is known how many counts there are. */
void tlb_prefetch_init(tlb_mmus *all);

#endif
