/* What a view notes: its base pages, the blocks that they lie in, and their sums. See
   pagemap_parts.h. */

#include "sim/pages/pagemap_parts.h"

/* --- Sums --- */

static void note_peak(tlb_view_counts *c)
{
   if (c->backed <= c->peak_backed)
      return;
   c->peak = c->now;
   c->peak_backed = c->backed;
}

static void add_pages(tlb_view_counts *c, unsigned shift, uint64_t pages)
{
   c->now.pages[shift] += pages;
   c->backed += pages << shift;
}

static void take_pages(tlb_view_counts *c, unsigned shift, uint64_t pages)
{
   note_peak(c);
   c->now.pages[shift] -= pages;
   c->backed -= pages << shift;
}

const tlb_view_counts *tlb_pagemap_counts(tlb_pagemap *p, unsigned view)
{
   note_peak(&p->view[view]->counts);
   return &p->view[view]->counts;
}

static int pool_of(const tlb_view *v, unsigned shift)
{
   for (unsigned i = 0; i < v->policy.n_pools; i++) {
      if (v->policy.pool[i].shift == shift)
         return (int)i;
   }
   return -1;
}

/* A large page is taken from its pool, or given back. */
static void use_pool(tlb_view *v, const tlb_block *b, unsigned shift, int pages)
{
   const int pool = b->how == TLB_FIXED ? pool_of(v, shift) : -1;
   if (pool >= 0)
      v->pages->left[pool] -= pages;
}

int tlb_view_pool_is_empty(const tlb_view *v, unsigned shift)
{
   const int pool = pool_of(v, shift);
   return pool >= 0 && v->pages->left[pool] <= 0;
}

/* --- Blocks --- */

uint64_t tlb_view_first_byte(const tlb_mapping *m, unsigned base)
{
   return m->kind == TLB_STACK ? tlb_block_start(m->start, base) : m->start;
}

int tlb_view_fits(const tlb_pagemap *p, const tlb_view *v, const tlb_mapping *m,
                  tlb_rule_how how, uint64_t address, unsigned shift)
{
   const uint64_t start = tlb_block_start(address, shift);
   const uint64_t last = start + ((UINT64_C(1) << shift) - 1);
   const int from = start >= tlb_view_first_byte(m, v->base_shift);
   const int to = last < m->end;
   if (from && to)
      return 1;
   if (how != TLB_FIXED)
      return 0;
   if (m->kind == TLB_HEAP && from)
      return !tlb_mappings_overlap(&p->mappings, m->end, last + 1);
   if (m->kind == TLB_STACK && to)
      return !tlb_mappings_overlap(&p->mappings, start, m->start);
   return 0;
}

void tlb_pagemap_small(tlb_pagemap *p, unsigned view, uint64_t count[TLB_N_SMALL_REASONS])
{
   const tlb_view *const v = p->view[view];
   for (unsigned why = 0; why < TLB_N_SMALL_REASONS; why++)
      count[why] = 0;
   for (size_t i = 0; v->pages->blocks.slot != NULL && i <= v->pages->blocks.mask; i++) {
      const tlb_block *const b = v->pages->blocks.slot[i];
      if (b == NULL || b->r.touched == 0 || b->large || b->how != TLB_THP)
         continue;
      const uint64_t at = tlb_block_address(b);
      const tlb_mapping *const m = tlb_mappings_find(&p->mappings, at);
      count[b->why_small] += m != NULL && tlb_view_fits(p, v, m, TLB_THP, at, tlb_block_shift(b));
   }
}

/* --- Pages that come and go --- */

/* One more of the block's base pages is there. */
static void add_to_block(tlb_view *v, tlb_block *b, unsigned shift, unsigned base)
{
   const unsigned size = b->large ? shift : base;
   if (!b->large) {
      add_pages(&v->counts, base, 1);
   } else if (b->r.touched == 0) {
      add_pages(&v->counts, shift, 1);
      use_pool(v, b, shift, 1);
   }
   v->counts.now.touched[size] += UINT64_C(1) << base;
   b->r.touched++;
}

static void take_from_block(tlb_view *v, tlb_block *b, unsigned shift,
                            unsigned base)
{
   const unsigned size = b->large ? shift : base;
   note_peak(&v->counts);
   b->r.touched--;
   v->counts.now.touched[size] -= UINT64_C(1) << base;
   if (!b->large) {
      take_pages(&v->counts, base, 1);
   } else if (b->r.touched == 0) {
      take_pages(&v->counts, shift, 1);
      use_pool(v, b, shift, -1);
   }
}

void tlb_view_add(tlb_view *v, tlb_chunk *c, tlb_block *b, uint64_t page, unsigned wish)
{
   const unsigned base = v->base_shift;
   if (b != NULL) {
      add_to_block(v, b, wish, base);
   } else {
      add_pages(&v->counts, base, 1);
      v->counts.now.touched[base] += UINT64_C(1) << base;
   }
   c->wish[page & (TLB_CHUNK_PAGES - 1)] = (uint8_t)wish;
   c->r.touched++;
}

