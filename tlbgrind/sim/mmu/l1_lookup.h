/* First-level look-ups: what a reference does to the first level of one machine, of any
   kind, and when a page is released from it.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_L1_LOOKUP_H
#define TLB_L1_LOOKUP_H

#include "sim/mmu/mmu_data.h"

/* For the arrays of an MMU, see sim/tlb/array.h: `opaque` is a tlb_port. */
void tlb_l1_release(uint64_t *time, tlb_key key, void *opaque);
uint64_t tlb_l1_range_time(tlb_key key, void *opaque);

/* When one of the pages was referenced last that an array holds in the entry of that
   key; if the machine is plain. */
uint64_t tlb_l1_time(const tlb_array *a, tlb_key key);

/* The MMU's arrays are to be asked again for the pages from number `first` to `last`, and
   for others that an entry there covers: its time is not theirs any more. */
void tlb_l1_release_between(tlb_mmu *mmu, tlb_page_number first, tlb_page_number last);

/* What a reference to the page asks the first level for, if what backs the page is known;
   else returns false. */
bool tlb_l1_reference(const tlb_mmu *mmu, const tlb_page *p, tlb_page_number number,
                      tlb_user user, tlb_reference *out);

/* The same, after asking what backs the page if that is not known. */
void tlb_l1_ask(const tlb_mmu *mmu, const tlb_page *p, tlb_page_number number, tlb_user user,
                tlb_reference *out);

/* One reference of one machine's first level: to page p, whose number is `number`.
   What it asked for goes to *out. Returns whether it missed. */
bool tlb_l1_refer(tlb_mmu *mmu, tlb_page *p, tlb_page_number number, tlb_user user,
                  uint64_t now, tlb_reference *out);

#endif
