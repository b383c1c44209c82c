/* The page map: which page size backs each address.

   Each view notes the base pages that it has been asked for, with the page size
   that the rules wished for when they were touched (touched.h). Where that is
   larger than the base page, the aligned block of that size has a record that
   says what was decided and how many of its base pages have been touched under
   that wish. */

#include "pagemap.h"

enum { BLOCK_SHIFT = 16 /* the largest block that arrays coalesce */ };

static void *get(const tlb_pagemap *p, size_t bytes)
{
   return p->mappings.memory.take(bytes, p->mappings.memory.opaque);
}

static void put(const tlb_pagemap *p, void *memory)
{
   p->mappings.memory.give(memory, p->mappings.memory.opaque);
}

static tlb_chunk *chunk_for(const tlb_pagemap *p, tlb_view *v, uint64_t page)
{
   return tlb_chunk_for(&v->chunks, &p->mappings.memory, page);
}

static tlb_block *block_at(const tlb_view *v, uint64_t address, unsigned shift)
{
   return tlb_block_at(&v->blocks, address, shift);
}

static tlb_block *block_for(const tlb_pagemap *p, tlb_view *v, uint64_t address,
                            unsigned shift)
{
   v->shifts |= UINT64_C(1) << shift;
   return tlb_block_for(&v->blocks, &p->mappings.memory, address, shift);
}

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
      v->left[pool] -= pages;
}

static int pool_is_empty(const tlb_view *v, unsigned shift)
{
   const int pool = pool_of(v, shift);
   return pool >= 0 && v->left[pool] <= 0;
}

/* --- Blocks --- */

static uint64_t block_start(uint64_t address, unsigned shift)
{
   return address >> shift << shift;
}

/* Where the mapping begins. The stack grows by whole base pages, whatever other
   views take for one. */
static uint64_t first_byte(const tlb_mapping *m, unsigned base)
{
   return m->kind == TLB_STACK ? block_start(m->start, base) : m->start;
}

/* Whether one page of that size can back the block around `address`, which is
   the mapping's. */
