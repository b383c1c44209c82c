/* The page map after random changes, compared with one record for each 4K.
   The model looks at all records each time. test_pagemap.c has single cases.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/pages/pagemap.h"
#include "pagemap_support.h"

/* --- The model --- */

enum {
   CELL_SHIFT = 12,
   CELL = 1 << CELL_SHIFT,
   CELLS = 8192, /* 32M */
   MAX_VIEWS = 6,
   MAX_RANGES = 256
};

/* 4K of the address space. */
typedef struct {
   int mapped;
   tlb_mapping m; /* only kind, prot, flags, huge_shift, inode and offset */
} cell;

/* One view: by base page, and by block of every size. */
typedef struct {
   unsigned base;
   const tlb_page_policy *policy;
   uint8_t wish[CELLS]; /* 0: not touched */
   /* By the block's size and first cell: how it was to be backed, and whether one
      page backs it. */
   uint8_t how[TLB_N_PAGE_SHIFTS][CELLS];
   uint8_t large[TLB_N_PAGE_SHIFTS][CELLS];
   int64_t left[TLB_MAX_PAGE_POOLS];
   uint64_t broken;
   uint64_t fallbacks[TLB_N_PAGE_SHIFTS];
   uint64_t taken[TLB_N_PAGE_SHIFTS];
   uint64_t peak;
   /* What the simulator said before the last change, and where it said that
      the answer may differ. */
   tlb_backing before[CELLS];
   uint8_t asked_in_vain[CELLS]; /* by base page: since nothing has been there */
   unsigned n_ranges;
   uint64_t range[MAX_RANGES][2];
} model_view;

typedef struct {
   cell at[CELLS];
   unsigned n_views;
   model_view view[MAX_VIEWS];
} model;

static model mo; /* too large for the stack */

static unsigned cells_of(unsigned shift)
{
   return 1u << (shift - CELL_SHIFT);
}

static unsigned down(unsigned c, unsigned shift)
{
   return c / cells_of(shift) * cells_of(shift);
}

static int same(unsigned a)
{
   const cell *const x = &mo.at[a];
   const cell *const y = &mo.at[a + 1];
   return x->mapped && y->mapped && x->m.kind == y->m.kind
          && x->m.prot == y->m.prot && x->m.flags == y->m.flags
          && x->m.huge_shift == y->m.huge_shift && x->m.inode == y->m.inode
          && (x->m.inode == 0 || x->m.offset + CELL == y->m.offset);
}

/* The run of cells that are one mapping, for each cell. */
static unsigned runs[CELLS][2];

static void find_runs(void)
{
   for (unsigned c = 0; c < CELLS; c++)
      runs[c][0] = c > 0 && same(c - 1) ? runs[c - 1][0] : c;
   for (unsigned c = CELLS; c-- > 0;)
      runs[c][1] = c + 1 < CELLS && same(c) ? runs[c + 1][1] : c + 1;
}

static unsigned run_start(unsigned c)
{
   return runs[c][0];
}

static unsigned run_end(unsigned c)
{
   return runs[c][1];
}

static int free_cells(unsigned from, unsigned to)
{
   for (unsigned c = from; c < to && c < CELLS; c++) {
      if (mo.at[c].mapped)
         return 0;
   }
   return 1;
}

/* A stack grows by whole pages. */
static unsigned model_start(unsigned c, unsigned base)
{
   const unsigned start = run_start(c);
   return mo.at[c].m.kind == TLB_STACK ? down(start, base) : start;
}

/* Whether the run around cell c, which is mapped, can have a page there. */
static int model_fits(unsigned c, unsigned block, unsigned shift, unsigned how,
                      unsigned base)
{
   const unsigned end = block + cells_of(shift);
   const unsigned from = model_start(c, base);
   const unsigned to = run_end(c);
   if (from <= block && end <= to)
      return 1;
   if (how != TLB_FIXED)
      return 0;
   if (mo.at[c].m.kind == TLB_HEAP && from <= block && block < to)
      return free_cells(to, end);
   if (mo.at[c].m.kind == TLB_STACK && end <= to && from < end)
      return free_cells(block, run_start(c));
   return 0;
}

