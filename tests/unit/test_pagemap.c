/* The page map, case by case: which page backs which address.
   test_pagemap_model.c has random changes, against a model with one record for each 4K.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/pages/pagemap.h"
#include "pagemap_support.h"

typedef struct {
   tlb_pagemap p;
   unsigned calls;
} world;

static void count_call(void *opaque, uint64_t start, uint64_t end)
{
   assert_true(start < end);
   ++*(unsigned *)opaque;
}

static void begin(world *w, const char *rules, const char *pools)
{
   const tlb_page_policy policy = policy_of(rules, pools, 12);
   w->calls = 0;
   tlb_pagemap_init(&w->p, &memory);
   tlb_pagemap_add_view(&w->p, 12, &policy, count_call, &w->calls);
}

static void end(world *w)
{
   tlb_pagemap_free(&w->p);
   assert_int_equal(given, 0);
}

static void map_as(world *w, uint64_t start, uint64_t to, tlb_kind kind,
                   unsigned flags, unsigned huge_shift)
{
   const tlb_mapping m = { .start = start, .end = to, .kind = (uint8_t)kind,
                           .serial = 1, .flags = (uint16_t)flags,
                           .huge_shift = (uint8_t)huge_shift,
                           .prot = TLB_MAY_READ | TLB_MAY_WRITE };
   tlb_pagemap_map(&w->p, &m);
}

static unsigned shift_at(world *w, uint64_t address)
{
   return tlb_pagemap_backing(&w->p, 0, address).page_shift;
}

#define M(n) ((uint64_t)(n) << 20)
#define K(n) ((uint64_t)(n) << 10)

TEST(decided_at_first_touch)
{
   world w;
   begin(&w, "all:thp", "");
   map_as(&w, M(2), M(3), TLB_ANON, 0, 0);
   assert_int_equal(shift_at(&w, M(2)), 12);
   map_as(&w, M(3), M(8), TLB_ANON, 0, 0);
   /* Grown since; the block was decided, the next was not. */
   assert_int_equal(shift_at(&w, M(3)), 12);
   assert_int_equal(shift_at(&w, M(4) + 17), 21);
   assert_int_equal(shift_at(&w, M(6) - 1), 21);
   /* All of its pages gone, it is decided anew. */
   tlb_pagemap_zap(&w.p, M(2), M(4));
   assert_int_equal(shift_at(&w, M(3)), 21);
   end(&w);
}

TEST(half_a_large_page_moves)
{
   world w;
   begin(&w, "all:thp", "");
   map_as(&w, M(4), M(6), TLB_ANON, 0, 0);
   map_as(&w, M(9), M(10), TLB_ANON, 0, 0);
   for (uint64_t a = M(4); a < M(6); a += 4096)
      assert_int_equal(shift_at(&w, a), 21);
   /* What is at the new place, with its neighbour, would have room for a large one. */
   tlb_pagemap_move(&w.p, M(4), M(8), M(1));
   assert_int_equal(tlb_pagemap_counts(&w.p, 0)->broken, 1);
   assert_int_equal(shift_at(&w, M(8)), 12);
   assert_int_equal(shift_at(&w, M(9)), 12);
   assert_int_equal(shift_at(&w, M(5)), 12);
   assert_int_equal(tlb_pagemap_counts(&w.p, 0)->now.pages[21], 0);
   end(&w);
}

