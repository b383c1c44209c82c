/* Costs: from misses to cycles, and to a share of the time.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/machine/cost.h"

TEST(costs)
{
   static const struct {
      const char *text;
      uint32_t cycles;
   } good[] = {
      { "19", 19 }, { "0", 0 }, { "TLB_MISS_COST=19", 19 }, { "TLB_MISS_LATENCY_CYCLES=19", 19 },
      { " TLB_MISS_LATENCY_CYCLES=0\n", 0 },
      { "TLB_MISS_COST=563\n", 563 }, { " \t7\r\n", 7 }, { "1000000", 1000000 },
      { "0000000000000000000000000000000000000042", 42 },
   };
   static const char *const bad[] = {
      "", " ", "-1", "19.5", "19 20", "cycles", "TLB_MISS_COST=", "TLB_MISS_LATENCY_CYCLES=",
      "TLB_MISS_COST=TLB_MISS_LATENCY_CYCLES=1", "TLB_MISS_COST= 19", "TLB_MISS_COST19",
      "tlb_miss_cost=19", "1000001", "18446744073709551635", "0x13",
      "TLB_MISS_COST=TLB_MISS_COST=1", "\n\n",
   };
   tlb_reason why;
   uint32_t cycles;
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

TEST(cycles)
{
   static const char *const bad[] = { "", "0", "1 ", " 1", "1e9", "-5",
                                      "18446744073709551616" };
   char longest[500];
   tlb_reason why;
   uint64_t n;
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

TEST(products)
{
   assert_true(tlb_cost_of(9492000, 563) == UINT64_C(5343996000));
   assert_true(tlb_cost_of(UINT64_MAX, 0) == 0);
   assert_true(tlb_cost_of(UINT64_MAX, 1) == UINT64_MAX);
   assert_true(tlb_cost_of(UINT64_C(1) << 44, 1000000)
               == UINT64_C(17592186044416000000));
   assert_true(tlb_cost_of(UINT64_C(1) << 45, 1000000) == UINT64_MAX);
}

TEST(shares)
{
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
TEST(small_shares)
{
   uint64_t seed = 5;
   for (int i = 0; i < 200000; i++) {
      const uint64_t cost = unit_random(&seed) % 1000000000
                            >> unit_random(&seed) % 30;
      const uint64_t all = 1 + (unit_random(&seed) % 1000000000
                                >> unit_random(&seed) % 30);
      assert_true(tlb_cost_share(cost, all)
                  == (2 * 10000 * cost + all) / (2 * all));
   }
}

/* A machine with levels for all references; 0 cycles: unknown. */
static tlb_machine machine_of(unsigned levels, uint32_t second, uint32_t third, uint32_t walk)
{
   tlb_machine m = { .n_arrays = levels, .walk_cycles = walk };
   for (unsigned i = 0; i < levels; i++)
      m.array[i] = (tlb_machine_array){ .level = i + 1, .users = 7 };
   m.array[1].hit_cycles = second == 0 ? TLB_UNKNOWN : second;
   m.array[2].hit_cycles = third == 0 ? TLB_UNKNOWN : third;
   return m;
}

