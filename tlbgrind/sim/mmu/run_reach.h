/* Reach of a run: what fully associative TLBs of all sizes would miss, of code and of data.

   To the references it is one machine more, though not one that anything is
   booked to: it observes every page that is not among the eight of its side that were
   referenced last, see sim/tlb/reach.h.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_RUN_REACH_H
#define TLB_RUN_REACH_H

#include "sim/mmu/mmu_data.h"

void tlb_run_reach_init(tlb_mmus *all);
void tlb_run_reach_free(tlb_mmus *all);

/* A reference to page p, whose number is `number`, which reach observes; no longer,
   then. */
void tlb_run_reach_refer(tlb_mmus *all, tlb_side table, tlb_page *p,
                         tlb_page_number number, uint64_t now);

/* Counts begin again. */
void tlb_run_reach_zero(tlb_mmus *all);

/* What came of it. */
static inline const tlb_reach *tlb_run_reach_of(const tlb_mmus *all, tlb_side table)
{
   return all->reach[table].of;
}

#endif