TEST(heap_grows_by_whole_pages)
{
   world w;
   /* Solaris: a heap segment from 0x22000 on, 4M pages. 3960K below the first
      boundary are 990 pages of 4K (495 of 8K), the rest is 71 large ones. */
   begin(&w, "heap:4M", "");
   map_as(&w, 0x22000, 0x22000 + K(3960), TLB_HEAP, 0, 0);
   for (uint64_t step = 0; step < 2272; step++) {
      const uint64_t start = 0x400000 + step * K(128);
      map_as(&w, start, start + K(128), TLB_HEAP, 0, 0);
      assert_int_equal(shift_at(&w, start), 22);
   }
   for (uint64_t a = 0x22000; a < 0x400000; a += 4096)
      assert_int_equal(shift_at(&w, a), 12);
   const tlb_view_counts *c = tlb_pagemap_counts(&w.p, 0);
   assert_int_equal(c->now.pages[12], 990);
   assert_int_equal(c->now.pages[22], 71);
   assert_int_equal(c->broken, 0);
   /* Something else in the rounded-up end breaks the last. */
   tlb_pagemap_unmap(&w.p, 0x400000 + 2271 * K(128), 0x400000 + 2272 * K(128));
   assert_int_equal(tlb_pagemap_counts(&w.p, 0)->broken, 0);
   map_as(&w, 0x400000 + 2271 * K(128), 0x400000 + 2272 * K(128), TLB_FILE, 0,
          0);
   assert_int_equal(tlb_pagemap_counts(&w.p, 0)->broken, 1);
   end(&w);
}

TEST(contiguous_block_breaks)
{
   world w;
   begin(&w, "all:contig", "");
   map_as(&w, M(4), M(8), TLB_ANON, 0, 0);
   for (uint64_t a = M(4); a < M(8); a += 4096)
      assert_int_equal(shift_at(&w, a), 16);
   assert_int_equal(tlb_pagemap_counts(&w.p, 0)->now.pages[16], 64);
   tlb_pagemap_protect(&w.p, M(4) + K(72), M(4) + K(76), TLB_MAY_READ);
   assert_int_equal(tlb_pagemap_counts(&w.p, 0)->now.pages[16], 63);
   assert_int_equal(tlb_pagemap_counts(&w.p, 0)->now.pages[12], 16);
   assert_int_equal(shift_at(&w, M(4) + K(64)), 12);
   assert_int_equal(shift_at(&w, M(4) + K(128)), 16);
   assert_true(w.calls > 0);
   /* And what coalesces there: 8K before the page, nothing beside it. */
   assert_int_equal(
      tlb_pagemap_backing(&w.p, 0, M(4) + K(64)).block_shift, 13);
   assert_int_equal(
      tlb_pagemap_backing(&w.p, 0, M(4) + K(72)).block_shift, 12);
   assert_int_equal(
      tlb_pagemap_backing(&w.p, 0, M(4) + K(76)).block_shift, 12);
   assert_int_equal(
      tlb_pagemap_backing(&w.p, 0, M(4) + K(80)).block_shift, 14);
   assert_int_equal(
      tlb_pagemap_backing(&w.p, 0, M(4) + K(96)).block_shift, 15);
   end(&w);
}

TEST(rules_without_effect)
{
   world w;
   begin(&w, "anon:1G,heap:16M,stack:2M,anon:thp,file:4K", "");
   map_as(&w, M(2), M(8), TLB_ANON, 0, 0);
   map_as(&w, M(16), M(20), TLB_HEAP, 0, 0);
   map_as(&w, M(64), M(65), TLB_FILE, 0, 0);
   map_as(&w, M(40), M(41), TLB_HEAP, 0, 0);
   shift_at(&w, M(2));
   shift_at(&w, M(40));
   shift_at(&w, M(64));
   const tlb_view *const v = w.p.view[0];
   assert_int_equal(v->unmet, 1 << 2);
   assert_int_equal(v->decided, 1 << 1 | 1 << 3 | 1 << 4);
   assert_int_equal(v->had_effect, 1 << 3 | 1 << 4);
   end(&w);
}

static uint64_t blocks_that_grew(tlb_pagemap *p)
{
   uint64_t small[TLB_N_SMALL_REASONS];
   tlb_pagemap_small(p, 0, small);
   return small[TLB_SMALL_GREW];
}

