/* Stack distances: counts that follow from the pattern, and a searched list.
   tests/model/test_reach.py has the random streams.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/tlb/reach.h"

/* --- Memory that counts, and runs out --- */

typedef struct {
   size_t taken;     /* pieces that were not given back */
   size_t left;      /* pieces that there still are */
} store;

static void *store_take(size_t bytes, void *opaque)
{
   store *const s = opaque;
   if (s->left == 0)
      return NULL;
   s->left--;
   s->taken++;
   void *const memory = malloc(bytes);
   assert_non_null(memory);
   memset(memory, 0xA5, bytes);
   return memory;
}

static void store_give(void *memory, void *opaque)
{
   ((store *)opaque)->taken--;
   free(memory);
}

static store all_memory;

static tlb_reach *make(tlb_reach_release *release, void *opaque)
{
   tlb_reach *const r = malloc(sizeof *r);
   assert_non_null(r);
   memset(r, 0xA5, sizeof *r);
   all_memory = (store){ 0, SIZE_MAX };
   tlb_reach_init(r, (tlb_memory){ store_take, store_give, &all_memory },
                  release, opaque);
   return r;
}

static void unmake(tlb_reach *r)
{
   tlb_reach_destroy(r);
   assert_int_equal(all_memory.taken, 0);
   free(r);
}

static uint64_t misses_of(const tlb_reach *r, tlb_reach_size size,
                          uint32_t entries)
{
   static uint64_t misses[TLB_REACH_SIZES];
   tlb_reach_misses(r, size, misses);
   return misses[entries - TLB_REACH_SMALLEST];
}

/* --- Known patterns --- */

/* n pages, `stride` 4K pages apart, one after the other, again and again. */
TEST(loops)
{
   static const uint32_t numbers[] = { 1, 7, 8, 9, 10, 63, 64, 65, 66, 511, 512,
                                       513, 4096, 8190, 8191, 8192, 8193 };
   static const uint32_t strides[] = { 1, 16, 512, 1000003 };
   enum { ROUNDS = 6 };
   for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
      for (size_t j = 0; j < sizeof strides / sizeof strides[0]; j++) {
         const uint32_t n = numbers[i];
         tlb_reach *const r = make(NULL, NULL);
         uint64_t now = 0;
         for (int round = 0; round < ROUNDS; round++) {
            for (uint64_t page = 0; page < n; page++)
               tlb_reach_reference(r, page * strides[j], ++now, NULL);
         }
         for (int size = 0; size < TLB_REACH_CURVES; size++) {
            const unsigned shift = tlb_reach_shift((tlb_reach_size)size) - 12;
            const uint64_t last = (uint64_t)(n - 1) * strides[j] >> shift;
            const uint64_t pages = strides[j] >> shift == 0 ? last + 1 : n;
            assert_int_equal(tlb_reach_cold(r, (tlb_reach_size)size), pages);
            for (uint32_t e = TLB_REACH_SMALLEST; e <= TLB_REACH_LARGEST;
                 e += e < 600 ? 1 : 379) {
               const uint64_t m = misses_of(r, (tlb_reach_size)size, e);
               assert_int_equal(m, pages > e ? pages * ROUNDS : pages);
            }
         }
         unmake(r);
      }
   }
}

/* Calls there and back through P pages (the libraries of E2): 2(P - E) misses a
   round. */
TEST(there_and_back)
{
   enum { P = 27, ROUNDS = 50 };
   tlb_reach *const r = make(NULL, NULL);
   uint64_t now = 0, before[TLB_REACH_SIZES], after[TLB_REACH_SIZES];
   for (int round = 0; round < ROUNDS; round++) {
      if (round == 1)
         tlb_reach_misses(r, TLB_REACH_4K, before);
      for (uint64_t page = 0; page < P; page++)
         tlb_reach_reference(r, page, ++now, NULL);
      for (uint64_t page = P - 1; page-- > 0;)
         tlb_reach_reference(r, page, ++now, NULL);
   }
   tlb_reach_misses(r, TLB_REACH_4K, after);
   for (uint32_t e = TLB_REACH_SMALLEST; e <= 64; e++) {
      const uint32_t i = e - TLB_REACH_SMALLEST;
      assert_int_equal(after[i] - before[i],
                       e < P ? 2 * (P - e) * (ROUNDS - 1) : 0);
   }
   unmake(r);
}