TEST(least_costs)
{
   const tlb_kind_misses two[3] = { { { 100, 20, 0 }, 20 }, { { 10, 4, 0 }, 4 } };
   const tlb_kind_misses three[3] = { { { 100, 50, 20 }, 20 } };
   /* One figure each: what was counted, whatever it is. */
   tlb_machine m = machine_of(2, 7, 0, 30);
   assert_true(tlb_cost_least(&m, two, 1000, 0, 12345) == 12345);
   /* Nested, without the host's walks. */
   assert_true(tlb_cost_least(&m, two, 1000, 1, 12345) == 86 * 7 + 24 * 30);
   /* 86 hits, 24 walks. */
   m.walk_spread = 10;
   assert_true(tlb_cost_least(&m, two, 1000, 0, 12345) == 86 * 7 + 24 * 20);
   m.array[1].hit_spread = 2;
   assert_true(tlb_cost_least(&m, two, 1000, 0, 12345) == 86 * 5 + 24 * 20);
   m.array[1].hit_cycles = TLB_UNKNOWN;
   m.array[1].hit_spread = 0;
   assert_true(tlb_cost_least(&m, two, 1000, 0, 12345) == 24 * 20);
   /* It is never more than the most. */
   assert_true(tlb_cost_least(&m, two, 1000, 0, 479) == 479);
   /* Three levels: 50 hits of the second, 30 of the third, 20 walks. */
   m = machine_of(3, 7, 20, 100);
   m.walk_spread = 1;
   assert_true(tlb_cost_least(&m, three, 1000, 0, 12345) == 50 * 7 + 30 * 20 + 20 * 99);
   /* What is looked up on the second level first pays nothing for a hit there. */
   m = machine_of(2, 7, 0, 30);
   m.walk_spread = 10;
   m.array[0].users = TLB_FETCHES | TLB_STORES;
   const tlb_kind_misses loads[3] = { { { 0 }, 0 }, { { 0, 4, 0 }, 4 } };
   assert_true(tlb_cost_least(&m, loads, 1000, 0, 12345) == 4 * 20);
   /* The cheaper of two arrays. */
   m = machine_of(3, 7, 5, 30);
   m.array[2].level = 2;
   m.walk_spread = 10;
   assert_true(tlb_cost_least(&m, two, 1000, 0, 12345) == 86 * 5 + 24 * 20);
}

/* A walk of 30 cycles; entries of the second cache 10, of the memory 200 to 300. */
static tlb_machine cached(void)
{
   tlb_machine m = machine_of(2, 7, 0, 30);
   m.n_walk_steps = 1;
   m.n_caches = 2;
   m.cache[1].cycles = 10;
   m.memory = (tlb_table_cache){ .cycles = 300, .spread = 100 };
   return m;
}

TEST(least_costs_of_tables)
{
   const tlb_kind_misses of[3] = { { { 100, 20, 0 }, 20 }, { { 10, 4, 0 }, 4 } };
   const uint64_t others = 86 * 7 + 24 * 30;
   tlb_machine m = cached();
   /* Beyond hits and walks there are 1000 cycles; if all are of the memory, 666 at least. */
   assert_true(tlb_cost_least(&m, of, 1000, 0, others + 1000) == others + 666);
   m.memory.spread = 0;
   assert_true(tlb_cost_least(&m, of, 1000, 0, others + 1000) == others + 1000);
   m.cache[1].spread = 9;
   assert_true(tlb_cost_least(&m, of, 1000, 0, others + 1000) == others + 100);
   /* A cache whose entries cost nothing was not paid for. */
   m.cache[1].spread = m.cache[1].cycles = 0;
   m.memory.spread = 150;
   assert_true(tlb_cost_least(&m, of, 1000, 0, others + 1000) == others + 500);
   /* Of nested walks only the guest's without its tables are there at least. */
   assert_true(tlb_cost_least(&m, of, 1000, 1, 12345) == others);
   /* Where hits differ, they can have cost the dearer, and the rest is less. */
   m.n_arrays = 3;
   m.array[2] = (tlb_machine_array){ .level = 2, .users = 7, .hit_cycles = 9 };
   assert_true(tlb_cost_least(&m, of, 1000, 0, others + 1000) == others + (1000 - 2 * 86) / 2);
   /* Without caches, none of it. */
   tlb_cost_set_walk(&m, 50);
   assert_true(tlb_cost_least(&m, of, 1000, 0, 12345) == 12345);
   assert_false(tlb_tables_are_cached(&m));
   assert_int_equal(m.walk_cycles, 50);
}

