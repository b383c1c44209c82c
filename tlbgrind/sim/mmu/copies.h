/* Copies of the program that share the TLBs.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_COPIES_H
#define TLB_COPIES_H

#include "sim/mmu/mmus.h"

void tlb_copies_init(tlb_mmus *all);

/* What the reference is beside its kind. */
enum {
   TLB_PART_MODIFIES = 1, /* a load and a store */
   TLB_PART_SECOND = 2    /* the second page of a reference, which misses a level but once */
};

/* tlb_refer_all(), and what the copies do meanwhile; only with copies. */
void tlb_copies_refer(tlb_mmus *all, uint64_t *counts, tlb_page *p, tlb_page_number number,
                      tlb_user user, unsigned part, uint64_t now);

#endif
