/* Pages that go elsewhere with their mapping (mremap), and those that become a large one
   (MADV_COLLAPSE). See pagemap.h. */

#include "sim/pages/pagemap_parts.h"

/* --- Moving --- */

typedef struct {
   uint64_t page;
   uint8_t wish;
   uint8_t how;
   uint8_t large;
   uint8_t shared;
} moving;

typedef struct {
   moving *at; /* NULL: only count */
   size_t count;
} moving_list;

static int collect(tlb_view *v, tlb_chunk *c, uint64_t page, void *opaque)
{
   moving_list *const l = opaque;
   if (l->at != NULL) {
      const uint8_t wish = c->wish[page & (TLB_CHUNK_PAGES - 1)];
      const tlb_block *const b = wish > v->base_shift
                           ? tlb_view_block_at(v, page << v->base_shift, wish) : NULL;
      l->at[l->count] = (moving){ page, wish, b == NULL ? 0 : b->how,
                                  b == NULL ? 0 : b->large, b == NULL ? 0 : b->shared };
   }
   l->count++;
   return 1;
}

/* The page arrives at `address`. */
static void arrive(const tlb_pagemap *p, tlb_view *v, const moving *from,
                   uint64_t address, uint64_t distance)
{
   const unsigned base = v->base_shift;
   const uint64_t page = address >> base;
   tlb_chunk *const c = tlb_view_chunk_for(p, v, page);
   if (c->wish[page & (TLB_CHUNK_PAGES - 1)] != 0)
      return;
   tlb_block *b = NULL;
   if (from->wish > base) {
      b = tlb_view_block_for(p, v, address, from->wish);
      const uint64_t in_block = (UINT64_C(1) << from->wish) - 1;
      if (b->r.touched == 0) {
         const size_t i = tlb_mappings_above(&p->mappings, address);
         b->how = from->how;
         b->large = from->large && (distance & in_block) == 0
                    && tlb_view_fits(p, v, p->mappings.at[i], (tlb_rule_how)from->how,
                                     address, from->wish);
         b->shared = from->shared;
         b->why_small = TLB_SMALL_MOVED;
      }
   }
   tlb_view_add(v, c, b, page, from->wish);
}

/* A large page of which only a part goes elsewhere breaks. */
static void break_across(tlb_view *v, uint64_t edge)
{
   for (unsigned shift = v->base_shift + 1; v->pages->shifts >> shift != 0; shift++) {
      tlb_block *const b = v->pages->shifts >> shift & 1 ? tlb_view_block_at(v, edge, shift)
                                                  : NULL;
      if (b != NULL && b->r.touched != 0 && b->large
          && tlb_block_start(edge, shift) != edge)
         tlb_view_break(v, b, edge, shift, TLB_SMALL_MOVED);
   }
}

static void move_pages(const tlb_pagemap *p, tlb_view *v, uint64_t from,
                       uint64_t to, uint64_t length)
{
   const unsigned base = v->base_shift;
   const uint64_t distance = to - from;
   const uint64_t in_page = (UINT64_C(1) << base) - 1;
   const tlb_pages in = tlb_pages_of(v, from, from + length);
   moving_list l = { NULL, 0 };
   int any = 0;
   break_across(v, from);
   break_across(v, from + length);
   tlb_view_each_page(v, in, collect, &l);
   if (l.count == 0)
      return;
   const tlb_memory *const memory = &p->mappings.memory;
   l.at = memory->take(l.count * sizeof *l.at, memory->opaque);
   l.count = 0;
   tlb_view_each_page(v, in, collect, &l);
   tlb_view_each_page(v, in, tlb_view_drop_page, &any);
   /* Base pages that would have to be put together from parts of others are
      touched anew. */
   for (size_t i = 0; i < l.count && (distance & in_page) == 0; i++)
      arrive(p, v, &l.at[i], (l.at[i].page << base) + distance, distance);
   memory->give(l.at, memory->opaque);
   tlb_view_notify(v, from, from + length);
   tlb_view_notify(v, to, to + length);
}

