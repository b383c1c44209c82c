/* A miss of a run's one machine: the second level is looked up where the page was in it last.

   Most second levels are large, and a look-up goes through an index, or the ways of a set. But most
   of what is looked up there is where it was the last time, and the page's record has room for that
   place. engine/fast_path.h does the same for the segments of a live run.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_ONE_MACHINE_H
#define TLB_ONE_MACHINE_H

#include "sim/mmu/mmu_data.h"

/* Finds second levels that this is for (all->second), once first levels are found, and whenever
   these change. */
void tlb_one_machine_find(tlb_mmus *all);

/* A reference to page p, which the machine must see: what tlb_refer_all() would do. Returns false,
   and has done nothing, if this is not for it. */
bool tlb_one_machine_refer(tlb_mmus *all, uint64_t *counts, tlb_page *p, tlb_page_number number,
                           tlb_user user, uint64_t now);

#endif