static unsigned touched_in(const model_view *v, unsigned block, unsigned shift)
{
   unsigned n = 0;
   for (unsigned c = block; c < block + cells_of(shift) && c < CELLS;
        c += cells_of(v->base))
      n += v->wish[c] == shift;
   return n;
}

static int pool_number(const model_view *v, unsigned shift)
{
   for (unsigned i = 0; i < v->policy->n_pools; i++) {
      if (v->policy->pool[i].shift == shift)
         return (int)i;
   }
   return -1;
}

static unsigned large_in_use(const model_view *v, unsigned shift)
{
   unsigned n = 0;
   for (unsigned c = 0; c < CELLS; c += cells_of(shift))
      n += v->large[shift][c] && v->how[shift][c] == TLB_FIXED
           && touched_in(v, c, shift) > 0;
   return n;
}

/* The mapping as if it began with that cell. */
static tlb_mapping from_cell(unsigned c)
{
   tlb_mapping m = mo.at[c].m;
   m.start = (uint64_t)c * CELL;
   return m;
}

/* The first mapped cell of the page that begins at c. */
static int model_cell(unsigned c, unsigned base)
{
   for (unsigned i = c; i < c + cells_of(base); i++) {
      if (mo.at[i].mapped)
         return (int)i;
   }
   return -1;
}

static unsigned model_block_shift(unsigned c, unsigned base)
{
   for (unsigned shift = 16; shift > base; shift--) {
      const unsigned block = down(c, shift);
      if (model_start(c, base) <= block
          && block + cells_of(shift) <= run_end(c))
         return shift;
   }
   return base;
}

static tlb_backing model_backing(model_view *v, unsigned c)
{
   const unsigned base = v->base;
   tlb_backing b = { (uint8_t)base, (uint8_t)base };
   c = down(c, base);
   const int at = model_cell(c, base);
   if (at < 0) {
      v->asked_in_vain[c] = 1;
      return b;
   }
   b.block_shift = (uint8_t)model_block_shift((unsigned)at, base);
   uint8_t *const wish = &v->wish[c];
   if (*wish == 0) {
      const tlb_mapping m = from_cell((unsigned)at);
      tlb_page_wish w = tlb_page_wish_for(v->policy, &m, base);
      /* The first bytes of files are in base pages. */
      if (w.how == TLB_CONTIG && w.rule == 0) {
         const int64_t in_file = (int64_t)m.offset
                                 - (int64_t)((unsigned)at - down(c, w.shift)) * CELL;
         if (in_file >= 0 && (uint64_t)in_file < v->policy->code_from)
            w = (tlb_page_wish){ TLB_FIXED, base, 0 };
      }
      for (unsigned s = base + 1; s < 25; s++) {
         if (v->large[s][down(c, s)] && touched_in(v, down(c, s), s) > 0)
            w = (tlb_page_wish){ (tlb_rule_how)v->how[s][down(c, s)], s, 0 };
      }
      const unsigned block = w.shift > 30 ? 0 : down(c, w.shift);
      const int first = touched_in(v, block, w.shift) == 0;
      if (w.shift > base && first) {
         const int pool = pool_number(v, w.shift);
         int large = model_fits((unsigned)at, block, w.shift, w.how, base);
         for (unsigned i = block; i < block + cells_of(w.shift) && i < CELLS;
              i++)
            large = large && v->wish[i] == 0;
         if (large && w.how == TLB_FIXED && pool >= 0
             && (uint64_t)large_in_use(v, w.shift)
                   >= v->policy->pool[pool].pages) {
            large = 0;
            v->fallbacks[w.shift]++;
         }
         v->large[w.shift][block] = (uint8_t)large;
         v->how[w.shift][block] = (uint8_t)w.how;
         v->taken[large ? w.shift : base]++;
      } else if (w.shift > base) {
         v->taken[base] += !v->large[w.shift][block];
      } else {
         v->taken[base]++;
      }
      *wish = (uint8_t)w.shift;
   }
   if (*wish > base && v->large[*wish][down(c, *wish)])
      b.page_shift = *wish;
   return b;
}

