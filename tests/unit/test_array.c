/* One translation array: lookups, fills and evictions under each policy.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/tlb/policy_random.h"

/* References the pages named by letters, A = 0. What is expected of each: '+'
   a hit, '-' a miss that takes a free way, a letter: the page it evicts. */
static void sequence(const char *geometry, const char *pages,
                     const char *expected)
{
   const tlb_geometry g = unit_geometry(geometry);
   const tlb_key free_way = 1 << 20;
   unit_array u;
   char got[64];
   size_t n = 0;
   unit_array_make(&u, &g, NULL, NULL);
   assert_int_equal(strlen(pages), strlen(expected));
   for (const char *p = pages; *p != '\0'; p++) {
      const tlb_key k = unit_reference(&u, (tlb_key)(*p - 'A'), free_way);
      got[n++] = k == TLB_NO_KEY ? '+' : k == free_way ? '-' : (char)('A' + k);
   }
   got[n] = '\0';
   if (strcmp(got, expected) != 0)
      fail_msg("%s, pages %s: %s, expected %s", geometry, pages, got, expected);
   unit_array_free(&u);
}

TEST(lru)
{
   sequence("4,full,4K,lru", "ABCDAEB", "----+BC");
   sequence("4,full,4K,lru", "ABCDDCBAE", "----++++D");
   sequence("4,full,4K,lru", "ABCDBBBBEFGH", "----++++ACDB");
   sequence("3,full,4K,lru", "ABCABCDABC", "---+++ABCD");
   sequence("2,full,4K,lru", "ABACA", "--+B+");
}

TEST(plru)
{
   /* After A: the right half is older, and in it C (D came later). After E in
      C's way: left, and there B. After F in B's way: right, and there D. */
   sequence("4,full,4K,plru", "ABCDAEFG", "----+CBD");
   /* Where LRU would give up A, the tree gives up C: the half with B in it was
      referenced last. */
   sequence("4,full,4K,plru", "ABCDCDBE", "----+++C");
   sequence("4,full,4K,lru", "ABCDCDBE", "----+++A");
   sequence("8,full,4K,plru", "ABCDEFGHAIJKL", "--------+ECGB");
   sequence("2,full,4K,plru", "ABACB", "--+BA");
}

TEST(fifo)
{
   sequence("4,full,4K,fifo", "ABCDAEAF", "----+ABC");
   sequence("3,full,4K,fifo", "ABCAAADEFA", "---+++ABCD");
   sequence("2,full,4K,fifo", "ABACA", "--+AB");
}

TEST(nru)
{
   /* D's fill sets the last clear bit: all others are cleared. Then the lowest
      clear one goes. */
   sequence("4,full,4K,nru", "ABCDE", "----A");
   sequence("4,full,4K,nru", "ABCDEBCF", "----A++E");
   /* After D only D is used; A's hit protects A, so B goes. */
   sequence("4,full,4K,nru", "ABCDAE", "----+B");
   /* Two ways: the one referenced last stays. */
   sequence("2,full,4K,nru", "ABCAB", "--ABC");
   /* One used bit, always set: the only entry goes. */
   sequence("1,full,4K,nru", "AABA", "-+AB");
}

TEST(drawn)
{
   /* Worked out apart, in integers of any length. */
   static const uint32_t seed_0[] = { 3, 0, 1, 0, 1, 3, 0, 3, 0, 3, 3, 2 };
   static const uint32_t seed_7[] = { 2, 3, 1, 1, 1, 3, 0, 0, 3, 2, 3, 3 };
   static const uint32_t seed_7_5[] = { 3, 1, 3, 3, 0, 4, 4, 4, 4, 1, 0, 0 };
   uint64_t a = 0, b = 7, c = 7;
   for (size_t i = 0; i < sizeof seed_0 / sizeof seed_0[0]; i++) {
      assert_int_equal(tlb_random_next(&a, 4), seed_0[i]);
      assert_int_equal(tlb_random_next(&b, 4), seed_7[i]);
      assert_int_equal(tlb_random_next(&c, 5), seed_7_5[i]);
   }
}

/* A miss in a full set draws once; hits and fills of free ways draw nothing,
   and all sets share one generator. */
