/* Shared first levels: what machines have in common is simulated once.

   A machine that is equal to another in all is not simulated at all. MMUs with equal first
   levels share one simulation: a follower's second level is looked up when its leader
   misses. So it is with first levels that are the same as far as the machine's base pages
   go, and of LRU levels with as many sets, one with more ways follows the smallest: it
   misses nothing but what that misses, and LRU stacks (sim/tlb/lru_stack.h) say what.
   These part as soon as the program asks for huge pages.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_L1_SHARING_H
#define TLB_L1_SHARING_H

#include "sim/mmu/l2_presence.h"
#include "sim/mmu/mmu_data.h"

/* Finds equal machines, leaders and followers. */
void tlb_sharing_find(tlb_mmus *all);

/* The leader of the group, which has LRU stacks, has missed the page of which `page` is what
   stands behind the first level, and evicted another (NULL: none; of a large page the
   first). Returns which of its followers have missed it, too: those on a size with a lower
   number. */
unsigned tlb_sharing_missed(tlb_mmus *all, const tlb_miss_group *s,
                            tlb_lazy_lru_page *page, tlb_page *evicted);

/* How many sizes of the group have missed the page: one, where there is no LRU stack. */
static inline unsigned tlb_sizes_missed(tlb_mmus *all, const tlb_miss_group *s,
                                        tlb_lazy_lru_page *page, tlb_page *evicted)
{
   return s->lru_stack == NULL ? 1 : tlb_sharing_missed(all, s, page, evicted);
}

/* The followers of all MMUs that know base pages alone go on by
   themselves. */
void tlb_sharing_part(tlb_mmus *all);

#endif
