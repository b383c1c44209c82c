/* Large pages: the base pages of machines that have larger ones than the run.

   To such a machine all of a large page is known, or nothing. When one comes or goes, not
   all records of the run's base pages in it are touched: a record says that the machine
   must see the next reference until that has been made, and has asked here. So only
   those have to be told that were referenced while the large page was there.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_LARGE_PAGES_H
#define TLB_LARGE_PAGES_H

#include "sim/mmu/known_hits.h"
#include "sim/mmu/mmu_data.h"

/* Numbered from 1, for a base page's record has no room for an address. */
enum { TLB_LARGE_CHUNK_BITS = 6 };
unsigned tlb_large_new(tlb_mmus *all);

/* What is kept of the large page of 2^large base pages of which `first` is the first,
   made if it is new. Its number stands at a base page of its own, which is in the middle
   of no page of another size. */
static inline tlb_large_page *tlb_large_of_page(tlb_mmus *all, tlb_page *first,
                                                unsigned large)
{
   tlb_page_rest *const middle = tlb_rest(tlb_page_at(first, (intptr_t)1 << (large - 1)));
   if (TLB_UNLIKELY(middle->large == 0))
      middle->large = tlb_large_new(all);
   return &all->large.chunk[middle->large >> TLB_LARGE_CHUNK_BITS]
                           [middle->large & ((1u << TLB_LARGE_CHUNK_BITS) - 1)];
}

static inline uint64_t tlb_large_absent(const tlb_mmus *all, const tlb_large_page *l,
                                        tlb_user user)
{
   return user == TLB_STORE && all->traits.split ? l->absent_writes : l->absent;
}

/* It came to the machines of `loads` (or fetches), and to those of `stores` for these. */
static inline void tlb_large_comes(tlb_large_page *l, uint64_t loads, uint64_t stores)
{
   l->absent &= ~loads;
   l->absent_writes &= ~stores;
}

/* Of so many base pages (2^n) all are told at once. */
enum { TLB_LARGE_FEW = 2 };

/* The reference at hand is to the base page of that number in it, whose record now says
   what is known. */
static inline void tlb_large_tell(tlb_mmus *all, tlb_large_page *l, tlb_side table,
                                  tlb_page *first, tlb_page_number number,
                                  unsigned large)
{
   const unsigned n = large > TLB_LARGE_FEW ? 1 : 1u << large;
   const unsigned from = large > TLB_LARGE_FEW ? tlb_nth_page(number, large) : 0;
   tlb_page *p = tlb_page_at(first, (intptr_t)from);
   for (unsigned i = from; i < from + n; i++, p = tlb_page_at(p, 1)) {
      tlb_page_rest *const rest = tlb_rest(p);
      rest->observers &= l->absent;
      rest->write_observers &= l->absent_writes;
      l->told |= UINT64_C(1) << i;
      tlb_page_settle(all, table, p);
   }
}

/* The machines have it no more, for loads (or fetches), for stores, or for both. */
void tlb_large_goes(tlb_mmus *all, tlb_large_page *l, tlb_side table, tlb_page *first,
                    uint64_t loads, uint64_t stores);

#endif