/* Random over W pages (E5): an array of E entries misses 1 - E/W of the
   references in the long run. */
TEST(follow)
{
   static const uint32_t pages[] = { 64, 128, 256, 512 };
   enum { REFERENCES = 1 << 20 };
   for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
      const uint32_t w = pages[i];
      tlb_reach *const r = make(NULL, NULL);
      uint64_t now = 0, seed = w;
      for (uint32_t n = 0; n < REFERENCES; n++)
         tlb_reach_reference(r, unit_random(&seed) % w, ++now, NULL);
      assert_int_equal(tlb_reach_cold(r, TLB_REACH_4K), w);
      const double share = (double)misses_of(r, TLB_REACH_4K, 64) / REFERENCES;
      const double expected = 1 - 64.0 / w;
      assert_true(share > expected - 0.002 && share < expected + 0.002);
      assert_int_equal(misses_of(r, TLB_REACH_64K, 64), w / 16);
      assert_int_equal(misses_of(r, TLB_REACH_2M, 64), 1);
      unmake(r);
   }
}

/* A cycle through all pages in random order, the way a list is followed: LRU
   gets no hit of it before all of it fits. */
TEST(cycle)
{
   enum { W = 3000, ROUNDS = 4 };
   static uint32_t order[W];
   tlb_reach *const r = make(NULL, NULL);
   uint64_t now = 0, seed = 3;
   for (uint32_t i = 0; i < W; i++) {
      const uint32_t j = (uint32_t)(unit_random(&seed) % (i + 1));
      order[i] = order[j];
      order[j] = i;
   }
   for (int round = 0; round < ROUNDS; round++) {
      for (uint32_t i = 0; i < W; i++)
         tlb_reach_reference(r, order[i], ++now, NULL);
   }
   assert_int_equal(misses_of(r, TLB_REACH_4K, 8), W * ROUNDS);
   assert_int_equal(misses_of(r, TLB_REACH_4K, W - 1), W * ROUNDS);
   assert_int_equal(misses_of(r, TLB_REACH_4K, W), W);
   assert_int_equal(misses_of(r, TLB_REACH_2M, 8), (W + 511) / 512);
   unmake(r);
}

/* --- Against a list --- */

enum { MAX_PAGES = 10000 };

typedef struct {
   uint64_t page[MAX_PAGES]; /* see unit_to_front() */
   uint32_t n;
   uint64_t at[MAX_PAGES];
   uint64_t cold;
} list;

static void list_reference(list *l, uint64_t page)
{
   const uint32_t n = l->n;
   const uint32_t before = unit_to_front(l->page, &l->n, MAX_PAGES, page);
   if (l->n > n)
      l->cold++;
   else
      l->at[before]++;
}

static uint64_t list_misses(const list *l, uint32_t entries)
{
   uint64_t n = l->cold;
   for (uint32_t i = entries; i < l->n; i++)
      n += l->at[i];
   return n;
}

/* What the caller knows of a page: two times, MAX_PAGES apart, of which the later
   counts; both are 0 if it is not known. */
static uint64_t times[2 * MAX_PAGES];
static uint32_t n_times;

static int is_known(const uint64_t *time)
{
   return (time[0] | time[MAX_PAGES]) != 0;
}

static void forget(uint64_t *time, void *opaque)
{
   assert_ptr_equal(opaque, times);
   assert_true(time >= times && time < times + MAX_PAGES && is_known(time));
   time[0] = time[MAX_PAGES] = 0;
   n_times--;
}

typedef struct {
   tlb_reach *r;
   list *l[TLB_REACH_CURVES];
   uint64_t now;
   unsigned ask_percent; /* how many references to known pages are told */
   uint64_t seed;
} both;

static both both_make(unsigned ask_percent)
{
   both b = { .ask_percent = ask_percent, .seed = ask_percent + 1 };
   b.r = make(forget, times);
   b.r->second_time = MAX_PAGES;
   for (int size = 0; size < TLB_REACH_CURVES; size++) {
      b.l[size] = calloc(1, sizeof *b.l[size]);
      assert_non_null(b.l[size]);
   }
   memset(times, 0, sizeof times);
   n_times = 0;
   return b;
}