/* Breaks every large page that no mapping has room for any more. */
static void model_check(void)
{
   find_runs();
   for (unsigned i = 0; i < mo.n_views; i++) {
      model_view *const v = &mo.view[i];
      for (unsigned shift = v->base + 1; shift < 25; shift++) {
         for (unsigned b = 0; b < CELLS; b += cells_of(shift)) {
            if (!v->large[shift][b])
               continue;
            const unsigned n = touched_in(v, b, shift);
            if (n == 0) {
               v->large[shift][b] = 0;
               continue;
            }
            const unsigned last = b + cells_of(shift) - 1;
            if ((mo.at[b].mapped && model_fits(b, b, shift, v->how[shift][b], v->base))
                || (mo.at[last].mapped
                    && model_fits(last, b, shift, v->how[shift][b], v->base)))
               continue;
            v->large[shift][b] = 0;
            v->broken++;
            v->taken[v->base] += n;
         }
      }
   }
}

static void model_forget(unsigned from, unsigned to)
{
   for (unsigned i = 0; i < mo.n_views; i++) {
      model_view *const v = &mo.view[i];
      const unsigned page = cells_of(v->base);
      for (unsigned c = down(from, v->base); c < to; c += page) {
         if (free_cells(c, c + page))
            v->wish[c] = 0;
      }
   }
}

static void model_unmap(unsigned from, unsigned to)
{
   for (unsigned c = from; c < to; c++)
      mo.at[c].mapped = 0;
   model_forget(from, to);
   model_check();
}

static void model_map(unsigned from, unsigned to, const tlb_mapping *m)
{
   if (!free_cells(from, to))
      model_unmap(from, to);
   for (unsigned c = from; c < to; c++) {
      mo.at[c].mapped = 1;
      mo.at[c].m = *m;
      mo.at[c].m.offset = m->offset + (uint64_t)(c - from) * CELL;
   }
   model_check();
}

static void model_zap(unsigned from, unsigned to)
{
   for (unsigned i = 0; i < mo.n_views; i++) {
      model_view *const v = &mo.view[i];
      const unsigned thp = tlb_thp_shift(v->policy, v->base);
      const unsigned page = cells_of(v->base);
      const unsigned first = (from + page - 1) / page * page;
      const unsigned end = down(to, v->base);
      if (first >= end)
         continue;
      for (unsigned b = 0; thp < 25 && b < CELLS; b += cells_of(thp)) {
         const unsigned last = b + cells_of(thp);
         const int part = b < to && from < last && (b < from || last > to);
         const unsigned n = touched_in(v, b, thp);
         if (part && n > 0 && v->large[thp][b] && v->how[thp][b] == TLB_THP) {
            v->large[thp][b] = 0;
            v->broken++;
            v->taken[v->base] += n;
         }
      }
      for (unsigned c = first; c < end; c += page)
         v->wish[c] = 0;
   }
   model_check();
}

/* Breaks every large page that reaches over the cell's beginning. */
static void model_break_across(model_view *v, unsigned edge)
{
   for (unsigned shift = v->base + 1; shift < 25 && edge < CELLS; shift++) {
      const unsigned b = down(edge, shift);
      const unsigned there = b == edge ? 0 : touched_in(v, b, shift);
      if (there == 0 || !v->large[shift][b])
         continue;
      v->large[shift][b] = 0;
      v->broken++;
      v->taken[v->base] += there;
   }
}