TEST(random_ways)
{
   const tlb_geometry g = unit_geometry("12,4,4K,random:99");
   uint64_t generator = 99, seed = 5;
   tlb_key way[3][4];
   uint32_t filled[3] = { 0 };
   unit_array u;
   unit_array_make(&u, &g, NULL, NULL);
   for (unsigned i = 0; i < 5000; i++) {
      const tlb_key page = unit_random(&seed) % 30;
      tlb_key *const set = way[page % 3];
      uint32_t *const n = &filled[page % 3];
      uint32_t w = 0;
      while (w < *n && set[w] != page)
         w++;
      tlb_key expected = TLB_NO_KEY;
      if (w == *n) {
         expected = 1 << 20;
         if (*n < 4) {
            w = (*n)++;
         } else {
            generator = generator * UINT64_C(6364136223846793005)
                        + UINT64_C(1442695040888963407);
            w = (uint32_t)(generator >> 33) % 4;
            expected = set[w];
         }
         set[w] = page;
      }
      assert_true(unit_reference(&u, page, 1 << 20) == expected);
   }
   unit_array_free(&u);
}

/* A tree of bits, kept the way hardware keeps it. */
typedef struct {
   uint32_t ways, filled;
   unsigned char bit[64]; /* node n has the children 2n and 2n + 1 */
   tlb_key key[64];
} tree;

static tlb_key tree_reference(tree *t, tlb_key key, tlb_key free_way)
{
   tlb_key evicted = TLB_NO_KEY;
   uint32_t way = 0;
   while (way < t->filled && t->key[way] != key)
      way++;
   if (way == t->filled && t->filled < t->ways) {
      t->filled++;
      evicted = free_way;
   } else if (way == t->filled) {
      uint32_t node = 1;
      while (node < t->ways)
         node = 2 * node + t->bit[node];
      way = node - t->ways;
      evicted = t->key[way];
   }
   t->key[way] = key;
   for (uint32_t node = t->ways + way; node > 1; node /= 2)
      t->bit[node / 2] = node % 2 == 0;
   return evicted;
}

TEST(plru_is_a_tree)
{
   for (uint32_t ways = 1; ways <= 64; ways *= 2) {
      for (uint32_t sets = 1; sets <= 3; sets++) {
         const tlb_geometry g = { .entries = ways * sets, .ways = ways,
                                  .page_sizes = 1 << 12,
                                  .policy = TLB_PLRU };
         tree t[3];
         uint64_t seed = ways * 10 + sets;
         unit_array u;
         memset(t, 0, sizeof t);
         for (uint32_t i = 0; i < sets; i++)
            t[i].ways = ways;
         unit_array_make(&u, &g, NULL, NULL);
         for (unsigned i = 0; i < 4000; i++) {
            const tlb_key page = unit_random(&seed) % (sets * (ways + 3));
            const tlb_key expected = tree_reference(&t[page % sets], page,
                                                    1 << 20);
            assert_true(unit_reference(&u, page, 1 << 20) == expected);
         }
         unit_array_free(&u);
      }
   }
}

/* LRU of every number of ways, round the numbers where the array goes over to
   an index and to a heap, against a list. */
TEST(lru_is_a_list)
{
   static const uint32_t numbers[] = { 1, 2,  3,  5,  7,  8,  9,  12, 15,
                                       16, 17, 18, 31, 33, 64, 72, 100 };
   for (size_t w = 0; w < sizeof numbers / sizeof numbers[0]; w++) {
      const uint32_t ways = numbers[w];
      const tlb_geometry g = { .entries = ways, .ways = ways,
                               .page_sizes = 1 << 12, .policy = TLB_LRU };
      tlb_key list[100];
      uint32_t n = 0;
      uint64_t seed = ways;
      unit_array u;
      unit_array_make(&u, &g, NULL, NULL);
      for (unsigned i = 0; i < 4000; i++) {
         const tlb_key page = unit_random(&seed) % (ways + 1 + ways / 4);
         tlb_key expected = TLB_NO_KEY;
         uint32_t at = 0;
         while (at < n && list[at] != page)
            at++;
         if (at == n) {
            expected = n == ways ? list[0] : 1 << 20;
            if (n < ways)
               n++;
            at = expected == 1 << 20 ? n - 1 : 0;
         }
         memmove(list + at, list + at + 1, (n - 1 - at) * sizeof *list);
         list[n - 1] = page;
         assert_true(unit_reference(&u, page, 1 << 20) == expected);
      }
      unit_array_free(&u);
   }
}

