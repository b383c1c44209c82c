/* Uses that are recorded late: naive arrays that see what is recorded miss
   as those do that see all.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/record/late_uses.h"

enum { PAGES = 400, OTHERS = 100, MOST_ARRAYS = 8, MOST_SETS = 64, MOST_WAYS = 80,
       DATA = TLB_LOADS | TLB_STORES };

/* --- Naive arrays --- */

typedef struct {
   unsigned sets, ways;
   bool is_tree;
   bool may_lack; /* a use of a page that it has not is none */
   struct {
      unsigned n;
      unsigned page[MOST_WAYS];  /* LRU: the last one is the last used; a tree: by way */
      bool to_upper[MOST_WAYS]; /* of a tree's nodes, from 1: where its victim is */
   } set[MOST_SETS];
} naive;

/* All nodes above the way point away from it. */
static void point_away(bool *to_upper, unsigned way, unsigned ways)
{
   for (unsigned at = way + ways; at > 1; at /= 2)
      to_upper[at / 2] = at % 2 == 0;
}

static unsigned tree_victim(const bool *to_upper, unsigned ways)
{
   unsigned at = 1;
   while (at < ways)
      at = 2 * at + to_upper[at];
   return at - ways;
}

/* Whether it hits. */
static bool refer(naive *a, unsigned page)
{
   unsigned *const of = a->set[page % a->sets].page, *const n = &a->set[page % a->sets].n, i = 0;
   bool *const to_upper = a->set[page % a->sets].to_upper;
   while (i < *n && of[i] != page)
      i++;
   const bool hits = i < *n;
   if (a->is_tree) {
      i = hits ? i : *n < a->ways ? (*n)++ : tree_victim(to_upper, a->ways);
      of[i] = page;
      point_away(to_upper, i, a->ways);
      return hits;
   }
   if (!hits && *n == a->ways)
      i = 0;
   else if (!hits)
      (*n)++;
   memmove(of + i, of + i + 1, (*n - 1 - i) * sizeof *of);
   of[*n - 1] = page;
   return hits;
}

static bool has(const naive *a, unsigned page)
{
   const unsigned *const of = a->set[page % a->sets].page;
   unsigned i = 0;
   while (i < a->set[page % a->sets].n && of[i] != page)
      i++;
   return i < a->set[page % a->sets].n;
}

/* --- A run --- */

typedef struct {
   const char *filter[TLB_LATE_FILTERS];
   struct {
      unsigned sets, ways;
      bool is_tree;
      bool may_lack; /* only filters of few ways cover it */
   } array[MOST_ARRAYS];
   bool saves; /* most uses need not be recorded, which else were before each reference */
   bool lacks; /* some array has given up a page before its use is told */
} run;

static uint64_t time_of[PAGES];
static bool is_observed[PAGES];
static naive live[MOST_ARRAYS], replayed[MOST_ARRAYS];
static unsigned n_arrays, n_lacked;

static void *take(size_t bytes, void *opaque)
{
   (void)opaque;
   return test_malloc(bytes);
}

static void leaves(void *opaque, void *page, uint64_t number, bool all)
{
   (void)opaque;
   (void)all;
   assert_ptr_equal(page, &time_of[number]);
   is_observed[number] = true;
}

static tlb_strength strength_of(const char *const *filter)
{
   tlb_strength s = { .base_page_shift = 12 };
   for (; s.n < TLB_LATE_FILTERS && filter[s.n] != NULL; s.n++)
      assert_true(tlb_filter_parse(filter[s.n], strlen(filter[s.n]), &s.filter[s.n]));
   return s;
}

static void replay_uses(const tlb_late *l, unsigned n)
{
   assert_true(n <= sizeof l->uses / sizeof l->uses[0]);
   for (unsigned i = 0; i < n; i++) {
      for (unsigned j = 0; j < n_arrays; j++) {
         const unsigned page = (unsigned)l->uses[i];
         if (has(&replayed[j], page))
            refer(&replayed[j], page);
         else if (replayed[j].may_lack)
            n_lacked++;
         else
            fail_msg("page %u is said to be in %u sets of %u ways", page, replayed[j].sets,
                     replayed[j].ways);
      }
   }
}