int tlb_view_drop_page(tlb_view *v, tlb_chunk *c, uint64_t page, void *opaque)
{
   const unsigned base = v->base_shift;
   uint8_t *const wish = &c->wish[page & (TLB_CHUNK_PAGES - 1)];
   if (*wish > base) {
      take_from_block(v, tlb_view_block_at(v, page << base, *wish), *wish, base);
   } else {
      take_pages(&v->counts, base, 1);
      v->counts.now.touched[base] -= UINT64_C(1) << base;
   }
   *wish = 0;
   c->r.touched--;
   *(int *)opaque = 1;
   return 1;
}

/* --- Large pages --- */

void tlb_view_notify(const tlb_view *v, uint64_t start, uint64_t end)
{
   const uint64_t page = UINT64_C(1) << v->base_shift;
   if (v->changed != NULL && start < end)
      v->changed(v->opaque, tlb_block_start(start, v->base_shift),
                 tlb_block_start(end + page - 1, v->base_shift));
}

void tlb_view_break(tlb_view *v, tlb_block *b, uint64_t address, unsigned shift,
                    tlb_small_reason why)
{
   const unsigned base = v->base_shift;
   const uint64_t start = tlb_block_start(address, shift);
   const uint64_t bytes = b->r.touched << base;
   take_pages(&v->counts, shift, 1);
   use_pool(v, b, shift, -1);
   b->large = 0;
   b->why_small = (uint8_t)why;
   add_pages(&v->counts, base, b->r.touched);
   v->counts.taken[base] += b->r.touched;
   v->counts.now.touched[shift] -= bytes;
   v->counts.now.touched[base] += bytes;
   v->counts.broken++;
   tlb_view_notify(v, start, start + (UINT64_C(1) << shift));
}

void tlb_view_collapse(tlb_view *v, tlb_block *b, uint64_t start, unsigned shift)
{
   const unsigned base = v->base_shift;
   const uint64_t bytes = b->r.touched << base;
   take_pages(&v->counts, base, b->r.touched);
   v->counts.now.touched[base] -= bytes;
   b->large = 1;
   add_pages(&v->counts, shift, 1);
   v->counts.now.touched[shift] += bytes;
   v->counts.taken[shift]++;
   tlb_view_notify(v, start, start + (UINT64_C(1) << shift));
}

/* --- Pages in a range --- */

static int each_of_chunk(tlb_view *v, tlb_chunk *c, tlb_pages in, tlb_page_call *call,
                         void *opaque)
{
   const uint64_t base = c->r.number << TLB_CHUNK_SHIFT;
   const uint64_t end = base + TLB_CHUNK_PAGES < in.end ? base + TLB_CHUNK_PAGES
                                                        : in.end;
   for (uint64_t n = base > in.first ? base : in.first;
        n < end && c->r.touched != 0; n++) {
      if (c->wish[n - base] != 0 && !call(v, c, n, opaque))
         return 0;
   }
   return 1;
}

/* By chunks, or by the table where that has fewer. */
void tlb_view_each_page(tlb_view *v, tlb_pages in, tlb_page_call *call, void *opaque)
{
   if (in.first >= in.end || v->pages->chunks.slot == NULL)
      return;
   const uint64_t from = in.first >> TLB_CHUNK_SHIFT;
   const uint64_t to = (in.end - 1) >> TLB_CHUNK_SHIFT;
   if (to - from <= v->pages->chunks.mask) {
      for (uint64_t n = from; n <= to; n++) {
         tlb_chunk *const c = tlb_chunk_at(&v->pages->chunks, n);
         if (c != NULL && !each_of_chunk(v, c, in, call, opaque))
            return;
      }
      return;
   }
   for (size_t i = 0; i <= v->pages->chunks.mask; i++) {
      tlb_chunk *const c = v->pages->chunks.slot[i];
      if (c != NULL && !each_of_chunk(v, c, in, call, opaque))
         return;
   }
}

static int stop_at_once(tlb_view *v, tlb_chunk *c, uint64_t page, void *opaque)
{
   (void)v; (void)c; (void)page;
   *(int *)opaque = 1;
   return 0;
}

tlb_pages tlb_pages_of(const tlb_view *v, uint64_t start, uint64_t end)
{
   if (start >= end)
      return (tlb_pages){ 0, 0 };
   return (tlb_pages){ start >> v->base_shift, ((end - 1) >> v->base_shift) + 1 };
}

int tlb_view_any_page(tlb_view *v, uint64_t start, uint64_t end)
{
   int found = 0;
   tlb_view_each_page(v, tlb_pages_of(v, start, end), stop_at_once, &found);
   return found;
}

int tlb_view_any_in_block(tlb_view *v, uint64_t address, unsigned shift)
{
   const uint64_t start = tlb_block_start(address, shift);
   return tlb_view_any_page(v, start, start + (UINT64_C(1) << shift));
}
