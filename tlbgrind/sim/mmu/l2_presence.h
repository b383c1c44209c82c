/* Which second levels hold a page: for many machines, bits that are kept with the page.

   Machines that miss together (tlb_miss_group, see l1_sharing.h) have lazy LRU arrays behind
   their first levels (sim/tlb/lazy_lru.h): one look at the page says which of them hold it,
   one time is noted. And what they usually come to is counted once in the line for
   all of them (tlb_common_outcome).

   This is for machines that have base pages of theirs alone. They part from it as soon
   as the program asks for huge pages.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_L2_PRESENCE_H
#define TLB_L2_PRESENCE_H

#include "sim/mmu/large_pages.h"
#include "sim/mmu/mmu_data.h"

/* What a reference missed: bit n for a miss that is counted as cost
   TLB_COST_MISS_1 + n. */
static inline unsigned tlb_misses_of(const tlb_outcome *o)
{
   return o->missed | (o->walked ? 1u << TLB_COST_WALKS : 0);
}

/* Finds the miss groups, and makes lazy LRU arrays; once leaders and followers are
   found. */
void tlb_l2_find(tlb_mmus *all);

/* A line has, for each kind of reference, the costs of each machine, then the counts of
   miss groups, then by machine how many pages no level had (tlb_common_outcome). */
static inline unsigned tlb_miss_groups_at(const tlb_mmus *all)
{
   return all->n_mmus * TLB_N_COSTS;
}

static inline uint64_t *tlb_counts_of_walks(const tlb_mmus *all, uint64_t *counts)
{
   return counts + tlb_miss_groups_at(all) + all->l2.n_miss_groups;
}

/* What stands at pages is numbered from 1, for a page's record has no room for an
   address. */
enum { TLB_L2_CHUNK_BITS = 6, TLB_L2_CHUNK = 1 << TLB_L2_CHUNK_BITS };

static inline tlb_lazy_lru_page *tlb_l2_page(const tlb_mmus *all, unsigned number)
{
   return (tlb_lazy_lru_page *)(void *)(all->l2.chunk[number >> TLB_L2_CHUNK_BITS]
                                        + (number & (TLB_L2_CHUNK - 1)) * all->l2.bytes);
}

/* Where the number stands, for tlb_l2_of_page(). */
static inline uint32_t *tlb_l2_at(tlb_mmus *all, tlb_page *p, unsigned large)
{
   return large > 0 ? &tlb_large_of_page(all, p, large)->l2 : &tlb_rest(p)->l2;
}

/* The number for a page whose record has none. */
unsigned tlb_l2_number(tlb_mmus *all, tlb_side table, const tlb_page *p, unsigned large);

/* What stands at the page, made if it is new; or, unless `large` is 0, at the large page
   of 2^large base pages of which p is the first. */
static inline tlb_lazy_lru_page *tlb_l2_of_page(tlb_mmus *all, tlb_side table, tlb_page *p,
                                                unsigned large)
{
   uint32_t *const l2 = tlb_l2_at(all, p, large);
   if (TLB_UNLIKELY(*l2 == 0))
      *l2 = tlb_l2_number(all, table, p, large);
   return tlb_l2_page(all, *l2);
}

/* Adds what was counted in a line for machines together to the costs of each. */
void tlb_l2_settle(const tlb_mmus *all, tlb_side table, uint64_t *counts);

/* From now on there are no lazy LRU arrays. */
void tlb_l2_part(tlb_mmus *all);

#endif