static void model_move(unsigned from, unsigned to, unsigned n)
{
   static model_view old;
   const int distance = (int)to - (int)from;
   model_unmap(to, to + n);
   for (unsigned c = 0; c < n; c++)
      mo.at[to + c] = mo.at[from + c];
   model_check();
   for (unsigned i = 0; i < mo.n_views; i++) {
      model_view *const v = &mo.view[i];
      const unsigned page = cells_of(v->base);
      model_break_across(v, from);
      model_break_across(v, from + n);
      old = *v;
      for (unsigned c = down(from, v->base); c < from + n; c += page)
         v->wish[c] = 0;
      for (unsigned c = down(from, v->base);
           c < from + n && distance % (int)page == 0; c += page) {
         const unsigned wish = old.wish[c];
         const unsigned here = (unsigned)((int)c + distance);
         if (wish == 0 || v->wish[here] != 0)
            continue;
         if (wish > v->base && touched_in(v, down(here, wish), wish) == 0) {
            const unsigned block = down(here, wish);
            v->how[wish][block] = old.how[wish][down(c, wish)];
            v->large[wish][block]
               = old.large[wish][down(c, wish)]
                 && distance % (int)cells_of(wish) == 0
                 && model_fits(here < to ? to : (unsigned)model_cell(here, v->base), block, wish,
                               v->how[wish][block], v->base);
         }
         v->wish[here] = (uint8_t)wish;
      }
   }
   model_check();
}

static void collapse_in(model_view *v, unsigned from, unsigned to)
{
   const unsigned thp = tlb_thp_shift(v->policy, v->base);
   const unsigned page = cells_of(v->base);
   for (unsigned b = 0; thp < 25 && b < CELLS; b += cells_of(thp)) {
      const unsigned end = b + cells_of(thp);
      unsigned n = 0;
      int other = 0;
      if (b < from || end > to || !mo.at[b].mapped || run_end(b) < end)
         continue;
      const tlb_mapping m = from_cell(b);
      if (tlb_page_wish_collapsed(v->policy, &m, v->base).how != TLB_THP)
         continue;
      for (unsigned c = b; c < end; c += page) {
         n += v->wish[c] != 0;
         other |= v->wish[c] != 0 && v->wish[c] != v->base
                  && v->wish[c] != thp;
      }
      if (n == 0)
         v->wish[b] = (uint8_t)v->base;
      if (other || (touched_in(v, b, thp) > 0 && v->large[thp][b]))
         continue;
      for (unsigned c = b; c < end; c += page) {
         if (v->wish[c] != 0)
            v->wish[c] = (uint8_t)thp;
      }
      v->large[thp][b] = 1;
      v->how[thp][b] = TLB_THP;
      v->taken[thp]++;
   }
}

static void model_collapse(unsigned from, unsigned to)
{
   for (unsigned i = 0; i < mo.n_views; i++)
      collapse_in(&mo.view[i], from, to);
}

/* --- The comparison --- */

static void note_range(void *opaque, uint64_t start, uint64_t end)
{
   model_view *const v = opaque;
   assert_true(start < end);
   assert_true(v->n_ranges < MAX_RANGES);
   v->range[v->n_ranges][0] = start;
   v->range[v->n_ranges][1] = end;
   v->n_ranges++;
}

static int told_of(const model_view *v, uint64_t address)
{
   for (unsigned i = 0; i < v->n_ranges; i++) {
      if (v->range[i][0] <= address && address < v->range[i][1])
         return 1;
   }
   return 0;
}

/* Every page that has been touched: the same answer, and one that is new has
   been told of, also for pages that were asked for before anything was there. */