/* `page` below MAX_PAGES; it stands for an address elsewhere. */
static void both_reference(both *b, uint32_t page, uint64_t base)
{
   b->now++;
   for (int size = 0; size < TLB_REACH_CURVES; size++)
      list_reference(b->l[size],
                     (base + page)
                        >> (tlb_reach_shift((tlb_reach_size)size) - 12));
   if (is_known(&times[page]) && unit_random(&b->seed) % 100 >= b->ask_percent) {
      times[page + b->now % 2 * MAX_PAGES] = b->now;
      return;
   }
   if (b->ask_percent == 100) {
      tlb_reach_reference(b->r, base + page, b->now, NULL);
      return;
   }
   n_times += !is_known(&times[page]);
   tlb_reach_reference(b->r, base + page, b->now, &times[page]);
   /* Only the caller knows which of the two it is. */
   assert_true(times[page] < b->now && times[page + MAX_PAGES] < b->now);
   times[page + b->now % 2 * MAX_PAGES] = b->now;
   assert_true(n_times <= TLB_REACH_SMALLEST);
}

static void both_check_and_free(both *b)
{
   static uint64_t misses[TLB_REACH_SIZES];
   for (int size = 0; size < TLB_REACH_CURVES; size++) {
      tlb_reach_misses(b->r, (tlb_reach_size)size, misses);
      assert_int_equal(tlb_reach_cold(b->r, (tlb_reach_size)size),
                       b->l[size]->cold);
      uint64_t expected = list_misses(b->l[size], TLB_REACH_LARGEST);
      for (uint32_t e = TLB_REACH_LARGEST; e >= TLB_REACH_SMALLEST; e--) {
         assert_int_equal(misses[e - TLB_REACH_SMALLEST], expected);
         expected += b->l[size]->at[e - 1];
      }
      free(b->l[size]);
   }
   unmake(b->r);
}

/* Pages of any distance: near ones often, far ones sometimes, so that places
   are used up and some are lost. */
static uint32_t some_page(uint64_t *seed)
{
   const uint64_t draw = unit_random(seed);
   return (uint32_t)((draw >> 8) % MAX_PAGES >> draw % 15);
}

TEST(lists)
{
   static const unsigned percents[] = { 0, 30, 100 };
   for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
      both b = both_make(percents[i]);
      uint64_t seed = 7;
      for (int n = 0; n < 40000; n++)
         both_reference(&b, some_page(&seed), UINT64_C(0x7ffff000));
      /* One after the other: all are further away than the largest array. */
      for (uint32_t page = 0; page < MAX_PAGES; page++)
         both_reference(&b, page, UINT64_C(0x7ffff000));
      for (int n = 0; n < 15000; n++)
         both_reference(&b, some_page(&seed), UINT64_C(0x7ffff000));
      both_check_and_free(&b);
   }
}

/* The numbers of places come to their end in the middle of the run. */
TEST(end_of_numbers)
{
   for (uint32_t before = 1; before <= 3; before++) {
      both b = both_make(30);
      uint64_t seed = before;
      for (int size = 0; size < TLB_REACH_CURVES; size++)
         b.r->stack[size].base = UINT32_MAX - before * TLB_REACH_BITS;
      for (int n = 0; n < 70000; n++)
         both_reference(&b, some_page(&seed), 0);
      for (uint32_t page = 0; page < MAX_PAGES; page++)
         both_reference(&b, page, 0);
      /* Before the first page that lost its place is asked for again. */
      for (int n = 0; n < 15000; n++)
         both_reference(&b, some_page(&seed) % 5000, 0);
      assert_true(b.r->stack[0].base < UINT32_MAX / 2);
      both_check_and_free(&b);
   }
}

/* --- The known pages --- */