void tlb_pagemap_move(tlb_pagemap *p, uint64_t from, uint64_t to,
                      uint64_t length)
{
   uint64_t at = from;
   const tlb_map_event e = { .what = TLB_EVENT_MOVE, .start = from, .end = from + length,
                             .to = to };
   if (length == 0)
      return;
   tlb_pagemap_changes(p, &e);
   p->is_in_change = 1;
   tlb_pagemap_unmap(p, to, to + length);
   /* Mapping changes the list: what lies at the new place may become one with
      what lies at the old. */
   for (tlb_mapping m; tlb_mappings_piece(&p->mappings, at, from + length, &m);) {
      at = m.end;
      m.end += to - from;
      m.start += to - from;
      tlb_pagemap_map(p, &m);
   }
   p->is_in_change = 0;
   tlb_large_move(&p->large, from, to, length);
   for (unsigned i = 0; i < p->n_views; i++)
      move_pages(p, p->view[i], from, to, length);
}

/* --- Collapsing --- */

typedef struct {
   unsigned shift;
   int other; /* pages that a rule wants to be of another size */
} collapsing;

static int check_collapse(tlb_view *v, tlb_chunk *c, uint64_t page, void *opaque)
{
   collapsing *const k = opaque;
   const unsigned wish = c->wish[page & (TLB_CHUNK_PAGES - 1)];
   (void)v;
   k->other |= wish != v->base_shift && wish != k->shift;
   return !k->other;
}

/* The page joins the block, which is not large yet. */
static int join_block(tlb_view *v, tlb_chunk *c, uint64_t page, void *opaque)
{
   uint8_t *const wish = &c->wish[page & (TLB_CHUNK_PAGES - 1)];
   tlb_block *const b = opaque;
   if (*wish == v->base_shift) {
      *wish = (uint8_t)tlb_thp_shift(&v->policy, v->base_shift);
      b->r.touched++;
   }
   (void)v;
   return 1;
}

static void collapse_block(const tlb_pagemap *p, tlb_view *v, uint64_t start,
                           unsigned shift)
{
   const unsigned base = v->base_shift;
   const uint64_t end = start + (UINT64_C(1) << shift);
   const tlb_pages in = tlb_pages_of(v, start, end);
   collapsing k = { shift, 0 };
   tlb_view_each_page(v, in, check_collapse, &k);
   if (k.other)
      return;
   /* The kernel has collapsed something: if no page of it was looked up, the view
      was not asked for what the program has touched. */
   if (!tlb_view_any_page(v, start, end))
      tlb_view_add(v, tlb_view_chunk_for(p, v, in.first), NULL, in.first, base);
   tlb_block *const b = tlb_view_block_for(p, v, start, shift);
   if (b->r.touched != 0 && b->large)
      return;
   b->how = TLB_THP;
   b->large = b->shared = 0;
   tlb_view_each_page(v, in, join_block, b);
   tlb_view_collapse(v, b, start, shift);
}

void tlb_pagemap_collapse(tlb_pagemap *p, uint64_t start, uint64_t end)
{
   const tlb_map_event e = { .what = TLB_EVENT_COLLAPSE, .start = start, .end = end };
   tlb_mapping m;
   tlb_pagemap_changes(p, &e);
   for (uint64_t at = start; tlb_mappings_piece(&p->mappings, at, end, &m); at = m.end) {
      for (unsigned n = 0; n < p->n_views; n++) {
         tlb_view *const v = p->view[n];
         const unsigned shift = tlb_thp_shift(&v->policy, v->base_shift);
         const uint64_t size = UINT64_C(1) << shift;
         const tlb_page_wish w = tlb_page_wish_collapsed(&v->policy, &m, v->base_shift);
         if (w.how != TLB_THP || shift == 0)
            continue;
         for (uint64_t b = tlb_block_start(m.start + size - 1, shift);
              b >= m.start && b + size <= m.end; b += size)
            collapse_block(p, v, b, shift);
      }
   }
}
