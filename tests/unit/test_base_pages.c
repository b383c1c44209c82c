/* The base pages that machines have in a run.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/machine/builtin.h"
#include "sim/machine/machine_file.h"
#include "sim/tlb/base_pages.h"

static tlb_machine machine_called(const char *name)
{
   const tlb_builtin *const b = tlb_builtin_machine(name);
   tlb_machine m;
   uint32_t line;
   tlb_reason why;
   assert_non_null(b);
   assert_true(tlb_machine_parse(b->text, b->length, &m, &line, &why));
   return m;
}

static tlb_base_pages pages_of(const char *text)
{
   tlb_base_pages b;
   assert_true(tlb_base_pages_parse(text, strlen(text), &b));
   return b;
}

TEST(of_an_option)
{
   const tlb_base_pages b = pages_of("14 all");
   tlb_machine m = machine_called("skylake");
   tlb_reason note[TLB_MOST_BASE_NOTES];
   assert_int_equal(tlb_base_pages_take(&b, &m, note), 1);
   assert_int_equal(m.base_page_shift, 14);
   assert_string_equal(note[0].text, "the arrays for 4K pages are taken to hold the base page of "
                                     "this run in the same number");
   assert_int_equal(unit_array_of(&m, "DTLB-4K")->g.page_sizes, UINT64_C(1) << 14);
   assert_int_equal(unit_array_of(&m, "DTLB-2M")->g.page_sizes, UINT64_C(6) << 20);
}

/* The array for 2M serves them, and the one for 4K stays as it is. */
TEST(that_an_array_holds)
{
   const tlb_base_pages b = pages_of("21 all");
   tlb_machine m = machine_called("skylake");
   tlb_reason note[TLB_MOST_BASE_NOTES];
   assert_int_equal(tlb_base_pages_take(&b, &m, note), 0);
   assert_int_equal(m.base_page_shift, 21);
   assert_int_equal(unit_array_of(&m, "DTLB-4K")->g.page_sizes, UINT64_C(1) << 12);
}

TEST(of_a_kernel)
{
   const tlb_base_pages b = pages_of("12 ppc64");
   tlb_machine power = machine_called("power9"), other = machine_called("apple-m1"),
               same = machine_called("ppc970");
   const tlb_machine before = other;
   tlb_reason note[TLB_MOST_BASE_NOTES];
   const unsigned n = tlb_base_pages_take(&b, &power, note);
   assert_true(n >= 1);
   assert_string_equal(note[0].text,
                       "base pages are 4K, as those of the kernel here (--page-size)");
   assert_int_equal(power.base_page_shift, 12);
   assert_int_equal(tlb_base_pages_take(&b, &other, note), 0);
   assert_memory_equal(&other, &before, sizeof other);
   assert_int_equal(same.base_page_shift, 12);
   assert_int_equal(tlb_base_pages_take(&b, &same, note), 0);
}

TEST(none)
{
   const tlb_base_pages b = { .shift = 0 };
   tlb_machine m = machine_called("skylake");
   const tlb_machine before = m;
   tlb_reason note[TLB_MOST_BASE_NOTES];
   assert_int_equal(tlb_base_pages_take(&b, &m, note), 0);
   assert_memory_equal(&m, &before, sizeof m);
}

TEST(that_can_not_be)
{
   static const char *const wrong[] = { "", "14", "14 ", "all", "11 all", "35 all", "14all",
                                        "14 an-architecture-of-a-long-name", "-14 all" };
   for (unsigned i = 0; i < N(wrong); i++) {
      tlb_base_pages b = { .shift = 0 };
      assert_false(tlb_base_pages_parse(wrong[i], strlen(wrong[i]), &b));
   }
   assert_string_equal(pages_of("16 aarch64").isa, "aarch64");
   assert_string_equal(pages_of("16 all").isa, "");
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("base pages of an option are held by the arrays for the machine's own", of_an_option),
      CLAIM("base pages that an array holds change no array", that_an_array_holds),
      CLAIM("base pages of a kernel are those of its architecture's machines", of_a_kernel),
      CLAIM("without any, each machine has its own", none),
      CLAIM("other texts are none", that_can_not_be),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
