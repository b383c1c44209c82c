/* Costs: from misses to cycles, and to a share of the time.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/machine/cost.h"

static void costs(void **state)
{
   static const struct {
      const char *text;
      uint32_t cycles;
   } good[] = {
      { "19", 19 }, { "0", 0 }, { "TLB_MISS_COST=19", 19 },
      { "TLB_MISS_COST=563\n", 563 }, { " \t7\r\n", 7 }, { "1000000", 1000000 },
      { "0000000000000000000000000000000000000042", 42 },
   };
   static const char *const bad[] = {
      "", " ", "-1", "19.5", "19 20", "cycles", "TLB_MISS_COST=",
      "TLB_MISS_COST= 19", "TLB_MISS_COST19", "tlb_miss_cost=19", "1000001",
      "18446744073709551635", "0x13", "TLB_MISS_COST=TLB_MISS_COST=1", "\n\n",
   };
   tlb_reason why;
   uint32_t cycles;
   (void)state;
   for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
      cycles = 12345;
      assert_true(tlb_miss_cost_parse(good[i].text, &cycles, &why));
      assert_int_equal(cycles, good[i].cycles);
   }
   for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
      assert_false(tlb_miss_cost_parse(bad[i], &cycles, &why));
   assert_false(tlb_miss_cost_parse("many", &cycles, &why));
   assert_string_equal(why.text, "'many' is no cost; allowed are 0 to 1000000 "
                                 "cycles, also as TLB_MISS_COST=19");
}

static void cycles(void **state)
{
   static const char *const bad[] = { "", "0", "1 ", " 1", "1e9", "-5",
                                      "18446744073709551616" };
   char longest[500];
   tlb_reason why;
   uint64_t n;
   (void)state;
   assert_true(tlb_cycles_parse("29953650000", &n, &why));
   assert_true(n == UINT64_C(29953650000));
   assert_true(tlb_cycles_parse("18446744073709551615", &n, &why));
   assert_true(n == UINT64_MAX);
   for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
      assert_false(tlb_cycles_parse(bad[i], &n, &why));
   /* What is allowed is said, however long the text is that is not. */
   memset(longest, 'x', sizeof longest - 1);
   longest[sizeof longest - 1] = '\0';
   assert_false(tlb_cycles_parse(longest, &n, &why));
   assert_non_null(strstr(why.text, "allowed are 1 to 18446744073709551615"));
   uint32_t cost;
   assert_false(tlb_miss_cost_parse(longest, &cost, &why));
   assert_non_null(strstr(why.text, "TLB_MISS_COST=19"));
}

static void products(void **state)
{
   (void)state;
   assert_true(tlb_cost_of(9492000, 563) == UINT64_C(5343996000));
   assert_true(tlb_cost_of(UINT64_MAX, 0) == 0);
   assert_true(tlb_cost_of(UINT64_MAX, 1) == UINT64_MAX);
   assert_true(tlb_cost_of(UINT64_C(1) << 44, 1000000)
               == UINT64_C(17592186044416000000));
   assert_true(tlb_cost_of(UINT64_C(1) << 45, 1000000) == UINT64_MAX);
}

static void shares(void **state)
{
   (void)state;
   /* STREAM on a PPC970 (E1): 17.84 %. */
   assert_int_equal(tlb_cost_share(tlb_cost_of(9492000, 563),
                                   UINT64_C(29953650000)), 1784);
   assert_int_equal(tlb_cost_share(0, 1), 0);
   assert_int_equal(tlb_cost_share(1, 3), 3333);
   assert_int_equal(tlb_cost_share(2, 3), 6667);
   assert_int_equal(tlb_cost_share(1, 20000), 1);     /* 0.005 */
   assert_int_equal(tlb_cost_share(1, 20001), 0);
   assert_int_equal(tlb_cost_share(3, 20000), 2);     /* 0.015 */
   assert_int_equal(tlb_cost_share(14999, 100000000), 1);
   assert_int_equal(tlb_cost_share(15000, 100000000), 2);
   assert_int_equal(tlb_cost_share(300, 100), 30000);
   assert_int_equal(tlb_cost_share(UINT64_MAX, UINT64_MAX), 10000);
   assert_int_equal(tlb_cost_share(UINT64_MAX - 1, UINT64_MAX), 10000);
   assert_int_equal(tlb_cost_share(UINT64_MAX / 2, UINT64_MAX), 5000);
   assert_int_equal(tlb_cost_share(1, UINT64_MAX), 0);
   assert_true(tlb_cost_share(UINT64_MAX, 10000) == UINT64_MAX);
   assert_true(tlb_cost_share(UINT64_MAX, 10001)
               == UINT64_C(18444899583751176497));
   assert_true(tlb_cost_share(UINT64_MAX, 1) == UINT64_MAX);
}

/* Where 64 bits are enough, the plain formula. */
static void small_shares(void **state)
{
   uint64_t seed = 5;
   (void)state;
   for (int i = 0; i < 200000; i++) {
      const uint64_t cost = unit_random(&seed) % 1000000000
                            >> unit_random(&seed) % 30;
      const uint64_t all = 1 + (unit_random(&seed) % 1000000000
                                >> unit_random(&seed) % 30);
      assert_true(tlb_cost_share(cost, all)
                  == (2 * 10000 * cost + all) / (2 * all));
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("a cost is a number of cycles, or the line of a measuring program",
            costs),
      CLAIM("cycles are a number above 0", cycles),
      CLAIM("products that are too large are the largest number", products),
      CLAIM("a share of the time is rounded to hundredths of a per cent",
            shares),
      CLAIM("shares are the plain formula's where that fits", small_shares),
   };
   return cmocka_run_group_tests_name("cost", tests, NULL, NULL);
}