/* Walks for larger pages can have cost less than those that are counted with them. */
TEST(least_costs_of_short_walks)
{
   const tlb_kind_misses of[3] = { { { 100, 20, 0 }, 20 }, { { 10, 4, 0 }, 4 } };
   tlb_machine m = machine_of(2, 7, 0, 47);
   m.walk_overlap = 20;
   assert_true(tlb_cost_least(&m, of, 1000, 0, 86 * 7 + 24 * 47) == 86 * 7 + 24 * 47 / 2);
   assert_true(tlb_cost_least(&m, of, 1000, 0, 86 * 7 + 24 * 27) == 86 * 7 + 24 * 27 / 2);
   m.walk_spread = 30;
   assert_true(tlb_cost_least(&m, of, 1000, 0, 86 * 7 + 24 * 27) == 86 * 7 + 24 * 17 / 2);
   /* With what their table entries cost, as far as it is known to be more. */
   m = cached();
   m.walk_overlap = 20;
   assert_true(tlb_cost_least(&m, of, 1000, 0, 86 * 7 + 24 * 20 + 100)
               == 86 * 7 + (24 * 20 + 100) / 2);
   assert_true(tlb_cost_least(&m, of, 1000, 0, 86 * 7 + 24 * 20 + 600)
               == 86 * 7 + (24 * 30 + 360 * 2 / 3) / 2);
   m.walk[0].cycles = 10;
   tlb_cost_set_walk(&m, 50);
   assert_int_equal(m.walk[0].cycles, 0);
}

TEST(least_costs_overlap)
{
   const tlb_kind_misses of[3] = { { { 100, 20, 0 }, 20 }, { { 10, 4, 0 }, 4 } };
   tlb_machine m = machine_of(2, 7, 0, 31);
   m.walk_overlap = 25;
   assert_true(tlb_cost_least(&m, of, 1000, 0, 12345) == 86 * 7 + 24 * 31 * 10 / 25);
   m.array[1].overlap = 40;
   /* Of each kind of reference the sum is rounded down. */
   assert_true(tlb_cost_least(&m, of, 1000, 0, 12345)
               == 80 * 7 * 10 / 40 + 6 * 7 * 10 / 40 + 24 * 31 * 10 / 25);
   m.walk_overlap = 10;
   m.array[1].overlap = 0;
   assert_true(tlb_cost_least(&m, of, 1000, 0, 12345) == 12345);
   /* Of two arrays the one that costs less when its hits overlap. */
   m.n_arrays = 3;
   m.array[2] = (tlb_machine_array){ .level = 2, .users = 7, .hit_cycles = 9, .overlap = 20 };
   assert_true(tlb_cost_least(&m, of, 1000, 0, 12345)
               == 80 * 9 * 10 / 20 + 6 * 9 * 10 / 20 + 24 * 31);
   /* With all that a walk reads. */
   m = cached();
   m.walk_overlap = 20;
   assert_true(tlb_cost_least(&m, of, 1000, 0, 86 * 7 + 24 * 30 + 300)
               == 86 * 7 + (24 * 30 + 200) / 2);
   /* Sums beyond 64 bits. */
   const tlb_kind_misses many[3] = { { { UINT64_MAX / 3, 0, 0 }, UINT64_MAX / 3 } };
   assert_true(tlb_cost_least(&m, many, 1000, 0, UINT64_MAX) <= UINT64_MAX / 2 + 1);
}

