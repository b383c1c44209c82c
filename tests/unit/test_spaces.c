/* How far apart the addresses of several address spaces stand.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/machine/spaces.h"
#include "sim/tlb/key.h"

static tlb_machine machine_of(const char *array, const char *other)
{
   tlb_machine m = { .name = "some", .n_arrays = 2 };
   m.array[0] = (tlb_machine_array){ .name = "DTLB", .g = unit_geometry(array) };
   m.array[1] = (tlb_machine_array){ .name = "STLB", .g = unit_geometry(other) };
   return m;
}

TEST(steps)
{
   static const struct {
      const char *array, *other;
      uint64_t step;
   } of[] = {
      { "64,full,4K", "1536,12,4K", 1 }, { "64,4,4K", "1536,8,4K", 3 },
      { "12,4,4K", "60,4,4K+2M", 15 },   { "96,4,4K", "72,8,4K", 9 },
   };
   for (unsigned i = 0; i < sizeof of / sizeof of[0]; i++) {
      const tlb_machine m = machine_of(of[i].array, of[i].other);
      tlb_reason why;
      uint64_t step = 1;
      assert_true(tlb_spaces_step(&m, 4, &step, &why));
      assert_int_equal(step, of[i].step);
   }
}

TEST(one_set)
{
   const tlb_machine m = machine_of("96,4,4K", "72,8,4K+1G");
   uint64_t step = 1;
   uint64_t random = 1;
   tlb_reason why;
   assert_true(tlb_spaces_step(&m, 100, &step, &why));
   for (unsigned n = 0; n < 1000; n++) {
      const uint64_t address = unit_random(&random) >> (64 - TLB_SPACE_SHIFT);
      const uint64_t space = unit_random(&random) % 100 * step << TLB_SPACE_SHIFT;
      for (unsigned i = 0; i < m.n_arrays; i++) {
         const tlb_geometry *const g = &m.array[i].g;
         const uint32_t sets = g->entries / g->ways;
         for (unsigned shift = 12; shift <= 30; shift += 18) {
            const uint32_t mask = tlb_set_mask(sets, g->index_xor);
            assert_int_equal(tlb_set_of((address | space) >> shift, sets, mask, g->index_xor),
                             tlb_set_of(address >> shift, sets, mask, g->index_xor));
         }
      }
   }
}

TEST(too_many)
{
   const tlb_machine odd = machine_of("64,4,4K", "4004,4,4K"); /* 7 * 11 * 13 sets */
   const tlb_machine large = machine_of("64,4,4K", "65536,1,16G");
   uint64_t step = 1;
   tlb_reason why;
   assert_true(tlb_spaces_step(&odd, 66, &step, &why));
   step = 1;
   assert_false(tlb_spaces_step(&odd, 67, &step, &why));
   assert_string_equal(why.text, "with the sets that machine some has (array STLB), not so many "
                                 "copies can be told apart");
   step = 1;
   assert_false(tlb_spaces_step(&large, 2, &step, &why));
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("a step is a multiple of what is odd in each number of sets", steps),
      CLAIM("one page of all spaces chooses one set", one_set),
      CLAIM("spaces that have no room above an address are refused with the array", too_many),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