/* A few pages that are used all the time and change slowly, others in turn, and any. */
static unsigned next_page(uint64_t *seed, unsigned step)
{
   const unsigned r = (unsigned)(unit_random(seed) >> 32);
   const unsigned which = r % 16, more = r / 16;
   if (which < 14)
      return (step / 997 * 3 + more % 10 * 7) % PAGES;
   if (which < 15)
      return (step / 11 + more % 40) % PAGES;
   return more % PAGES;
}

static void refer_recorded(tlb_late *l, unsigned page, uint64_t now, bool all, unsigned *n_uses)
{
   const unsigned n = tlb_late_before(l, page, all);
   *n_uses += n;
   replay_uses(l, n);
   for (unsigned i = 0; i < n_arrays; i++)
      assert_int_equal(refer(&live[i], page), refer(&replayed[i], page));
   tlb_late_refer(l, &time_of[page], page, &time_of[page], leaves, NULL);
   is_observed[page] = false;
   time_of[page] = now;
}

/* Where mappings change, or others use the core: of these so many pages. */
static void interrupt(tlb_late *l, unsigned n_others, unsigned *n_uses)
{
   const unsigned n = tlb_late_all(l);
   *n_uses += n;
   replay_uses(l, n);
   for (unsigned i = 0; i < PAGES; i++)
      is_observed[i] = true;
   for (unsigned i = 1; i <= tlb_late_pages(l); i++) {
      if (l->page[i].n_filters > 0)
         tlb_late_doubt(l, i);
   }
   for (unsigned i = 0; i < n_others; i++) {
      for (unsigned j = 0; j < n_arrays; j++)
         assert_int_equal(refer(&live[j], PAGES + i), refer(&replayed[j], PAGES + i));
   }
}

/* A machine whose first level for data is that array. */
static tlb_machine machine_of(const naive *a)
{
   tlb_machine m = { .name = "array", .base_page_shift = 12, .n_arrays = 1 };
   m.array[0] = (tlb_machine_array){ .level = 1, .users = DATA };
   m.array[0].g = (tlb_geometry){ .entries = a->sets * a->ways, .ways = a->ways,
                                  .page_sizes = 1 << 12,
                                  .policy = a->is_tree ? TLB_PLRU : TLB_LRU };
   return m;
}

static void begin(const run *r, const tlb_strength *s)
{
   n_lacked = 0;
   for (unsigned i = 0; i < PAGES; i++) {
      is_observed[i] = true;
      time_of[i] = 0;
   }
   for (n_arrays = 0; n_arrays < MOST_ARRAYS && r->array[n_arrays].sets > 0; n_arrays++) {
      live[n_arrays] = (naive){ .sets = r->array[n_arrays].sets, .ways = r->array[n_arrays].ways,
                                .is_tree = r->array[n_arrays].is_tree };
      const tlb_machine m = machine_of(&live[n_arrays]);
      live[n_arrays].may_lack = tlb_late_may_lack(s, &m, DATA);
      assert_int_equal(live[n_arrays].may_lack, r->array[n_arrays].may_lack);
      replayed[n_arrays] = live[n_arrays];
   }
}

static void go(const run *r, uint64_t seed)
{
   const tlb_memory memory = { .take = take };
   const tlb_strength s = strength_of(r->filter);
   static tlb_late l;
   unsigned n_uses = 0, n_early = 0, n_references = 0, n_left_out = 0;
   uint64_t recorded = 0;
   const unsigned tick = seed % 2 == 0 ? 1 : 1 << 24; /* instructions between two references */
   begin(r, &s);
   assert_true(tlb_late_can(&s, DATA));
   tlb_late_init(&l, &s, DATA, &memory);
   for (unsigned step = 1; step < 60000; step++) {
      const unsigned page = next_page(&seed, step);
      const uint64_t now = (uint64_t)step * tick;
      if (is_observed[page]) {
         refer_recorded(&l, page, now, unit_random(&seed) % 64 == 0, &n_uses);
         n_references++;
         recorded = now;
      } else {
         for (unsigned i = 0; i < n_arrays; i++)
            assert_true(refer(&live[i], page));
         n_early += time_of[page] <= recorded;
         time_of[page] = now;
         n_left_out++;
      }
      if (unit_random(&seed) % 2048 == 0)
         interrupt(&l, 0, &n_uses);
      else if (unit_random(&seed) % 512 == 0)
         interrupt(&l, (unsigned)(unit_random(&seed) % OTHERS), &n_uses);
   }
   assert_true(n_references > 1000);
   assert_true(n_left_out > 1000);
   assert_true(!r->saves || n_uses < n_early * 2 / 3);
   assert_true(!r->lacks || n_lacked > 0);
   for (unsigned i = 0; i < l.n; i++)
      test_free(l.filter[i].at);
   test_free(l.page);
}