/* Misses overlap only if they are under way together. */
TEST(least_costs_within_a_window)
{
   const tlb_kind_misses of[3] = { { { 100, 20, 0 }, 20 }, { { 10, 4, 0 }, 4 } };
   tlb_machine m = machine_of(2, 7, 0, 31);
   m.walk_overlap = 40;
   m.window = 100;
   /* 24 walks among 1000 instructions: 2.4 of them within 100. */
   assert_true(tlb_cost_least(&m, of, 1000, 0, 12345) == 86 * 7 + 24 * 31 * 10 / 24);
   /* The quotient is rounded down to thousandths: 3.428. */
   assert_true(tlb_cost_least(&m, of, 700, 0, 12345) == 86 * 7 + 24 * 31 * 1000 / 3428);
   /* Never more than the overlap, never less than one. */
   assert_true(tlb_cost_least(&m, of, 600, 0, 12345) == 86 * 7 + 24 * 31 / 4);
   assert_true(tlb_cost_least(&m, of, 10, 0, 12345) == 86 * 7 + 24 * 31 / 4);
   assert_true(tlb_cost_least(&m, of, 0, 0, 12345) == 86 * 7 + 24 * 31 / 4);
   assert_true(tlb_cost_least(&m, of, 2400, 0, 12345) == 86 * 7 + 24 * 31);
   assert_true(tlb_cost_least(&m, of, 1000000, 0, 12345) == 86 * 7 + 24 * 31);
   /* Hits by themselves: 86 among 2150 instructions are 4 within 100. */
   m.array[1].overlap = 80;
   assert_true(tlb_cost_least(&m, of, 2150, 0, 12345)
               == 80 * 7 / 4 + 6 * 7 / 4 + 24 * 31 * 1000 / 1116);
   /* Each of two arrays has its own; then the cheaper one counts. */
   m.n_arrays = 3;
   m.array[2] = (tlb_machine_array){ .level = 2, .users = 7, .hit_cycles = 5, .overlap = 20 };
   assert_true(tlb_cost_least(&m, of, 2150, 0, 12345)
               == 80 * 7 / 4 + 6 * 7 / 4 + 24 * 31 * 1000 / 1116);
   assert_true(tlb_cost_least(&m, of, 8600, 0, 12345) == 80 * 5 + 6 * 5 + 24 * 31);
   /* In order nothing overlaps. */
   m.window = 1;
   assert_true(tlb_cost_least(&m, of, 100000, 0, 12345) == 80 * 5 + 6 * 5 + 24 * 31);
   /* Without a window all overlaps. */
   m.window = 0;
   m.n_arrays = 2;
   assert_true(tlb_cost_least(&m, of, 1000000, 0, 12345) == 80 * 7 / 8 + 6 * 7 / 8 + 24 * 31 / 4);
   /* Products beyond 64 bits. */
   const tlb_kind_misses many[3] = { { { UINT64_MAX / 62, 0, 0 }, UINT64_MAX / 62 } };
   m.window = TLB_MOST_WINDOW;
   assert_true(tlb_cost_least(&m, many, UINT64_MAX, 0, UINT64_MAX)
               == UINT64_MAX / 62 * 31 / 4);
}

TEST(what_is_known)
{
   tlb_machine m = machine_of(2, 7, 0, 30);
   assert_true(tlb_cost_is_known(&m) && !tlb_cost_is_assumed(&m));
   m.array[1].hit_cycles_unknown = 1;
   assert_true(tlb_cost_is_known(&m) && tlb_cost_is_assumed(&m));
   m.array[1].hit_cycles_unknown = 0;
   m.walk_cycles_unknown = 1;
   assert_true(tlb_cost_is_assumed(&m));
   m.walk_cycles = TLB_UNKNOWN;
   assert_false(tlb_cost_is_known(&m));
   m = cached();
   assert_false(tlb_cost_is_assumed(&m));
   m.cache[1].share_unknown = 1;
   assert_false(tlb_cost_is_assumed(&m));
   m.memory.cycles_unknown = 1;
   assert_true(tlb_cost_is_assumed(&m));
   m = cached();
   m.walk_overlap_unknown = 1;
   assert_true(tlb_cost_is_assumed(&m));
}

TEST(shares_beyond)
{
   /* 1000 instructions take 1000 or 500 cycles, and 250 more. */
   assert_int_equal(tlb_cost_share_beyond(250, 1000, 1), 2000);
   assert_int_equal(tlb_cost_share_beyond(250, 1000, 2), 3333);
   assert_int_equal(tlb_cost_share_beyond(0, 1000, 2), 0);
   assert_int_equal(tlb_cost_share_beyond(0, 0, 2), 0);
   assert_int_equal(tlb_cost_share_beyond(5, 0, 2), 10000);
   assert_int_equal(tlb_cost_share_beyond(UINT64_MAX, 1000, 2), 10000);
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
      CLAIM("of what costs a range, the least is hits and walks at their least", least_costs),
      CLAIM("table entries cost at least what the range of the least of the caches leaves",
            least_costs_of_tables),
      CLAIM("walks that end early cost no more at least than at most", least_costs_of_short_walks),
      CLAIM("hits and walks that overlap cost at least their sums divided", least_costs_overlap),
      CLAIM("misses overlap no farther than there are so many within the window",
            least_costs_within_a_window),
      CLAIM("a cost of hits or walks can be known, assumed or neither", what_is_known),
      CLAIM("without cycles the share is of the instructions' and the misses' together",
            shares_beyond),
   };
   return cmocka_run_group_tests_name("cost", tests, NULL, NULL);
}
