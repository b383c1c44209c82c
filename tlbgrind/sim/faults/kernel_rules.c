/* The versions of Linux that the fault model knows. See sim/faults/kernel_rules.h.

   The rules are those of mm/filemap.c and mm/readahead.c: do_sync_mmap_readahead(),
   do_async_mmap_readahead(), filemap_map_pages(), page_cache_ra_order(). */

#include <stddef.h>

#include "sim/base/text.h"

#include "sim/faults/kernel_rules.h"

const tlb_kernel_rules tlb_kernels[TLB_N_KERNELS] = {
   { .name = "6.1", .since = { 0, 0 }, .follows_behind = 1, .scans_less = 1,
     .reading_on_waits = 1 },
   { .name = "6.12", .since = { 6, 12 } },
   { .name = "6.16", .since = { 6, 16 }, .large_folios = 1, .first_order = 2, .grows_by_folio = 1 },
   { .name = "6.17", .since = { 6, 17 }, .large_folios = 1, .code_ahead = 1 },
   { .name = "6.18", .since = { 6, 18 }, .large_folios = 1, .code_ahead = 1, .whole_folios = 1,
     .no_mark_at_end = 1, .next_keeps_mark = 1 },
   { .name = "7.2", .since = { 7, 2 }, .large_folios = 1, .code_ahead = 1, .whole_folios = 1,
     .few_hits = 1, .caps_huge = 1, .no_mark_at_end = 1 },
};

const tlb_kernel_rules *tlb_kernel_of(unsigned major, unsigned minor)
{
   const tlb_kernel_rules *found = tlb_kernels;
   for (unsigned i = 1; i < TLB_N_KERNELS; i++) {
      const unsigned *since = tlb_kernels[i].since;
      if (major > since[0] || (major == since[0] && minor >= since[1]))
         found = &tlb_kernels[i];
   }
   return found;
}

const tlb_kernel_rules *tlb_kernel_named(const char *name)
{
   for (unsigned i = 0; i < TLB_N_KERNELS; i++) {
      if (tlb_text_same(tlb_kernels[i].name, name))
         return &tlb_kernels[i];
   }
   return NULL;
}

const tlb_kernel_rules *tlb_kernel_usual(void)
{
   return tlb_kernel_of(6, 18);
}
