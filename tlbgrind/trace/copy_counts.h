/* What copies of the program miss, each for itself: --copies=. The program's own misses are those
   of its lines. */

#ifndef TG_COPY_COUNTS_H
#define TG_COPY_COUNTS_H

#include "pub_tool_basics.h"

#include "sim/mmu/mmu.h"

/* For copies number 1 to n - 1. Once the number of a line's miss counts is known. */
void tg_copy_counts_init(UInt n);

/* Where the copy's misses by references of the kind are counted, as in a line. */
uint64_t* tg_copy_misses(UInt copy, tlb_user kind);

/* Calls `each` for all of these. */
void tg_copy_counts_each(void (*each)(uint64_t* misses, tlb_user kind));

void tg_copy_counts_zero(void);

#endif
