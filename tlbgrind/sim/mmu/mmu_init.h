/* MMUs that are made, and page sizes that change: for library.c, and for a tool that has its
   tlb_mmus and its nearest records in memory of its own.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_MMU_INIT_H
#define TLB_MMU_INIT_H

#include "sim/mmu/mmu_data.h"

/* Makes the MMUs in *all, which is all zero. `near`: see tlb_known_init(). `others`: bits
   of observers that are no machine's (TLB_OBSERVER_...), of each new page. */
void tlb_mmus_init(tlb_mmus *all, const tlb_mmus_options *options, uint64_t others,
                   tlb_page_record *near, tlb_page_number n_near);

/* The first write to each page of data is seen by TLB_OBSERVER_FAULTS from now on, whether the page
   is known or not; what has been translated for runs without such observers has to go. Returns
   whether that is so: at the first call. */
bool tlb_mmus_watch_writes(tlb_mmus *all);

#endif
