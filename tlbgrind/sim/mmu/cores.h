/* Cores that are not at hand.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_CORES_H
#define TLB_CORES_H

#include "sim/mmu/mmu_data.h"

/* Calls `each` with every other core that is in use at hand. Returns whether there are any. */
bool tlb_cores_others(tlb_mmus *all, void (*each)(tlb_mmus *all, void *opaque), void *opaque);

/* Whether several hardware threads of a core share arrays. */
bool tlb_cores_share(const tlb_mmus *all);

/* Whether the core at hand is the first hardware thread of one: for what they share. */
bool tlb_cores_at_home(tlb_mmus *all);

/* Of cores that are not at hand. */
void tlb_cores_free(tlb_mmus *all);

#endif