static int fits(const tlb_pagemap *p, const tlb_view *v, const tlb_mapping *m,
                tlb_rule_how how, uint64_t address, unsigned shift)
{
   const uint64_t start = block_start(address, shift);
   const uint64_t last = start + ((UINT64_C(1) << shift) - 1);
   const int from = start >= first_byte(m, v->base_shift);
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

/* Whole base pages: one of which a part has changed has changed. */
static void notify(const tlb_view *v, uint64_t start, uint64_t end)
{
   const uint64_t page = UINT64_C(1) << v->base_shift;
   if (v->changed != NULL && start < end)
      v->changed(v->opaque, block_start(start, v->base_shift),
                 block_start(end + page - 1, v->base_shift));
}

/* The large page around `address` becomes base pages. */
static void break_block(tlb_view *v, tlb_block *b, uint64_t address,
                        unsigned shift, unsigned base)
{
   const uint64_t start = block_start(address, shift);
   const uint64_t bytes = b->r.touched << base;
   take_pages(&v->counts, shift, 1);
   use_pool(v, b, shift, -1);
   b->large = 0;
   add_pages(&v->counts, base, b->r.touched);
   v->counts.taken[base] += b->r.touched;
   v->counts.now.touched[shift] -= bytes;
   v->counts.now.touched[base] += bytes;
   v->counts.broken++;
   notify(v, start, start + (UINT64_C(1) << shift));
}

/* --- Pages in a range --- */

/* Base pages [first, end). */
typedef struct {
   uint64_t first;
   uint64_t end;
} pages;

/* Called for a base page that has been asked for. Returns 0 to stop. */
typedef int page_call(tlb_view *v, tlb_chunk *c, uint64_t page, void *opaque);

static int each_of_chunk(tlb_view *v, tlb_chunk *c, pages in, page_call *call,
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

/* Calls for every base page in the range that has been asked for; `call` may
   not add any. By chunks, or by the table where that has fewer. */
static void each_page(tlb_view *v, pages in, page_call *call, void *opaque)
{
   if (in.first >= in.end || v->chunks.slot == NULL)
      return;
   const uint64_t from = in.first >> TLB_CHUNK_SHIFT;
   const uint64_t to = (in.end - 1) >> TLB_CHUNK_SHIFT;
   if (to - from <= v->chunks.mask) {
      for (uint64_t n = from; n <= to; n++) {
         tlb_chunk *const c = tlb_chunk_at(&v->chunks, n);
         if (c != NULL && !each_of_chunk(v, c, in, call, opaque))
            return;
      }
      return;
   }
   for (size_t i = 0; i <= v->chunks.mask; i++) {
      tlb_chunk *const c = v->chunks.slot[i];
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

static pages pages_of(const tlb_view *v, uint64_t start, uint64_t end)
{
   if (start >= end)
      return (pages){ 0, 0 };
   return (pages){ start >> v->base_shift, ((end - 1) >> v->base_shift) + 1 };
}

/* Whether any base page of the range has been asked for. */
static int any_page(tlb_view *v, uint64_t start, uint64_t end)
{
   int found = 0;
   each_page(v, pages_of(v, start, end), stop_at_once, &found);
   return found;
}

/* Whether any of the block's base pages has been asked for, also under another
   wish: then the block was decided by that. */
static int any_in_block(tlb_view *v, uint64_t address, unsigned shift)
{
   const uint64_t start = block_start(address, shift);
   return any_page(v, start, start + (UINT64_C(1) << shift));
}

/* --- Questions --- */

static uint8_t coalescing(const tlb_mapping *m, uint64_t address,
                          unsigned base)
{
   for (unsigned shift = BLOCK_SHIFT; shift > base; shift--) {
      const uint64_t start = block_start(address, shift);
      if (start >= first_byte(m, base)
          && start + (UINT64_C(1) << shift) <= m->end)
         return (uint8_t)shift;
   }
   return (uint8_t)base;
}

/* What the rules wish for the base page; but where a large page is already, by
   advice of another time, the base page is a part of that. */
static tlb_page_wish wish_at(const tlb_pagemap *p, const tlb_view *v,
                             const tlb_mapping *m, uint64_t address)
{
   for (unsigned shift = v->base_shift + 1; v->shifts >> shift != 0; shift++) {
      const tlb_block *const b = v->shifts >> shift & 1
                                    ? block_at(v, address, shift) : NULL;
      if (b != NULL && b->r.touched != 0 && b->large)
         return (tlb_page_wish){ (tlb_rule_how)b->how, shift };
   }
   const tlb_page_wish w = tlb_page_wish_for(&v->policy, m, v->base_shift);
   if (w.how == TLB_THP && !tlb_thp_consented(p->thp, m))
      return (tlb_page_wish){ TLB_FIXED, v->base_shift };
   return w;
}

/* The first question about a base page: notes it and returns what the rules
   wish for it. */
static uint8_t touch(const tlb_pagemap *p, tlb_view *v, tlb_chunk *c,
                     const tlb_mapping *m, uint64_t address)
{
   const unsigned base = v->base_shift;
   const tlb_page_wish w = wish_at(p, v, m, address);
   const uint64_t page = address >> base;
   if (v->unmet != 0)
      v->unmet &= ~tlb_page_rules_about(&v->policy, m, v->unmet);
   unsigned size = base;
   if (w.shift > base) {
      tlb_block *const b = block_for(p, v, address, w.shift);
      const int first = b->r.touched == 0;
      if (first) {
         b->how = (uint8_t)w.how;
         b->large = (uint8_t)(fits(p, v, m, w.how, address, w.shift)
                              && !any_in_block(v, address, w.shift));
         if (b->large && w.how == TLB_FIXED && pool_is_empty(v, w.shift)) {
            b->large = 0;
            v->counts.fallbacks[w.shift]++;
         }
      }
      if (b->large)
         size = w.shift;
      v->counts.taken[size] += !b->large || first;
      add_to_block(v, b, w.shift, base);
   } else {
      add_pages(&v->counts, base, 1);
      v->counts.now.touched[base] += UINT64_C(1) << base;
      v->counts.taken[base]++;
   }
   c->wish[page & (TLB_CHUNK_PAGES - 1)] = (uint8_t)w.shift;
   c->r.touched++;
   return (uint8_t)size;
}

/* The mapping that a base page belongs to, of which `address` is touched: that
   of its first byte, or the first on the page, for pages larger than the
   host's. */
static const tlb_mapping *mapping_of_page(tlb_pagemap *p, uint64_t address,
                                          unsigned base)
{
   const uint64_t start = block_start(address, base);
   const uint64_t last = start + ((UINT64_C(1) << base) - 1);
   const tlb_mapping *m = tlb_mappings_find(&p->mappings, address);
   if (m == NULL && p->ask != NULL)
      p->ask(p->ask_opaque, address);
   m = tlb_mappings_find(&p->mappings, start);
   if (m != NULL)
      return m;
   const size_t i = tlb_mappings_above(&p->mappings, start);
   return i < p->mappings.count && p->mappings.at[i]->start <= last
        ? p->mappings.at[i] : NULL;
}

tlb_backing tlb_pagemap_backing(tlb_pagemap *p, unsigned view,
                                uint64_t address)
{
   tlb_view *const v = p->view[view];
   const unsigned base = v->base_shift;
   tlb_backing answer = { (uint8_t)base, (uint8_t)base };
   const tlb_mapping *const m = mapping_of_page(p, address, base);
   if (m == NULL)
      return answer;
   address = block_start(address, base);
   answer.block_shift = coalescing(m, address, base);
   tlb_chunk *const c = chunk_for(p, v, address >> base);
   const unsigned wish = c->wish[(address >> base) & (TLB_CHUNK_PAGES - 1)];
   if (wish == 0) {
      answer.page_shift = touch(p, v, c, m, address);
   } else if (wish > base) {
      if (block_at(v, address, wish)->large)
         answer.page_shift = (uint8_t)wish;
   }
   return answer;
}

const tlb_view_counts *tlb_pagemap_counts(tlb_pagemap *p, unsigned view)
{
   note_peak(&p->view[view]->counts);
   return &p->view[view]->counts;
}

/* --- Pages that go --- */

static int drop_page(tlb_view *v, tlb_chunk *c, uint64_t page, void *opaque)
{
   const unsigned base = v->base_shift;
   uint8_t *const wish = &c->wish[page & (TLB_CHUNK_PAGES - 1)];
   if (*wish > base) {
      take_from_block(v, block_at(v, page << base, *wish), *wish, base);
   } else {
      take_pages(&v->counts, base, 1);
      v->counts.now.touched[base] -= UINT64_C(1) << base;
   }
   *wish = 0;
   c->r.touched--;
   *(int *)opaque = 1;
   return 1;
}

/* Forgets the pages of [start, end), but not a base page that a mapping still
   has a part of. Returns whether there were any. */
static int drop(const tlb_pagemap *p, tlb_view *v, uint64_t start,
                uint64_t end)
{
   const uint64_t size = UINT64_C(1) << v->base_shift;
   pages in = pages_of(v, start, end);
   int any = 0;
   if (in.first < in.end && (start & (size - 1)) != 0
       && tlb_mappings_overlap(&p->mappings, in.first << v->base_shift,
                               (in.first + 1) << v->base_shift))
      in.first++;
   if (in.first < in.end && (end & (size - 1)) != 0
       && tlb_mappings_overlap(&p->mappings, (in.end - 1) << v->base_shift,
                               in.end << v->base_shift))
      in.end--;
   each_page(v, in, drop_page, &any);
   return any;
}

/* --- Changes --- */

/* Large pages that reach over `address` break if they no longer fit. */
static void check_blocks(tlb_pagemap *p, tlb_view *v, uint64_t address)
{
   for (unsigned shift = v->base_shift + 1; shift < TLB_N_PAGE_SHIFTS;
        shift++) {
      if ((v->shifts >> shift & 1) == 0)
         continue;
      tlb_block *const b = block_at(v, address, shift);
      if (b == NULL || b->r.touched == 0 || !b->large)
         continue;
      const uint64_t start = block_start(address, shift);
      const uint64_t last = start + ((UINT64_C(1) << shift) - 1);
      const tlb_mapping *m = tlb_mappings_find(&p->mappings, start);
      if (m == NULL || !fits(p, v, m, (tlb_rule_how)b->how, address, shift))
         m = tlb_mappings_find(&p->mappings, last);
      if (m == NULL || !fits(p, v, m, (tlb_rule_how)b->how, address, shift))
         break_block(v, b, address, shift, v->base_shift);
   }
}

/* The mappings in [start, end) are no longer what they were: large pages at
   the edges may break, small ones there coalesce differently. `inside` says
   that pages between the edges have changed, too. */
static void edges(tlb_pagemap *p, tlb_view *v, uint64_t start, uint64_t end,
                  int inside)
{
   const uint64_t size = UINT64_C(1) << BLOCK_SHIFT;
   uint64_t from = block_start(start, BLOCK_SHIFT);
   uint64_t to = block_start(end + size - 1, BLOCK_SHIFT);
   check_blocks(p, v, start);
   check_blocks(p, v, end - 1);
   if (v->base_shift >= BLOCK_SHIFT) {
      from = start;
      to = end;
   }
   if (from < start && !any_page(v, from, start))
      from = start;
   if (to > end && !any_page(v, end, to))
      to = end;
   if (inside)
      notify(v, from, to);
   else {
      notify(v, from, start);
      notify(v, end, to);
   }
}

void tlb_pagemap_init(tlb_pagemap *p, const tlb_memory *memory)
{
   tlb_mappings_init(&p->mappings, memory);
   p->ask = NULL;
   p->ask_opaque = NULL;
   p->view = NULL;
   p->n_views = 0;
   p->thp = TLB_THP_ALLOWED;
}

void tlb_pagemap_free(tlb_pagemap *p)
{
   for (unsigned i = 0; i < p->n_views; i++) {
      tlb_page_table_free(&p->view[i]->chunks, &p->mappings.memory);
      tlb_page_table_free(&p->view[i]->blocks, &p->mappings.memory);
      put(p, p->view[i]);
   }
   if (p->view != NULL)
      put(p, p->view);
   p->view = NULL;
   p->n_views = 0;
   tlb_mappings_free(&p->mappings);
}

void tlb_pagemap_ask_for(tlb_pagemap *p, tlb_pagemap_ask *ask, void *opaque)
{
   p->ask = ask;
   p->ask_opaque = opaque;
}

unsigned tlb_pagemap_add_view(tlb_pagemap *p, unsigned base_shift,
                              const tlb_page_policy *policy,
                              tlb_view_changed *changed, void *opaque)
{
   tlb_view **const all = get(p, (p->n_views + 1) * sizeof *all);
   tlb_view *const v = get(p, sizeof *v);
   *v = (tlb_view){ .changed = changed, .opaque = opaque,
                    .base_shift = base_shift };
   v->policy = *policy;
   v->unmet = (uint32_t)((UINT64_C(1) << policy->n_rules) - 1);
   for (unsigned i = 0; i < policy->n_pools; i++)
      v->left[i] = (int64_t)policy->pool[i].pages;
   for (unsigned i = 0; i < p->n_views; i++)
      all[i] = p->view[i];
   if (p->view != NULL)
      put(p, p->view);
   p->view = all;
   p->view[p->n_views] = v;
   return p->n_views++;
}

void tlb_pagemap_map(tlb_pagemap *p, const tlb_mapping *m)
{
   const uint64_t start = m->start;
   const uint64_t end = m->end;
   const tlb_mapping copy = *m;
   if (start >= end)
      return;
   const int over = tlb_mappings_overlap(&p->mappings, start, end);
   if (over)
      tlb_mappings_remove(&p->mappings, start, end);
   for (unsigned i = 0; i < p->n_views; i++) {
      tlb_view *const v = p->view[i];
      if (!over)
         continue;
      drop(p, v, start, end);
      edges(p, v, start, end, 0);
   }
   tlb_mappings_add(&p->mappings, &copy);
   /* What was asked for where nothing was is noted nowhere: any page inside may
      have been. */
   for (unsigned i = 0; i < p->n_views; i++)
      edges(p, p->view[i], start, end, 1);
}

void tlb_pagemap_unmap(tlb_pagemap *p, uint64_t start, uint64_t end)
{
   if (start >= end || !tlb_mappings_overlap(&p->mappings, start, end))
      return;
   tlb_mappings_remove(&p->mappings, start, end);
   for (unsigned i = 0; i < p->n_views; i++) {
      tlb_view *const v = p->view[i];
      const int any = drop(p, v, start, end);
      edges(p, v, start, end, any);
   }
}

/* All that tlb_pagemap_protect(), _flag() and _rename() change. */
typedef struct {
   int has_prot;
   uint8_t prot;
   int has_kind;
   uint8_t kind;
   uint16_t set;
   uint16_t clear;
} alteration;

static void alter(tlb_mapping *m, void *opaque)
{
   const alteration *const a = opaque;
   if (a->has_prot)
      m->prot = a->prot;
   if (a->has_kind)
      m->kind = a->kind;
   m->flags = (uint16_t)((m->flags & ~a->clear) | a->set);
}

static void alter_range(tlb_pagemap *p, uint64_t start, uint64_t end,
                        const alteration *a)
{
   alteration copy = *a;
   if (start >= end)
      return;
   tlb_mappings_change(&p->mappings, start, end, alter, &copy);
   for (unsigned i = 0; i < p->n_views; i++) {
      tlb_view *const v = p->view[i];
      edges(p, v, start, end, any_page(v, start, end));
   }
}

void tlb_pagemap_protect(tlb_pagemap *p, uint64_t start, uint64_t end,
                         unsigned prot)
{
   const alteration a = { .has_prot = 1, .prot = (uint8_t)prot };
   alter_range(p, start, end, &a);
}

void tlb_pagemap_flag(tlb_pagemap *p, uint64_t start, uint64_t end,
                      unsigned set, unsigned clear)
{
   const alteration a = { .set = (uint16_t)set, .clear = (uint16_t)clear };
   alter_range(p, start, end, &a);
}

void tlb_pagemap_rename(tlb_pagemap *p, uint64_t start, uint64_t end,
                        tlb_kind kind, unsigned set)
{
   const alteration a = { .has_kind = 1, .kind = (uint8_t)kind,
                          .set = (uint16_t)set };
   alter_range(p, start, end, &a);
}

/* A transparent huge page of which [start, end) covers only a part breaks. */
static void break_thp(tlb_view *v, uint64_t start, uint64_t end,
                      uint64_t address)
{
   const unsigned shift = tlb_thp_shift(v->base_shift);
   const uint64_t from = block_start(address, shift);
   const uint64_t last = from + ((UINT64_C(1) << shift) - 1);
   tlb_block *const b = shift == 0 ? NULL : block_at(v, address, shift);
   if (b != NULL && b->r.touched != 0 && b->large && b->how == TLB_THP
       && (from < start || last >= end))
      break_block(v, b, address, shift, v->base_shift);
}

void tlb_pagemap_split(tlb_pagemap *p, uint64_t start, uint64_t end, int all)
{
   if (start >= end)
      return;
   for (unsigned i = 0; i < p->n_views; i++) {
      tlb_view *const v = p->view[i];
      const unsigned shift = tlb_thp_shift(v->base_shift);
      break_thp(v, start, end, start);
      break_thp(v, start, end, end - 1);
      if (!all || shift == 0)
         continue;
      /* A block of which a part is outside breaks, and of an empty range all is. */
      const uint64_t last = block_start(end - 1, shift);
      for (uint64_t at = block_start(start, shift); at <= last;
           at += UINT64_C(1) << shift)
         break_thp(v, at, at, at);
   }
}

void tlb_pagemap_zap(tlb_pagemap *p, uint64_t start, uint64_t end)
{
   if (start >= end)
      return;
   for (unsigned i = 0; i < p->n_views; i++) {
      tlb_view *const v = p->view[i];
      const uint64_t size = UINT64_C(1) << v->base_shift;
      /* Whole base pages only: a part of one can not go away. */
      const uint64_t from = block_start(start + size - 1, v->base_shift);
      const uint64_t to = block_start(end, v->base_shift);
      int any = 0;
      if (from >= to)
         continue;
      break_thp(v, start, end, start);
      break_thp(v, start, end, end - 1);
      each_page(v, pages_of(v, from, to), drop_page, &any);
      if (any)
         notify(v, from, to);
   }
}

/* --- Moving --- */

typedef struct {
   uint64_t page;
   uint8_t wish;
   uint8_t how;
   uint8_t large;
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
                           ? block_at(v, page << v->base_shift, wish) : NULL;
      l->at[l->count] = (moving){ page, wish, b == NULL ? 0 : b->how,
                                  b == NULL ? 0 : b->large };
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
   tlb_chunk *const c = chunk_for(p, v, page);
   if (c->wish[page & (TLB_CHUNK_PAGES - 1)] != 0)
      return;
   if (from->wish > base) {
      tlb_block *const b = block_for(p, v, address, from->wish);
      const uint64_t in_block = (UINT64_C(1) << from->wish) - 1;
      if (b->r.touched == 0) {
         const size_t i = tlb_mappings_above(&p->mappings, address);
         b->how = from->how;
         b->large = from->large && (distance & in_block) == 0
                    && fits(p, v, p->mappings.at[i], (tlb_rule_how)from->how,
                            address, from->wish);
      }
      add_to_block(v, b, from->wish, base);
   } else {
      add_pages(&v->counts, base, 1);
      v->counts.now.touched[base] += UINT64_C(1) << base;
   }
   c->wish[page & (TLB_CHUNK_PAGES - 1)] = from->wish;
   c->r.touched++;
}

static void move_pages(const tlb_pagemap *p, tlb_view *v, uint64_t from,
                       uint64_t to, uint64_t length)
{
   const unsigned base = v->base_shift;
   const uint64_t distance = to - from;
   const uint64_t in_page = (UINT64_C(1) << base) - 1;
   const pages in = pages_of(v, from, from + length);
   moving_list l = { NULL, 0 };
   int any = 0;
   each_page(v, in, collect, &l);
   if (l.count == 0)
      return;
   l.at = get(p, l.count * sizeof *l.at);
   l.count = 0;
   each_page(v, in, collect, &l);
   each_page(v, in, drop_page, &any);
   /* Base pages that would have to be put together from parts of others are
      touched anew. */
   for (size_t i = 0; i < l.count && (distance & in_page) == 0; i++)
      arrive(p, v, &l.at[i], (l.at[i].page << base) + distance, distance);
   put(p, l.at);
   notify(v, from, from + length);
   notify(v, to, to + length);
}

void tlb_pagemap_move(tlb_pagemap *p, uint64_t from, uint64_t to,
                      uint64_t length)
{
   uint64_t at = from;
   if (length == 0)
      return;
   tlb_pagemap_unmap(p, to, to + length);
   /* Mapping changes the list: what lies at the new place may become one with
      what lies at the old. */
   for (tlb_mapping m; tlb_mappings_piece(&p->mappings, at, from + length, &m);) {
      at = m.end;
      m.end += to - from;
      m.start += to - from;
      tlb_pagemap_map(p, &m);
   }
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
      *wish = (uint8_t)tlb_thp_shift(v->base_shift);
      b->r.touched++;
   }
   (void)v;
   return 1;
}

/* Notes a base page as if it had been asked for, and were small. */
static void note_page(const tlb_pagemap *p, tlb_view *v, uint64_t address)
{
   const uint64_t page = address >> v->base_shift;
   tlb_chunk *const c = chunk_for(p, v, page);
   c->wish[page & (TLB_CHUNK_PAGES - 1)] = (uint8_t)v->base_shift;
   c->r.touched++;
   add_pages(&v->counts, v->base_shift, 1);
   v->counts.now.touched[v->base_shift] += UINT64_C(1) << v->base_shift;
}

static void collapse_block(const tlb_pagemap *p, tlb_view *v, uint64_t start,
                           unsigned shift)
{
   const unsigned base = v->base_shift;
   const uint64_t end = start + (UINT64_C(1) << shift);
   const pages in = pages_of(v, start, end);
   collapsing k = { shift, 0 };
   each_page(v, in, check_collapse, &k);
   if (k.other)
      return;
   /* The kernel has collapsed something: if nobody asked for any of it, the view
      was not asked for what the program has touched. */
   if (!any_page(v, start, end))
      note_page(p, v, start);
   tlb_block *const b = block_for(p, v, start, shift);
   if (b->r.touched != 0 && b->large)
      return;
   b->how = TLB_THP;
   b->large = 0;
   each_page(v, in, join_block, b);
   const uint64_t bytes = b->r.touched << base;
   take_pages(&v->counts, base, b->r.touched);
   v->counts.now.touched[base] -= bytes;
   b->large = 1;
   add_pages(&v->counts, shift, 1);
   v->counts.now.touched[shift] += bytes;
   v->counts.taken[shift]++;
   notify(v, start, end);
}

void tlb_pagemap_collapse(tlb_pagemap *p, uint64_t start, uint64_t end)
{
   tlb_mapping m;
   for (uint64_t at = start; tlb_mappings_piece(&p->mappings, at, end, &m); at = m.end) {
      m.flags |= TLB_MAP_HUGEPAGE;
      for (unsigned n = 0; n < p->n_views; n++) {
         tlb_view *const v = p->view[n];
         const unsigned shift = tlb_thp_shift(v->base_shift);
         const uint64_t size = UINT64_C(1) << shift;
         const tlb_page_wish w = tlb_page_wish_for(&v->policy, &m,
                                                   v->base_shift);
         if (w.how != TLB_THP || shift == 0)
            continue;
         for (uint64_t b = block_start(m.start + size - 1, shift);
              b >= m.start && b + size <= m.end; b += size)
            collapse_block(p, v, b, shift);
      }
   }
}