static void compare_pages(tlb_pagemap *p)
{
   for (unsigned i = 0; i < mo.n_views; i++) {
      model_view *const v = &mo.view[i];
      for (unsigned c = 0; c < CELLS; c += cells_of(v->base)) {
         const uint64_t address = (uint64_t)c * CELL;
         const tlb_backing last = v->before[c];
         if (v->asked_in_vain[c] && model_cell(c, v->base) >= 0) {
            assert_true(told_of(v, address));
            v->asked_in_vain[c] = 0;
         }
         if (v->wish[c] == 0) {
            if (last.page_shift != 0)
               assert_true(told_of(v, address));
            v->before[c] = (tlb_backing){ 0, 0 };
            continue;
         }
         const tlb_backing b = model_backing(v, c);
         const tlb_backing is = tlb_pagemap_backing(p, i, address);
         if (is.page_shift != b.page_shift || is.block_shift != b.block_shift)
            fail_msg("view %u, %llx: %u %u, not %u %u", i,
                     (unsigned long long)address, is.page_shift,
                     is.block_shift, b.page_shift, b.block_shift);
         if (last.page_shift != 0
             && (last.page_shift != is.page_shift
                 || last.block_shift != is.block_shift)
             && !told_of(v, address))
            fail_msg("view %u, %llx: no callback said so", i,
                     (unsigned long long)address);
         v->before[c] = is;
      }
      v->n_ranges = 0;
   }
}

static void compare_sums(tlb_pagemap *p)
{
   for (unsigned i = 0; i < mo.n_views; i++) {
      model_view *const v = &mo.view[i];
      const tlb_view_counts *const is = tlb_pagemap_counts(p, i);
      tlb_page_sums sums;
      uint64_t backed = 0;
      memset(&sums, 0, sizeof sums);
      for (unsigned c = 0; c < CELLS; c += cells_of(v->base)) {
         if (v->wish[c] == 0)
            continue;
         const unsigned wish = v->wish[c];
         const int large = wish > v->base && v->large[wish][down(c, wish)];
         const unsigned shift = large ? wish : v->base;
         sums.touched[shift] += UINT64_C(1) << v->base;
         sums.pages[shift] += !large;
      }
      for (unsigned shift = v->base + 1; shift < 25; shift++) {
         for (unsigned b = 0; b < CELLS; b += cells_of(shift))
            sums.pages[shift] += v->large[shift][b]
                                 && touched_in(v, b, shift) > 0;
      }
      for (unsigned shift = 0; shift < TLB_N_PAGE_SHIFTS; shift++) {
         backed += sums.pages[shift] << shift;
         assert_int_equal(is->now.pages[shift], sums.pages[shift]);
         assert_int_equal(is->now.touched[shift], sums.touched[shift]);
         assert_int_equal(is->fallbacks[shift], v->fallbacks[shift]);
         assert_int_equal(is->taken[shift], v->taken[shift]);
      }
      v->peak = backed > v->peak ? backed : v->peak;
      assert_int_equal(is->backed, backed);
      assert_int_equal(is->peak_backed, v->peak);
      assert_int_equal(is->broken, v->broken);
   }
}

typedef struct {
   uint64_t seed;
} dice;

static unsigned roll(dice *d, unsigned sides)
{
   return (unsigned)(unit_random(&d->seed) >> 33) % sides;
}

/* A range that likes to begin and end where blocks do. */
static void some_range(dice *d, unsigned *from, unsigned *to)
{
   static const unsigned grain[] = { 1, 4, 16, 64, 512, 1024 };
   const unsigned g = grain[roll(d, 6)];
   *from = roll(d, CELLS / g) * g;
   *to = *from + (1 + roll(d, 4)) * g;
   if (roll(d, 4) == 0)
      *to += roll(d, 3);
   if (roll(d, 4) == 0)
      *from += roll(d, 3);
   *to = *to > CELLS ? CELLS : *to;
   *from = *from > *to ? *to : *from;
}