TEST(what_khugepaged_would_do)
{
   world w;
   begin(&w, "thp", "");
   /* A heap that grows by 1M, and is touched as it grows. */
   for (unsigned n = 0; n < 8; n++) {
      map_as(&w, M(2 + n), M(3 + n), TLB_HEAP, 0, 0);
      assert_int_equal(shift_at(&w, M(2 + n)), 12);
   }
   assert_int_equal(blocks_that_grew(&w.p), 4);
   /* Not those that are huge, untouched, or at an edge. */
   map_as(&w, M(20), M(27), TLB_ANON, 0, 0);
   assert_int_equal(shift_at(&w, M(20)), 21);
   assert_int_equal(shift_at(&w, M(26)), 12);
   assert_int_equal(blocks_that_grew(&w.p), 4);
   tlb_pagemap_unmap(&w.p, M(2), M(5));
   assert_int_equal(blocks_that_grew(&w.p), 2);
   end(&w);
}

TEST(pool_runs_dry)
{
   world w;
   begin(&w, "all:16M", "16M:3");
   map_as(&w, M(16), M(96), TLB_ANON, 0, 0);
   for (uint64_t a = M(16); a < M(96); a += M(8))
      assert_int_equal(shift_at(&w, a), a < M(64) ? 24 : 12);
   assert_int_equal(tlb_pagemap_counts(&w.p, 0)->fallbacks[24], 2);
   /* A page that is given back can be had again, by others. */
   tlb_pagemap_unmap(&w.p, M(16), M(32));
   assert_int_equal(shift_at(&w, M(80)), 12);
   map_as(&w, M(112), M(128), TLB_ANON, 0, 0);
   assert_int_equal(shift_at(&w, M(112)), 24);
   assert_int_equal(tlb_pagemap_counts(&w.p, 0)->fallbacks[24], 2);
   /* The most at once: three of 16M, four of 4K. */
   assert_int_equal(tlb_pagemap_counts(&w.p, 0)->peak_backed,
                    3 * M(16) + 4 * 4096);
   end(&w);
}

TEST(program_asks)
{
   world w;
   begin(&w, "", "");
   map_as(&w, M(2), M(8), TLB_ANON, TLB_MAP_HUGETLB, 21);
   map_as(&w, M(1024), M(2048), TLB_SHM, TLB_MAP_HUGETLB | TLB_MAP_SHARED, 30);
   map_as(&w, M(16), M(32), TLB_ANON, 0, 0);
   tlb_pagemap_flag(&w.p, M(20), M(23), TLB_MAP_HUGEPAGE, 0);
   assert_int_equal(shift_at(&w, M(3)), 21);
   assert_int_equal(shift_at(&w, M(1500)), 30);
   assert_int_equal(shift_at(&w, M(16)), 12);
   assert_int_equal(shift_at(&w, M(20)), 21);
   assert_int_equal(shift_at(&w, M(22)), 12);
   /* Advice that comes after the first touch of a block is too late for it. */
   assert_int_equal(shift_at(&w, M(28)), 12);
   tlb_pagemap_flag(&w.p, M(28), M(32), TLB_MAP_HUGEPAGE, 0);
   assert_int_equal(shift_at(&w, M(29)), 12);
   assert_int_equal(shift_at(&w, M(31)), 21);
   /* A block that is half touched is made one page by MADV_COLLAPSE. */
   assert_int_equal(shift_at(&w, M(24)), 12);
   tlb_pagemap_collapse(&w.p, M(24), M(26));
   assert_int_equal(shift_at(&w, M(24)), 21);
   assert_int_equal(shift_at(&w, M(26)), 12);
   /* That it succeeds says that something was there. */
   map_as(&w, M(64), M(66), TLB_ANON, 0, 0);
   tlb_pagemap_collapse(&w.p, M(64), M(66));
   assert_int_equal(shift_at(&w, M(65)), 21);
   end(&w);
   begin(&w, "all:4K", "");
   map_as(&w, M(2), M(8), TLB_ANON, TLB_MAP_HUGETLB, 21);
   assert_int_equal(shift_at(&w, M(3)), 12);
   end(&w);
}

