/* Memory of simulated MMUs. See mmu_memory.h. */

#include "sim/mmu/mmu_memory.h"

/* Before each stretch. */
typedef struct {
   void *next;
} header;

void *tlb_mmus_take(tlb_mmus *all, size_t bytes)
{
   header *const h = all->options.memory.take(sizeof *h + TLB_CACHE_LINE + bytes,
                                              all->options.memory.opaque);
   h->next = all->taken;
   all->taken = h;
   const uintptr_t at = (uintptr_t)(h + 1) + TLB_CACHE_LINE - 1;
   return (void *)(at / TLB_CACHE_LINE * TLB_CACHE_LINE);
}

/* Byte by byte, as the loop stands, it would be a third of all that sanitized builds do; so it
   becomes a call of memset there, too, which they check as well. */
__attribute__((no_sanitize("address", "undefined")))
void *tlb_mmus_take_zeroes(tlb_mmus *all, size_t bytes)
{
   uint8_t *const at = tlb_mmus_take(all, bytes);
   for (size_t i = 0; i < bytes; i++)
      at[i] = 0;
   return at;
}

void tlb_mmus_give(tlb_mmus *all)
{
   while (all->taken != NULL) {
      header *const h = all->taken;
      all->taken = h->next;
      all->options.memory.give(h, all->options.memory.opaque);
   }
}

/* Room grows by doubling. */
void *tlb_mmus_list(tlb_mmus *all, void *list, unsigned n)
{
   void **const old = list;
   if ((n & (n - 1)) != 0)
      return list;
   void **const made = tlb_mmus_take(all, (n == 0 ? 1 : 2 * (size_t)n) * sizeof *made);
   for (unsigned i = 0; i < n; i++)
      made[i] = old[i];
   return made;
}