/* What skylake, zen4 and neoverse-n1 need for data, and arrays that this covers. */
static const run usual = {
   { "RW 16 3", "RW 1 48" },
   { { 1, 48, false, false }, { 1, 72, false, false }, { 16, 4, true, true },
     { 16, 3, false, true }, { 32, 8, true, true }, { 16, 6, false, true },
     { 2, 48, false, false }, { 64, 3, false, true } },
   true, true
};

TEST(alike)
{
   for (uint64_t seed = 1; seed <= 4; seed++)
      go(&usual, seed);
}

TEST(one_filter)
{
   static const run r = { { "RW 1 16" },
                          { { 1, 16, false, false }, { 1, 20, false, false },
                            { 4, 16, false, false } },
                          true, false };
   go(&r, 5);
}

TEST(several_filters)
{
   static const run r = { { "RW 16 3", "RW 4 6", "RW 1 9" },
                          { { 16, 4, true, true }, { 4, 6, false, true }, { 4, 32, true, true },
                            { 1, 24, false, false }, { 1, 9, false, false },
                            { 8, 9, false, false } },
                          false, false };
   static const run trees = { { "RW 16 3", "RW 12 3", "RW 1 40" },
                              { { 16, 4, true, true }, { 12, 4, true, true },
                                { 1, 40, false, false } },
                              false, false };
   for (uint64_t seed = 6; seed <= 7; seed++) {
      go(&r, seed);
      go(&trees, seed);
   }
}

/* --- Where they can be --- */

TEST(which)
{
   static const struct {
      const char *filter[TLB_LATE_FILTERS];
      bool can;
   } of[] = {
      { { "RW 1 9" }, true },
      { { "RW 1 48", "RW 16 3", "RW 8 4 21", "I 1 1" }, true },
      { { "RW 1 8" }, false },            /* nothing to be gained */
      { { "RW 16 4", "RW 8 6" }, false },
      { { "RW 2 48" }, false },           /* more than one order */
      { { "RW 1 48", "RW 16 1" }, false }, /* an array that is no LRU and no tree */
      { { "RW 1 48", "RW 8 1 21" }, false },
      { { "RW 1 48", "R 16 4" }, false },  /* loads and stores apart */
      { { "RW 1 48", "IRW 16 4" }, false },
      { { "RW 1 48", "I/R 16 4" }, false },
      { { "RW/I 1 48" }, false },
   };
   for (unsigned i = 0; i < N(of); i++) {
      const tlb_strength s = strength_of(of[i].filter);
      assert_int_equal(tlb_late_can(&s, DATA), of[i].can);
   }
}

TEST(lets_go)
{
   static const struct {
      const char *filter[TLB_LATE_FILTERS];
      bool lets;
   } of[] = {
      { { "RW 16 3", "RW 1 48" }, true },
      { { "RW 16 3", "I 16 4", "I 1 48" }, true },
      { { "RW 1 48", "I 1 48" }, false },
      { { "RW 1 48", "I 16 4" }, false },
      { { "RW 1 48", "RW 8 4 21" }, false },
      { { "RW 1 48", "RW 16 3", "R 1 4" }, false }, /* loads and stores apart: none is late */
   };
   for (unsigned i = 0; i < N(of); i++) {
      const tlb_strength s = strength_of(of[i].filter);
      assert_int_equal(tlb_late_lets_go(&s), of[i].lets);
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("arrays of LRU and trees miss as if they saw all references", alike),
      CLAIM("so they do with one filter of many ways", one_filter),
      CLAIM("so they do with several filters of few ways, and of many", several_filters),
      CLAIM("only a recording with filters of few ways beside one of many has such uses", lets_go),
      CLAIM("no uses are late for arrays of other policies, or of some users", which),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
