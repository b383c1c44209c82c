/* The page map: which page size backs each address.

   Each view notes the base pages that it has been asked for, with the page size
   that the rules wished for when they were touched (touched.h). Where that is
   larger than the base page, the aligned block of that size has a record that
   says what was decided and how many of its base pages have been touched under
   that wish. */

#include "sim/pages/pagemap_parts.h"

enum { BLOCK_SHIFT = 16 /* the largest block that most arrays coalesce */ };

static void *get(const tlb_pagemap *p, size_t bytes)
{
   return p->mappings.memory.take(bytes, p->mappings.memory.opaque);
}

static void put(const tlb_pagemap *p, void *memory)
{
   p->mappings.memory.give(memory, p->mappings.memory.opaque);
}

/* --- Questions --- */

/* For a page of 2^page_shift bytes. */
static uint8_t coalescing(const tlb_view *v, const tlb_mapping *m, uint64_t address,
                          unsigned page_shift)
{
   const unsigned base = v->base_shift;
   unsigned shift = page_shift + TLB_MAX_BLOCK_BITS;
   if (shift > v->most_block_shift)
      shift = v->most_block_shift;
   for (; shift > base; shift--) {
      const uint64_t start = tlb_block_start(address, shift);
      if (start >= tlb_view_first_byte(m, base)
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
   for (unsigned shift = v->base_shift + 1; v->pages->shifts >> shift != 0; shift++) {
      const tlb_block *const b = v->pages->shifts >> shift & 1
                                    ? tlb_view_block_at(v, address, shift) : NULL;
      if (b != NULL && b->r.touched != 0 && b->large)
         return (tlb_page_wish){ (tlb_rule_how)b->how, shift, 0 };
   }
   const tlb_page_wish w = tlb_page_wish_for(&v->policy, m, v->base_shift);
   if ((w.how == TLB_THP && !tlb_thp_consented(p->thp, m))
       || tlb_page_is_first_code(&v->policy, &w, m, address))
      return (tlb_page_wish){ TLB_FIXED, v->base_shift, w.rule };
   return w;
}

/* Notes that the rule, counted from 1, has decided for a page, which got that size. */
static void note_rule(tlb_view *v, unsigned rule, unsigned size)
{
   if (rule == 0)
      return;
   const tlb_page_rule *const r = &v->policy.rule[rule - 1];
   v->decided |= UINT32_C(1) << (rule - 1);
   if (r->how == TLB_FIXED ? size == r->shift : size > v->base_shift)
      v->had_effect |= UINT32_C(1) << (rule - 1);
}

/* The first question about a base page: notes it and returns what the rules
   wish for it. */
static uint8_t touch(const tlb_pagemap *p, tlb_view *v, tlb_chunk *c,
                     const tlb_mapping *m, uint64_t address)
{
   const unsigned base = v->base_shift;
   const tlb_page_wish w = wish_at(p, v, m, address);
   tlb_block *b = NULL;
   unsigned size = base;
   int first = 1; /* of the page that backs it */
   if (v->unmet != 0)
      v->unmet &= ~tlb_page_rules_about(&v->policy, m, v->unmet);
   if (w.shift > base) {
      b = tlb_view_block_for(p, v, address, w.shift);
      if (b->r.touched == 0) {
         b->how = (uint8_t)w.how;
         b->shared = 0;
         const int fits = tlb_view_fits(p, v, m, w.how, address, w.shift);
         b->large = (uint8_t)(fits && !tlb_view_any_in_block(v, address, w.shift));
         b->why_small = fits ? TLB_SMALL_LATE : TLB_SMALL_GREW;
         if (b->large && w.how == TLB_FIXED && tlb_view_pool_is_empty(v, w.shift)) {
            b->large = 0;
            v->counts.fallbacks[w.shift]++;
         }
      }
      if (b->large) {
         size = w.shift;
         first = b->r.touched == 0;
      }
   }
   note_rule(v, w.rule, size);
   v->counts.taken[size] += (unsigned)first;
   v->counts.first_touches++;
   v->counts.faults += (unsigned)first;
   tlb_view_add(v, c, b, address >> base, w.shift);
   return (uint8_t)size;
}

/* The mapping that a base page belongs to, of which `address` is touched: that
   of its first byte, or the first on the page, for pages larger than the
   host's. */
static const tlb_mapping *mapping_of_page(tlb_pagemap *p, uint64_t address,
                                          unsigned base)
{
   const uint64_t start = tlb_block_start(address, base);
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
   address = tlb_block_start(address, base);
   tlb_chunk *const c = tlb_view_chunk_for(p, v, address >> base);
   const unsigned wish = c->wish[(address >> base) & (TLB_CHUNK_PAGES - 1)];
   if (wish == 0 && v->has_numbers) {
      const tlb_mapping part = tlb_large_part(&p->large, m, address);
      answer.page_shift = touch(p, v, c, &part, address);
   } else if (wish == 0) {
      answer.page_shift = touch(p, v, c, m, address);
   } else if (wish > base) {
      if (tlb_view_block_at(v, address, wish)->large)
         answer.page_shift = (uint8_t)wish;
   }
   answer.block_shift = coalescing(v, m, address, answer.page_shift);
   return answer;
}

unsigned tlb_pagemap_shift(const tlb_pagemap *p, unsigned view, uint64_t address)
{
   const tlb_view *const v = p->view[view];
   for (uint64_t shifts = v->pages->shifts; shifts != 0; shifts &= shifts - 1) {
      const unsigned shift = (unsigned)__builtin_ctzll(shifts);
      const tlb_block *const b = tlb_view_block_at(v, address, shift);
      if (b != NULL && b->r.touched != 0 && b->large)
         return shift;
   }
   return v->base_shift;
}

/* --- Pages that go --- */

/* Forgets the pages of [start, end), but not a base page that a mapping still
   has a part of. Returns whether there were any. */
static int drop(const tlb_pagemap *p, tlb_view *v, uint64_t start,
                uint64_t end)
{
   const uint64_t size = UINT64_C(1) << v->base_shift;
   tlb_pages in = tlb_pages_of(v, start, end);
   int any = 0;
   if (in.first < in.end && (start & (size - 1)) != 0
       && tlb_mappings_overlap(&p->mappings, in.first << v->base_shift,
                               (in.first + 1) << v->base_shift))
      in.first++;
   if (in.first < in.end && (end & (size - 1)) != 0
       && tlb_mappings_overlap(&p->mappings, (in.end - 1) << v->base_shift,
                               in.end << v->base_shift))
      in.end--;
   tlb_view_each_page(v, in, tlb_view_drop_page, &any);
   return any;
}

/* --- Changes --- */

/* Large pages that reach over `address` break if they no longer fit. */
static void check_blocks(tlb_pagemap *p, tlb_view *v, uint64_t address)
{
   for (unsigned shift = v->base_shift + 1; shift < TLB_N_PAGE_SHIFTS;
        shift++) {
      if ((v->pages->shifts >> shift & 1) == 0)
         continue;
      tlb_block *const b = tlb_view_block_at(v, address, shift);
      if (b == NULL || b->r.touched == 0 || !b->large)
         continue;
      const uint64_t start = tlb_block_start(address, shift);
      const uint64_t last = start + ((UINT64_C(1) << shift) - 1);
      const tlb_mapping *m = tlb_mappings_find(&p->mappings, start);
      if (m == NULL || !tlb_view_fits(p, v, m, (tlb_rule_how)b->how, address, shift))
         m = tlb_mappings_find(&p->mappings, last);
      if (m == NULL || !tlb_view_fits(p, v, m, (tlb_rule_how)b->how, address, shift))
         tlb_view_break(v, b, address, shift, TLB_SMALL_CUT);
   }
}

/* The mappings in [start, end) are no longer what they were: large pages at
   the edges may break, small ones there coalesce differently. `inside` says
   that pages between the edges have changed, too. */
static void edges(tlb_pagemap *p, tlb_view *v, uint64_t start, uint64_t end,
                  int inside)
{
   const unsigned block = v->most_block_shift;
   const uint64_t size = UINT64_C(1) << block;
   uint64_t from = tlb_block_start(start, block);
   uint64_t to = tlb_block_start(end + size - 1, block);
   check_blocks(p, v, start);
   check_blocks(p, v, end - 1);
   if (v->base_shift >= block) {
      from = start;
      to = end;
   }
   if (from < start && !tlb_view_any_page(v, from, start))
      from = start;
   if (to > end && !tlb_view_any_page(v, end, to))
      to = end;
   if (inside)
      tlb_view_notify(v, from, to);
   else {
      tlb_view_notify(v, from, start);
      tlb_view_notify(v, end, to);
   }
}

void tlb_pagemap_init(tlb_pagemap *p, const tlb_memory *memory)
{
   tlb_mappings_init(&p->mappings, memory);
   tlb_large_init(&p->large, memory);
   p->ask = NULL;
   p->ask_opaque = NULL;
   p->told = NULL;
   p->told_opaque = NULL;
   p->is_in_change = 0;
   p->view = NULL;
   p->n_views = 0;
   p->thp = TLB_THP_ALLOWED;
}

void tlb_pagemap_free(tlb_pagemap *p)
{
   for (unsigned i = 0; i < p->n_views; i++) {
      tlb_page_table_free(&p->view[i]->pages->chunks, &p->mappings.memory);
      tlb_page_table_free(&p->view[i]->pages->blocks, &p->mappings.memory);
      put(p, p->view[i]->pages);
      put(p, p->view[i]);
   }
   if (p->view != NULL)
      put(p, p->view);
   p->view = NULL;
   p->n_views = 0;
   tlb_mappings_free(&p->mappings);
   tlb_large_free(&p->large);
}

void tlb_pagemap_ask_for(tlb_pagemap *p, tlb_pagemap_ask *ask, void *opaque)
{
   p->ask = ask;
   p->ask_opaque = opaque;
}

void tlb_pagemap_tell(tlb_pagemap *p, tlb_pagemap_told *told, void *opaque)
{
   p->told = told;
   p->told_opaque = opaque;
}

unsigned tlb_pagemap_add_view(tlb_pagemap *p, unsigned base_shift,
                              const tlb_page_policy *policy,
                              tlb_view_changed *changed, void *opaque)
{
   tlb_view **const all = get(p, (p->n_views + 1) * sizeof *all);
   tlb_view *const v = get(p, sizeof *v);
   *v = (tlb_view){ .changed = changed, .opaque = opaque,
                    .base_shift = base_shift, .most_block_shift = BLOCK_SHIFT,
                    .pages = get(p, sizeof *v->pages) };
   *v->pages = (tlb_view_pages){ .shifts = 0 };
   v->policy = *policy;
   v->has_numbers = tlb_page_rules_have_numbers(policy);
   if (v->has_numbers)
      tlb_large_use(&p->large, &p->mappings);
   v->unmet = (uint32_t)((UINT64_C(1) << policy->n_rules) - 1);
   for (unsigned i = 0; i < policy->n_pools; i++)
      v->pages->left[i] = (int64_t)policy->pool[i].pages;
   for (unsigned i = 0; i < p->n_views; i++)
      all[i] = p->view[i];
   if (p->view != NULL)
      put(p, p->view);
   p->view = all;
   p->view[p->n_views] = v;
   return p->n_views++;
}

void tlb_pagemap_look_for(tlb_pagemap *p, unsigned view, unsigned block_shift)
{
   tlb_view *const v = p->view[view];
   if (v->most_block_shift < block_shift)
      v->most_block_shift = block_shift;
}

void tlb_pagemap_map(tlb_pagemap *p, const tlb_mapping *m)
{
   const uint64_t start = m->start;
   const uint64_t end = m->end;
   const tlb_mapping copy = *m;
   const tlb_map_event e = { .what = TLB_EVENT_MAP, .start = start, .end = end, .mapping = &copy };
   if (start >= end)
      return;
   tlb_pagemap_changes(p, &e);
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
   tlb_large_map(&p->large, &copy);
   /* What was asked for where nothing was is noted nowhere: any page inside may
      have been. */
   for (unsigned i = 0; i < p->n_views; i++)
      edges(p, p->view[i], start, end, 1);
}

void tlb_pagemap_unmap(tlb_pagemap *p, uint64_t start, uint64_t end)
{
   const tlb_map_event e = { .what = TLB_EVENT_UNMAP, .start = start, .end = end };
   if (start >= end || !tlb_mappings_overlap(&p->mappings, start, end))
      return;
   tlb_pagemap_changes(p, &e);
   tlb_mappings_remove(&p->mappings, start, end);
   tlb_large_unmap(&p->large, start, end);
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
   uint32_t set;
   uint32_t clear;
} alteration;

static void alter(tlb_mapping *m, void *opaque)
{
   const alteration *const a = opaque;
   if (a->has_prot)
      m->prot = a->prot;
   if (a->has_kind)
      m->kind = a->kind;
   m->flags = (m->flags & ~a->clear) | a->set;
}

static void alter_range(tlb_pagemap *p, const tlb_map_event *e, const alteration *a)
{
   const uint64_t start = e->start, end = e->end;
   alteration copy = *a;
   if (start >= end)
      return;
   tlb_pagemap_changes(p, e);
   tlb_mappings_change(&p->mappings, start, end, alter, &copy);
   for (unsigned i = 0; i < p->n_views; i++) {
      tlb_view *const v = p->view[i];
      edges(p, v, start, end, tlb_view_any_page(v, start, end));
   }
}

void tlb_pagemap_protect(tlb_pagemap *p, uint64_t start, uint64_t end,
                         unsigned prot)
{
   const alteration a = { .has_prot = 1, .prot = (uint8_t)prot };
   const tlb_map_event e = { .what = TLB_EVENT_PROTECT, .start = start, .end = end,
                             .value = (uint8_t)prot };
   alter_range(p, &e, &a);
}

void tlb_pagemap_flag(tlb_pagemap *p, uint64_t start, uint64_t end,
                      unsigned set, unsigned clear)
{
   const alteration a = { .set = set, .clear = clear };
   const tlb_map_event e = { .what = TLB_EVENT_FLAG, .start = start, .end = end, .set = set,
                             .clear = clear };
   alter_range(p, &e, &a);
}

void tlb_pagemap_rename(tlb_pagemap *p, uint64_t start, uint64_t end,
                        tlb_kind kind, unsigned set)
{
   const alteration a = { .has_kind = 1, .kind = (uint8_t)kind,
                          .set = set };
   const tlb_map_event e = { .what = TLB_EVENT_RENAME, .start = start, .end = end, .set = set,
                             .value = (uint8_t)kind };
   alter_range(p, &e, &a);
}

/* A transparent huge page of which [start, end) covers only a part breaks. */
static void break_thp(tlb_view *v, uint64_t start, uint64_t end,
                      uint64_t address, tlb_small_reason why)
{
   const unsigned shift = tlb_thp_shift(&v->policy, v->base_shift);
   const uint64_t from = tlb_block_start(address, shift);
   const uint64_t last = from + ((UINT64_C(1) << shift) - 1);
   tlb_block *const b = shift == 0 ? NULL : tlb_view_block_at(v, address, shift);
   if (b != NULL && b->r.touched != 0 && b->large && b->how == TLB_THP
       && (from < start || last >= end))
      tlb_view_break(v, b, address, shift, why);
}

void tlb_pagemap_split(tlb_pagemap *p, uint64_t start, uint64_t end, int all)
{
   const tlb_map_event e = { .what = TLB_EVENT_SPLIT, .start = start, .end = end,
                             .value = all != 0 };
   if (start >= end)
      return;
   tlb_pagemap_changes(p, &e);
   for (unsigned i = 0; i < p->n_views; i++) {
      tlb_view *const v = p->view[i];
      const unsigned shift = tlb_thp_shift(&v->policy, v->base_shift);
      break_thp(v, start, end, start, TLB_SMALL_MARKED);
      break_thp(v, start, end, end - 1, TLB_SMALL_MARKED);
      if (!all || shift == 0)
         continue;
      /* A block of which a part is outside breaks, and of an empty range all is. */
      const uint64_t last = tlb_block_start(end - 1, shift);
      for (uint64_t at = tlb_block_start(start, shift); at <= last;
           at += UINT64_C(1) << shift)
         break_thp(v, at, at, at, TLB_SMALL_MARKED);
   }
}

void tlb_pagemap_zap(tlb_pagemap *p, uint64_t start, uint64_t end)
{
   const tlb_map_event e = { .what = TLB_EVENT_ZAP, .start = start, .end = end };
   if (start >= end)
      return;
   tlb_pagemap_changes(p, &e);
   for (unsigned i = 0; i < p->n_views; i++) {
      tlb_view *const v = p->view[i];
      const uint64_t size = UINT64_C(1) << v->base_shift;
      /* Whole base pages only: a part of one can not go away. */
      const uint64_t from = tlb_block_start(start + size - 1, v->base_shift);
      const uint64_t to = tlb_block_start(end, v->base_shift);
      int any = 0;
      if (from >= to)
         continue;
      break_thp(v, start, end, start, TLB_SMALL_PURGED);
      break_thp(v, start, end, end - 1, TLB_SMALL_PURGED);
      tlb_view_each_page(v, tlb_pages_of(v, from, to), tlb_view_drop_page, &any);
      if (any)
         tlb_view_notify(v, from, to);
   }
}

void tlb_pagemap_consent(tlb_pagemap *p, tlb_thp_consent consent)
{
   const tlb_map_event e = { .what = TLB_EVENT_CONSENT, .value = (uint8_t)consent };
   tlb_pagemap_changes(p, &e);
   p->thp = consent;
}