TEST(known_pages)
{
   uint64_t now = 0;
   both b = both_make(0);
   for (uint32_t page = 0; page < 8; page++)
      both_reference(&b, page, 0);
   assert_int_equal(n_times, 8);
   /* 0 is young again, and only its time tells. */
   both_reference(&b, 0, 0);
   both_reference(&b, 8, 0);
   assert_int_equal(n_times, 8);
   assert_true(is_known(&times[0]) && !is_known(&times[1])
               && is_known(&times[8]));
   /* The caller gives up its time of 2: it is known all the same. */
   times[2] = ++b.now;
   tlb_reach_detach(b.r, &times[2]);
   tlb_reach_detach(b.r, &now);
   times[2] = times[2 + MAX_PAGES] = 0;
   n_times--;
   list_reference(b.l[0], 2);
   list_reference(b.l[1], 0);
   list_reference(b.l[2], 0);
   for (uint32_t page = 9; page < 16; page++)
      both_reference(&b, page, 0);
   /* All but 2 are gone, and were said to be. */
   assert_int_equal(n_times, 7);
   for (uint32_t page = 0; page < 9; page++)
      assert_false(is_known(&times[page]));
   both_reference(&b, 2, 0);
   assert_int_equal(n_times, 8);
   assert_int_equal(tlb_reach_cold(b.r, TLB_REACH_4K), 16);
   both_check_and_free(&b);
}

TEST(zero)
{
   tlb_reach *const r = make(NULL, NULL);
   uint64_t now = 0;
   for (int half = 0; half < 2; half++) {
      for (int round = 0; round < 3; round++) {
         for (uint64_t page = 0; page < 100; page++)
            tlb_reach_reference(r, page, ++now, NULL);
      }
      assert_int_equal(tlb_reach_cold(r, TLB_REACH_4K), half == 0 ? 100 : 0);
      assert_int_equal(misses_of(r, TLB_REACH_4K, 99), 300);
      assert_int_equal(misses_of(r, TLB_REACH_4K, 100), half == 0 ? 100 : 0);
      tlb_reach_zero(r);
   }
   unmake(r);
}

/* Contexts stand above the page number; so do the last pages of all. */
TEST(high_pages)
{
   tlb_reach *const r = make(NULL, NULL);
   uint64_t now = 0;
   for (int round = 0; round < 2; round++) {
      for (uint64_t context = 0; context < 10; context++) {
         tlb_reach_reference(r, 5 | context << 52, ++now, NULL);
         tlb_reach_reference(r, UINT64_MAX - context, ++now, NULL);
      }
   }
   assert_int_equal(misses_of(r, TLB_REACH_4K, 19), 40);
   assert_int_equal(misses_of(r, TLB_REACH_4K, 20), 20);
   assert_int_equal(misses_of(r, TLB_REACH_2M, 8), 11 + 10);
   assert_int_equal(misses_of(r, TLB_REACH_2M, 11), 11);
   unmake(r);
}

TEST(no_memory)
{
   for (size_t pieces = 0; pieces < 80; pieces++) {
      tlb_reach *const r = make(NULL, NULL);
      uint64_t now = 0;
      all_memory.left = pieces;
      /* Each in a region of its own: the table grows at the 1st and 65th. */
      for (uint64_t page = 0; page < 70; page++)
         tlb_reach_reference(r, page * 512, ++now, NULL);
      assert_int_equal(tlb_reach_failed(r) != 0, pieces < 74);
      unmake(r);
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("a loop misses all of its pages in all smaller arrays, and none in the others", loops),
      CLAIM("calls there and back through P pages miss 2(P - E) of them",
            there_and_back),
      CLAIM("random references miss 1 - E/W of W pages", follow),
      CLAIM("a list in random order hits only in arrays that hold all of it", cycle),
      CLAIM("all sizes from 8 to 8192 miss what a searched list misses, for three page sizes",
            lists),
      CLAIM("the misses stay exact when the numbers of the places begin again", end_of_numbers),
      CLAIM("the eight pages referenced last are known by the times that the caller keeps",
            known_pages),
      CLAIM("counts begin again at zero while the order of the pages stays", zero),
      CLAIM("pages of other contexts and at the end of the address space are pages like others",
            high_pages),
      CLAIM("without memory a failure is reported, and all memory is given back", no_memory),
   };
   return cmocka_run_group_tests_name("reach", tests, NULL, NULL);
}
