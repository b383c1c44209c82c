/* The layout: where Linux places mappings.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "memory_support.h"

#include "sim/faults/layout.h"

/* x86-64 without randomisation, and a stack limit of 8 MiB. */
static const tlb_layout_rules rules = {
   .mmap_base = UINT64_C(0x7ffff7fff000), .lowest = 0x10000,
   .huge_bytes = 1 << 21, .stack_gap = 256 * 4096,
};

static tlb_mappings there;
static tlb_layout l;
static int aligned;

static void begin(void)
{
   given = 0;
   tlb_mappings_init(&there, &memory);
   tlb_layout_init(&l, &rules, &there, &memory);
}

static void end(void)
{
   tlb_layout_free(&l);
   tlb_mappings_free(&there);
   assert_int_equal(given, 0);
}

static uint64_t place(uint64_t bytes, int is_file)
{
   const uint64_t at = tlb_layout_place(&l, bytes, is_file, 0, &aligned);
   const tlb_mapping v = { .start = at, .end = at + bytes };
   assert_int_not_equal(at, 0);
   assert_false(tlb_mappings_overlap(&there, at, at + bytes));
   tlb_mappings_add(&there, &v);
   return at;
}

TEST(test_top_down)
{
   begin();
   /* What /proc/self/maps shows under setarch -R: the dynamic linker at the top,
      then the kernel's pages, then what it maps. */
   assert_true(place(0x35000, 1) == UINT64_C(0x7ffff7fca000));
   assert_true(place(0x8000, 0) == UINT64_C(0x7ffff7fc2000));
   assert_true(place(0x2000, 0) == UINT64_C(0x7ffff7fc0000));
   end();
}

TEST(test_holes)
{
   begin();
   const uint64_t a = place(0x10000, 0);
   const uint64_t b = place(0x10000, 0);
   const uint64_t c = place(0x10000, 0);
   tlb_mappings_remove(&there, b, b + 0x4000);
   tlb_layout_freed(&l);
   /* The highest hole that is large enough, filled from its end. */
   assert_true(place(0x5000, 0) == c - 0x5000);
   assert_true(place(0x3000, 0) == b + 0x1000);
   assert_true(place(0x1000, 0) == b);
   tlb_mappings_remove(&there, a, a + 0x10000);
   tlb_layout_freed(&l);
   assert_true(place(0x10000, 0) == a);
   end();
}

TEST(test_alignment)
{
   begin();
   place(0x1000, 0);
   /* Anonymous memory is aligned only if huge pages fill it. */
   assert_int_equal(place(4 << 20, 0) % (2 << 20), 0);
   assert_true(aligned);
   const uint64_t odd = place((4 << 20) + 4096, 0);
   assert_int_not_equal(odd % (2 << 20), 0);
   assert_false(aligned);
   /* Files by their offset. */
   assert_int_equal(place((5 << 20) + 4096, 1) % (2 << 20), 0);
   assert_true(aligned);
   assert_int_equal(tlb_layout_place(&l, 8 << 20, 1, 0x5000, &aligned)
                    % (2 << 20), 0x5000);
   assert_int_not_equal(tlb_layout_place(&l, 0x1ff000, 1, 0, &aligned), 0);
   assert_false(aligned);
   end();
}

TEST(test_stack_gap)
{
   begin();
   const tlb_mapping stack = {
      .start = UINT64_C(0x7ffff0000000), .end = rules.mmap_base,
      .kind = TLB_STACK
   };
   tlb_mappings_add(&there, &stack);
   assert_true(place(0x1000, 0) == stack.start - rules.stack_gap - 0x1000);
   end();
}

TEST(test_no_room)
{
   begin();
   assert_int_equal(tlb_layout_place(&l, UINT64_C(1) << 47, 0, 0, &aligned), 0);
   end();
}

TEST(test_pieces)
{
   begin();
   tlb_layout_add(&l, 0x4000000, 0x4010000, 0x7fff00000000, 1);
   tlb_layout_add(&l, 0x4004000, 0x4008000, 0x7fff00004000, 2);
   const tlb_mapping *p = tlb_layout_find(&l, 0x4009123);
   assert_non_null(p);
   assert_int_equal(p->device, 1);
   assert_true(p->offset + (0x4009123 - p->start) == UINT64_C(0x7fff00009123));
   assert_int_equal(tlb_layout_find(&l, 0x4004000)->device, 2);
   tlb_layout_remove(&l, 0x4008000, 0x4009000);
   assert_null(tlb_layout_find(&l, 0x4008000));
   end();
}

/* Random mmap() and munmap(): never over another mapping, and always in the
   highest hole. */
TEST(test_random)
{
   uint64_t seed = 99;
   begin();
   for (int i = 0; i < 3000; i++) {
      const uint64_t r = unit_random(&seed);
      if (r % 3 == 0 && there.count > 0) {
         const tlb_mapping v = *there.at[(r >> 8) % there.count];
         tlb_mappings_remove(&there, v.start, v.start + 4096);
         tlb_layout_freed(&l);
         continue;
      }
      const uint64_t bytes = (1 + (r >> 8) % 20) * 4096;
      uint64_t top = rules.mmap_base, expected = 0;
      for (size_t k = there.count; expected == 0; k--) {
         const uint64_t bottom = k == 0 ? rules.lowest : there.at[k - 1]->end;
         if (top - bottom >= bytes)
            expected = top - bytes;
         else if (k > 0)
            top = there.at[k - 1]->start;
      }
      assert_true(place(bytes, 0) == expected);
   }
   end();
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("mappings are placed from the top down", test_top_down),
      CLAIM("a mapping is placed in the highest hole that is large enough", test_holes),
      CLAIM("a mapping that huge pages could fill is aligned for them", test_alignment),
      CLAIM("a gap stays free below a stack", test_stack_gap),
      CLAIM("a mapping for which there is no room is not placed", test_no_room),
      CLAIM("a piece of a mapping keeps its ID and its native address", test_pieces),
      CLAIM("random mappings are placed as a search from the top would",
            test_random),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
