/* Transparent huge pages that a fork shares (pagemap.h).

   Both processes have the page, write-protected. The first write breaks it in the process that
   writes, and copies one small page: do_huge_pmd_wp_page() in Linux. If the other process has gone
   by then, the page is this one's again. Huge pages of other kinds are copied as a whole. */

#include "sim/pages/pagemap_parts.h"

static int is_shareable(tlb_pagemap *p, const tlb_block *b)
{
   const tlb_mapping *m;
   if (b->r.touched == 0 || !b->large || b->how != TLB_THP)
      return 0;
   m = tlb_mappings_find(&p->mappings, tlb_block_address(b));
   return m != NULL && (m->flags & (TLB_MAP_SHARED | TLB_MAP_NO_FORK | TLB_MAP_WIPE_ON_FORK)) == 0;
}

uint64_t tlb_pagemap_share(tlb_pagemap *p)
{
   const tlb_map_event e = { .what = TLB_EVENT_SHARE };
   uint64_t n = 0;
   tlb_pagemap_changes(p, &e);
   for (unsigned view = 0; view < p->n_views; view++) {
      const tlb_page_table *const blocks = &p->view[view]->pages->blocks;
      for (size_t i = 0; blocks->slot != NULL && i <= blocks->mask; i++) {
         tlb_block *const b = blocks->slot[i];
         if (b == NULL || !is_shareable(p, b))
            continue;
         b->shared = 1;
         n++;
      }
   }
   return n;
}

/* The block around the address that is one shared page in the view, or NULL. */
static tlb_block *shared_at(const tlb_view *v, uint64_t address)
{
   for (uint64_t shifts = v->pages->shifts; shifts != 0; shifts &= shifts - 1) {
      tlb_block *const b = tlb_view_block_at(v, address, (unsigned)__builtin_ctzll(shifts));
      if (b != NULL && b->r.touched != 0 && b->large && b->shared)
         return b;
   }
   return NULL;
}

int tlb_pagemap_is_shared(const tlb_pagemap *p, uint64_t address)
{
   int shared = 0;
   for (unsigned view = 0; view < p->n_views && !shared; view++)
      shared = shared_at(p->view[view], address) != NULL;
   return shared;
}

void tlb_pagemap_written(tlb_pagemap *p, uint64_t address, int still_shared)
{
   const tlb_map_event e = { .what = TLB_EVENT_WRITTEN, .start = address, .end = address + 1,
                             .value = still_shared != 0 };
   tlb_pagemap_changes(p, &e);
   for (unsigned view = 0; view < p->n_views; view++) {
      tlb_block *const b = shared_at(p->view[view], address);
      if (b == NULL)
         continue;
      b->shared = 0;
      if (still_shared)
         tlb_view_break(p->view[view], b, address, tlb_block_shift(b), TLB_SMALL_FORKED);
   }
}