static const char *const policies[] = { "lru", "plru", "fifo", "nru",
                                        "random:3" };
enum { N_POLICIES = sizeof policies / sizeof policies[0] };

static unsigned loop_misses(const char *geometry, uint64_t first,
                            uint64_t pages, uint64_t stride, unsigned rounds)
{
   const tlb_geometry g = unit_geometry(geometry);
   unsigned misses = 0;
   unit_array u;
   unit_array_make(&u, &g, NULL, NULL);
   for (unsigned round = 0; round < rounds; round++) {
      for (uint64_t i = 0; i < pages; i++)
         misses += !unit_hits(&u, first + i * stride);
   }
   unit_array_free(&u);
   return misses;
}

TEST(fits)
{
   static const char *const shapes[] = { "64,4", "64,full", "64,1", "64,16",
                                         "48,16", "12,4", "1,1", "5120,1" };
   char geometry[64];
   for (int p = 0; p < N_POLICIES; p++) {
      for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
         const unsigned entries = (unsigned)atoi(shapes[s]);
         snprintf(geometry, sizeof geometry, "%s,4K,%s", shapes[s],
                  policies[p]);
         assert_int_equal(loop_misses(geometry, 0, entries, 1, 7), entries);
         assert_int_equal(loop_misses(geometry, 12345, entries, 1, 7),
                          entries);
      }
   }
   assert_int_equal(loop_misses("1536,12", 7, 1536, 1, 5), 1536);
   assert_int_equal(loop_misses("1280,5", 7, 1280, 1, 5), 1280);
   assert_int_equal(loop_misses("72,full", 7, 72, 1, 5), 72);
   assert_int_equal(loop_misses("72,6", 7, 72, 1, 5), 72);
}

TEST(does_not_fit)
{
   assert_int_equal(loop_misses("16,full,4K,lru", 0, 17, 1, 10), 170);
   assert_int_equal(loop_misses("64,full,4K,lru", 0, 65, 1, 10), 650);
   assert_int_equal(loop_misses("72,full,4K,lru", 0, 73, 1, 10), 730);
   assert_int_equal(loop_misses("64,full,4K,fifo", 0, 65, 1, 10), 650);
   assert_int_equal(loop_misses("1,1,4K,lru", 0, 2, 1, 10), 20);
   /* Of 16 sets only the one with a fifth page misses. */
   assert_int_equal(loop_misses("64,4,4K,lru", 0, 65, 1, 10), 60 + 50);
}

TEST(one_set)
{
   /* A stride of the number of sets puts all pages into one set. */
   assert_int_equal(loop_misses("64,4", 3, 4, 16, 10), 4);
   assert_int_equal(loop_misses("64,4", 3, 5, 16, 10), 50);
   assert_int_equal(loop_misses("1536,12", 3, 12, 128, 10), 12);
   assert_int_equal(loop_misses("1536,12", 3, 13, 128, 10), 130);
   assert_int_equal(loop_misses("64,1", 3, 2, 64, 10), 20);
}

TEST(odd_sets)
{
   assert_int_equal(loop_misses("12,4", 1, 4, 3, 10), 4);
   assert_int_equal(loop_misses("12,4", 1, 5, 3, 10), 50);
   /* 12 sets: a stride of 16 leaves the sets 0, 4, 8. */
   assert_int_equal(loop_misses("72,6", 0, 18, 16, 10), 18);
   assert_int_equal(loop_misses("72,6", 0, 21, 16, 10), 210);
   assert_int_equal(loop_misses("7,1", 0, 2, 7, 10), 20);
   assert_int_equal(loop_misses("7,1", 0, 7, 8, 10), 7);
   /* Pages at the top of the address space. */
   assert_int_equal(loop_misses("12,4", (UINT64_C(1) << 52) - 13, 4, 3, 10), 4);
   assert_int_equal(loop_misses("12,4", (UINT64_C(1) << 52) - 13, 5, 3, 10),
                    50);
}

