/* Machines that have a first level in common: it is simulated once.

   A machine that is equal to another in all is not simulated at all. One whose
   first level is equal follows: it is only asked when the other, its leader, has
   missed, behind its first level. So does one whose first level is the same as far
   as its base pages go, and of LRU levels with as many sets one with more ways: it
   misses nothing but what the smallest misses, and LRU stacks (sim/tlb/lru_stack.h) say what.
   These part as soon as the program asks for huge pages. */

#ifndef TG_L1_SHARING_H
#define TG_L1_SHARING_H

#include "pub_tool_basics.h"

#include "mmu/mmu.h"

/* Finds who counts for whom and who follows whom. */
void tg_shared_find(void);

/* The leader of the stream, which has LRU stacks, has missed the page of which `page` is what
   stands behind the first level, and evicted another (NULL: none; of a large page the
   first). Returns which of its followers have missed it, too: those on a size with a lower
   number. */
UInt tg_shared_missed(const TgMissGroup* s, tlb_lazy_lru_page* page, TgPage* evicted);

/* How many sizes of the stream have missed the page: one, where there is no LRU stack. */
static inline UInt tg_sizes_missed(const TgMissGroup* s, tlb_lazy_lru_page* page,
                                   TgPage* evicted)
{
   return s->lru_stack == NULL ? 1 : tg_shared_missed(s, page, evicted);
}

/* The followers of all MMUs that know base pages alone go on by
   themselves. */
void tg_shared_part(void);

#endif