/* A view that wishes for huge reservations must not walk through them. */
TEST(huge_reservations)
{
   world w;
   begin(&w, "all:thp", "");
   map_as(&w, M(1), UINT64_C(1) << 46, TLB_ANON, 0, 0);
   assert_int_equal(shift_at(&w, UINT64_C(1) << 45), 21);
   tlb_pagemap_protect(&w.p, M(1), UINT64_C(1) << 46, 0);
   tlb_pagemap_zap(&w.p, M(1), UINT64_C(1) << 46);
   tlb_pagemap_unmap(&w.p, M(1), UINT64_C(1) << 46);
   assert_int_equal(tlb_pagemap_counts(&w.p, 0)->backed, 0);
   assert_int_equal(tlb_pagemap_counts(&w.p, 0)->peak_backed, M(2));
   end(&w);
}

TEST(a_million_mappings)
{
   world w;
   begin(&w, "all:thp", "");
   for (uint64_t i = 0; i < 1000000; i++) {
      const uint64_t start = M(4) + i % 1000 * K(8);
      map_as(&w, start, start + K(4), TLB_ANON, 0, 0);
      assert_int_equal(shift_at(&w, start), 12);
      if (i >= 500) {
         const uint64_t old = M(4) + (i - 500) % 1000 * K(8);
         tlb_pagemap_unmap(&w.p, old, old + K(4));
      }
   }
   assert_int_equal(w.p.mappings.count, 500);
   assert_int_equal(tlb_pagemap_counts(&w.p, 0)->now.pages[12], 500);
   assert_int_equal(tlb_pagemap_counts(&w.p, 0)->taken[12], 1000000);
   end(&w);
}

/* The stack: 16K are told of at the beginning; it grows when it is asked. */
static int grow_stack(void *opaque, uint64_t address)
{
   world *const w = opaque;
   const tlb_mapping *const top
      = tlb_mappings_find(&w->p.mappings, M(64) - 1);
   if (address < M(60) || address >= top->start)
      return 0;
   map_as(w, address / 4096 * 4096, top->start, TLB_STACK, 0, 0);
   return 1;
}

TEST(stack_grows)
{
   world w;
   begin(&w, "stack:64K", "");
   tlb_pagemap_ask_for(&w.p, grow_stack, &w);
   map_as(&w, M(64) - K(16), M(64), TLB_STACK, 0, 0);
   assert_int_equal(shift_at(&w, M(64) - 1), 16);
   assert_int_equal(shift_at(&w, M(64) - K(200)), 16);
   assert_int_equal(shift_at(&w, M(59)), 12);
   assert_int_equal(w.p.mappings.count, 1);
   assert_int_equal(tlb_pagemap_counts(&w.p, 0)->now.pages[16], 2);
   end(&w);
}

int main(void)
{
   static const struct CMUnitTest tests[] = {
      CLAIM("the first touch of a block decides its page size until all its pages are gone",
            decided_at_first_touch),
      CLAIM("a large page of which half moves becomes base pages", half_a_large_page_moves),
      CLAIM("a heap with a fixed size grows by whole pages",
            heap_grows_by_whole_pages),
      CLAIM("a contiguous block with two protections becomes base pages", contiguous_block_breaks),
      CLAIM("rules that give no page its size are told apart from those that do",
            rules_without_effect),
      CLAIM("blocks that a mapping outgrew in base pages are counted", what_khugepaged_would_do),
      CLAIM("an empty pool gives base pages and counts them", pool_runs_dry),
      CLAIM("huge pages that the program asks for are given, unless a rule overrides",
            program_asks),
      CLAIM("a stack grows when the map asks for more of it", stack_grows),
      CLAIM("64T are reserved and given back without a look at each page", huge_reservations),
      CLAIM("a million mappings come and go, each with its page counted", a_million_mappings),
   };
   return cmocka_run_group_tests_name("pagemap", tests, NULL, NULL);
}