TEST(contexts)
{
   static const char *const shapes[] = { "4,full", "24,2", "32,full" };
   for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
      const tlb_geometry g = unit_geometry(shapes[s]);
      const tlb_key a = tlb_key_of(5, 12, 1),
                    b = tlb_key_of(5, 12, 2),
                    c = tlb_key_of(5, 12, TLB_MAX_CONTEXT);
      unit_array u;
      unit_array_make(&u, &g, NULL, NULL);
      assert_true(a != b && b != c && a != 5);
      assert_true(unit_reference(&u, a, 1 << 20) == 1 << 20);
      assert_true(unit_reference(&u, b, 1 << 20) == 1 << 20);
      assert_true(unit_reference(&u, a, 1 << 20) == TLB_NO_KEY);
      assert_true(unit_reference(&u, b, 1 << 20) == TLB_NO_KEY);
      /* Contexts share the sets: two ways are full of page 5 now. */
      assert_true(unit_reference(&u, c, 1 << 20)
                  == (g.ways == 2 ? a : 1 << 20));
      unit_array_free(&u);
   }
}

TEST(page_zero)
{
   for (int p = 0; p < N_POLICIES; p++) {
      char geometry[64];
      snprintf(geometry, sizeof geometry, "16,4,4K,%s", policies[p]);
      assert_int_equal(loop_misses(geometry, 0, 1, 1, 3), 1);
      snprintf(geometry, sizeof geometry, "16,full,4K,%s", policies[p]);
      assert_int_equal(loop_misses(geometry, 0, 1, 1, 3), 1);
      assert_int_equal(loop_misses(geometry, (UINT64_C(1) << 52) - 1, 1, 1, 3),
                       1);
   }
}

TEST(bytes)
{
   /* As large as it gets: the memory is what tlb_array_bytes() says, which the
      sanitizer sees to. */
   assert_int_equal(loop_misses("1048576,full", 0, 3000, 12345, 2), 3000);
   assert_int_equal(loop_misses("1048576,1", 0, 3000, 1, 2), 3000);
}

TEST(who_needs_time)
{
   static const struct {
      const char *geometry;
      int needs;
   } known[] = {
      { "64,4,4K,lru", 1 },  { "64,4,4K,plru", 1 }, { "64,4,4K,fifo", 0 },
      { "64,4,4K,nru", 1 },  { "64,4,4K,random", 0 }, { "64,1,4K,lru", 0 },
      { "64,full,4K,lru", 1 }, { "64,1,4K,nru", 0 }, { "1,1,4K,plru", 0 },
   };
   for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
      const tlb_geometry g = unit_geometry(known[i].geometry);
      unit_array u;
      unit_array_make(&u, &g, NULL, NULL);
      assert_int_equal(tlb_array_needs_time(&u.a) != 0, known[i].needs);
      unit_array_free(&u);
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("an LRU set gives up the entry that was referenced longest ago",
            lru),
      CLAIM("a PLRU set gives up the way that its tree of bits points to",
            plru),
      CLAIM("a FIFO set gives up the entry that was filled first, hit or not",
            fifo),
      CLAIM("an NRU set gives up its lowest unused entry, and clears the "
            "others when all are used", nru),
      CLAIM("the generator is the documented one", drawn),
      CLAIM("a random array draws once for each miss in a full set",
            random_ways),
      CLAIM("PLRU by times is PLRU by bits, for 1 to 64 ways", plru_is_a_tree),
      CLAIM("LRU by scan, index and heap is LRU by list, for 1 to 100 ways",
            lru_is_a_list),
      CLAIM("a loop over as many pages as entries misses once for each page, "
            "under every policy", fits),
      CLAIM("a loop over one page more than LRU and FIFO hold always misses",
            does_not_fit),
      CLAIM("pages that are a multiple of the sets apart meet in one set",
            one_set),
      CLAIM("sets that are no power of two are chosen by the remainder",
            odd_sets),
      CLAIM("one page in two contexts is two entries in one set", contexts),
      CLAIM("the first and the last page are pages like others", page_zero),
      CLAIM("an array of a million entries fits in the memory it asks for",
            bytes),
      CLAIM("times matter for LRU, PLRU and NRU of two ways or more",
            who_needs_time),
   };
   return cmocka_run_group_tests_name("array", tests, NULL, NULL);
}
