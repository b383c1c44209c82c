/* Large pages. See large_pages.h. */

#include "sim/mmu/large_pages.h"

#include "sim/mmu/mmu_memory.h"

enum { CHUNK = 1 << TLB_LARGE_CHUNK_BITS };

unsigned tlb_large_new(tlb_mmus *all)
{
   const unsigned number = ++all->large.n;
   const unsigned n = number / CHUNK;
   if (all->large.chunk == NULL || number % CHUNK == 0) {
      all->large.chunk = tlb_mmus_list(all, all->large.chunk, n);
      all->large.chunk[n] = tlb_mmus_take(all, CHUNK * sizeof **all->large.chunk);
   }
   all->large.chunk[n][number % CHUNK]
      = (tlb_large_page){ .absent = UINT64_MAX, .absent_writes = UINT64_MAX };
   return number;
}

void tlb_large_goes(tlb_mmus *all, tlb_large_page *l, tlb_side table, tlb_page *first,
                    uint64_t loads, uint64_t stores)
{
   for (uint64_t told = l->told; told != 0; told &= told - 1)
      tlb_page_observe(all, table, tlb_page_at(first, __builtin_ctzll(told)), loads != 0,
                       stores != 0, loads | stores);
   l->absent |= loads;
   l->absent_writes |= stores;
   if ((l->absent & l->absent_writes) == UINT64_MAX)
      l->told = 0;
}
