/* The arrays of an MMU, and their ports: which records of pages answer for an array.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_PORTS_H
#define TLB_PORTS_H

#include "sim/mmu/mmu_data.h"

/* Makes the arrays, empty, in the MMU's memory. */
void tlb_mmu_make_arrays(tlb_mmu *mmu);

/* Their ports; once the traits of the run have been found. */
void tlb_mmu_make_ports(tlb_mmu *mmu);

#endif