static tlb_mapping some_mapping(dice *d, unsigned from, unsigned to,
                                uint64_t serial)
{
   static const uint8_t kinds[] = { TLB_ANON, TLB_ANON, TLB_ANON, TLB_HEAP,
                                    TLB_STACK, TLB_IMAGE, TLB_FILE };
   tlb_mapping m = { .start = (uint64_t)from * CELL,
                     .end = (uint64_t)to * CELL, .serial = serial,
                     .kind = kinds[roll(d, sizeof kinds)],
                     .prot = TLB_MAY_READ | TLB_MAY_WRITE };
   if (roll(d, 4) == 0)
      m.prot = TLB_MAY_READ | TLB_MAY_EXECUTE;
   if (m.kind == TLB_IMAGE || m.kind == TLB_FILE) {
      m.inode = 1 + roll(d, 2);
      m.offset = roll(d, 2) ? m.start : 0;
   }
   if (m.kind == TLB_ANON && roll(d, 6) == 0) {
      m.flags = TLB_MAP_HUGETLB;
      m.huge_shift = roll(d, 2) ? 21 : 16;
   }
   return m;
}

static void one_change(tlb_pagemap *p, dice *d, uint64_t serial)
{
   static const uint16_t flags[] = { TLB_MAP_HUGEPAGE, TLB_MAP_NOHUGEPAGE,
                                     TLB_MAP_LOCKED };
   unsigned from;
   unsigned to;
   some_range(d, &from, &to);
   const uint64_t start = (uint64_t)from * CELL;
   const uint64_t end = (uint64_t)to * CELL;
   if (from == to)
      return;
   switch (roll(d, 10)) {
   case 0:
      tlb_pagemap_unmap(p, start, end);
      model_unmap(from, to);
      break;
   case 1: {
      const uint8_t prot = roll(d, 2) ? TLB_MAY_READ
                                      : TLB_MAY_READ | TLB_MAY_WRITE;
      tlb_pagemap_protect(p, start, end, prot);
      for (unsigned c = from; c < to; c++)
         mo.at[c].m.prot = prot;
      model_check();
      break;
   }
   case 2: {
      const uint16_t f = flags[roll(d, 3)];
      const int set = (int)roll(d, 2);
      tlb_pagemap_flag(p, start, end, set ? f : 0, set ? 0 : f);
      for (unsigned c = from; c < to; c++)
         mo.at[c].m.flags = (uint16_t)(set ? mo.at[c].m.flags | f
                                           : mo.at[c].m.flags & ~f);
      model_check();
      break;
   }
   case 3:
      tlb_pagemap_zap(p, start, end);
      model_zap(from, to);
      break;
   case 4: {
      const unsigned n = to - from;
      unsigned there = roll(d, CELLS - n);
      if (roll(d, 2))
         there = there / 512 * 512 + from % 512;
      if (there + n > CELLS || (there < to && from < there + n))
         return;
      tlb_pagemap_move(p, start, (uint64_t)there * CELL, end - start);
      model_move(from, there, n);
      break;
   }
   case 5:
      tlb_pagemap_collapse(p, start, end);
      model_collapse(from, to);
      break;
   default: {
      const tlb_mapping m = some_mapping(d, from, to, serial);
      tlb_pagemap_map(p, &m);
      model_map(from, to, &m);
      break;
   }
   }
}

static void some_touches(tlb_pagemap *p, dice *d)
{
   unsigned from;
   unsigned to;
   some_range(d, &from, &to);
   for (unsigned n = roll(d, 40); n > 0 && from < to; n--) {
      const unsigned c = from + roll(d, to - from);
      const unsigned all = roll(d, 4);
      for (unsigned i = 0; i < mo.n_views; i++) {
         if (all == 0 && roll(d, 2))
            continue;
         const tlb_backing b = model_backing(&mo.view[i], c);
         const tlb_backing is
            = tlb_pagemap_backing(p, i, (uint64_t)c * CELL + roll(d, CELL));
         assert_int_equal(is.page_shift, b.page_shift);
         assert_int_equal(is.block_shift, b.block_shift);
      }
   }
}

