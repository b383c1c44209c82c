/* First-level misses: the first levels of a run's machines as a reference to a base page
   sees them, all of which are dealt with at once.

   Most references that have to be simulated miss in several machines: the page has
   not been used for long. What is read of a machine is one line of the cache, and which
   entry it evicts does not depend on any other, so that the processor can be at several of
   them at once.

   To machines with larger base pages than others all of one is known, or nothing.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_L1_MISSES_H
#define TLB_L1_MISSES_H

#include "sim/mmu/mmu_data.h"

/* Finds the first levels that this is for (all->l1), once the MMUs are there and whenever a
   machine begins to ask what backs its pages. */
void tlb_l1_groups_find(tlb_mmus *all);

/* Arrays of these machines have been emptied, or have entries without a page's record: until all
   their entries have one again, this is not for them. */
void tlb_l1_groups_refill(tlb_mmus *all, uint64_t mmus);

/* A reference to page p, whose number is `number`, of that kind, as far as the machines of
   `observers` must see it, all of which are of the group: it has missed in them, and the
   page is known to them now. Returns those of which nothing is done, for not all entries
   that they have are known. */
uint64_t tlb_l1_group_miss(tlb_mmus *all, const tlb_l1_group *which, uint64_t *counts,
                           tlb_page *p, tlb_page_number number, tlb_user user,
                           uint64_t observers, uint64_t now);

/* The same of a run's one machine, which has base pages of the run, and observes the page alone.
   False: nothing is done. */
bool tlb_l1_one_miss(tlb_mmus *all, tlb_page *p, tlb_page_number number, tlb_user user,
                     uint64_t now);

#endif