static void against_model(const unsigned base[], const char *const rules[],
                          const char *const pools[], unsigned n, uint64_t seed,
                          unsigned steps)
{
   static tlb_page_policy policy[MAX_VIEWS];
   dice d = { seed };
   tlb_pagemap p;
   memset(&mo, 0, sizeof mo);
   memset(&p, 0xA5, sizeof p);
   mo.n_views = n;
   tlb_pagemap_init(&p, &memory);
   for (unsigned i = 0; i < n; i++) {
      policy[i] = policy_of(rules[i], pools[i], base[i]);
      policy[i].thp = (tlb_thp_mode)roll(&d, TLB_THP_ALWAYS + 1);
      policy[i].code_shift = base[i] < 16 ? 16 : 0;
      policy[i].code_from = (i + 1) % 3 * UINT64_C(0x10000);
      mo.view[i].base = base[i];
      mo.view[i].policy = &policy[i];
      assert_int_equal(tlb_pagemap_add_view(&p, base[i], &policy[i],
                                            note_range, &mo.view[i]), i);
   }
   for (unsigned step = 0; step < steps; step++) {
      one_change(&p, &d, step + 1);
      compare_pages(&p);
      some_touches(&p, &d);
      compare_pages(&p);
      compare_sums(&p);
   }
   /* Something of everything must have happened. */
   uint64_t broken = 0;
   uint64_t fallbacks = 0;
   for (unsigned i = 0; i < n; i++) {
      broken += mo.view[i].broken;
      for (unsigned s = 0; s < TLB_N_PAGE_SHIFTS; s++)
         fallbacks += mo.view[i].fallbacks[s];
   }
   assert_true(broken > 10);
   assert_true(fallbacks > 10);
   tlb_pagemap_free(&p);
   assert_int_equal(given, 0);
}

TEST(model_4k)
{
   static const char *const rules[] = {
      "", "all:thp", "all:2M,stack:64K", "all:contig", "all:64K",
      "anon:4M,heap:16K,text:64K,file:thp"
   };
   static const char *const pools[] = { "", "", "2M:3", "", "64K:20", "4M:1" };
   static const unsigned base[] = { 12, 12, 12, 12, 12, 12 };
   against_model(base, rules, pools, 6, 1, 1000);
   against_model(base, rules, pools, 6, 99, 1000);
}

TEST(model_16k)
{
   static const char *const rules[] = { "all:64K", "all:contig", "all:2M" };
   static const char *const pools[] = { "64K:9", "", "" };
   static const unsigned base[] = { 14, 14, 14 };
   for (uint64_t seed = 5; seed < 9; seed++)
      against_model(base, rules, pools, 3, seed, 1000);
}

TEST(model_64k)
{
   static const char *const rules[] = { "all:2M", "all:contig", "heap:1M" };
   static const char *const pools[] = { "2M:3", "", "" };
   static const unsigned base[] = { 16, 16, 16 };
   against_model(base, rules, pools, 3, 6, 1000);
}

/* The machines of a run may have base pages of different sizes. */
TEST(model_of_different_bases)
{
   static const char *const rules[] = { "all:thp", "all:thp", "all:64K",
                                        "all:64K", "all:contig", "heap:2M" };
   static const char *const pools[] = { "", "", "64K:9", "64K:9", "", "2M:1" };
   static const unsigned base[] = { 12, 13, 12, 14, 14, 16 };
   against_model(base, rules, pools, 6, 7, 1000);
   against_model(base, rules, pools, 6, 8, 1000);
}

int main(void)
{
   static const struct CMUnitTest tests[] = {
      CLAIM("six views with base pages of 4K agree with a model that looks at all pages", model_4k),
      CLAIM("views with base pages of 16K agree with the model", model_16k),
      CLAIM("views with base pages of 64K agree with the model", model_64k),
      CLAIM("views with different base pages in one run agree with the model",
            model_of_different_bases),
   };
   return cmocka_run_group_tests_name("pagemap_model", tests, NULL, NULL);
}
