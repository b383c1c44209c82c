/* Short cuts: references that the caller answers change no later miss or eviction.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"
#include "sim/tlb/array.h"

/* One array that is always asked, and one behind short cuts: a caller that
   knows some of the entries, answers hits on them by itself and forgets them
   when it is told to, or when it pleases. */

enum { PAGES = 200 };

typedef struct {
   unit_array plain, asked;
   uint64_t time[PAGES];   /* handed to the array */
   int attached[PAGES];
   int released[PAGES];    /* since the last reference */
   uint32_t entry[PAGES];
   unsigned answered;
} pair;

static void on_release(uint64_t *time, tlb_key key, void *opaque)
{
   pair *const p = opaque;
   const ptrdiff_t page = time - p->time;
   assert_in_range(page, 0, PAGES - 1);
   assert_true(p->attached[page]);
   assert_true(key == (tlb_key)page);
   p->attached[page] = 0;
   p->released[page]++;
   /* The caller's memory is its own again. */
   *time = UINT64_C(0xDEAD);
}

static void make(pair *p, const tlb_geometry *g)
{
   memset(p, 0, sizeof *p);
   unit_array_make(&p->plain, g, NULL, NULL);
   unit_array_make(&p->asked, g, on_release, p);
}

static void drop(pair *p)
{
   unit_array_free(&p->plain);
   unit_array_free(&p->asked);
}

/* One reference to both. The caller takes the short cut whenever it has one;
   `attach` and `detach` are what it does afterwards. */
static void both(pair *p, tlb_key page, int attach, int detach)
{
   const tlb_key free_way = 1 << 20;
   const tlb_key expected = unit_reference(&p->plain, page, free_way);
   if (p->attached[page]) {
      /* Nothing but the time may be needed, and that only where told. */
      assert_true(expected == TLB_NO_KEY);
      p->asked.now++;
      if (tlb_array_needs_time(&p->asked.a))
         p->time[page] = p->asked.now;
      p->answered++;
      if (detach) {
         tlb_array_detach(&p->asked.a, p->entry[page]);
         p->attached[page] = 0;
      }
      return;
   }

   int was_attached[PAGES];
   memcpy(was_attached, p->attached, sizeof was_attached);
   memset(p->released, 0, sizeof p->released);
   assert_true(unit_reference(&p->asked, page, free_way) == expected);
   for (uint32_t i = 0; i < PAGES; i++) {
      /* Released: exactly what is gone, and once. */
      const int gone = was_attached[i] && p->asked.a.key[p->entry[i]] != i;
      assert_int_equal(p->released[i], gone);
   }
   if (attach) {
      uint32_t e = 0;
      while (p->asked.a.key[e] != page)
         e++;
      p->entry[page] = e;
      p->attached[page] = 1;
      tlb_array_attach(&p->asked.a, e, &p->time[page]);
      assert_true(p->time[page] == p->asked.now);
   }
}

static const char *const shapes[] = {
   "1,1,4K,%s",  "8,1,4K,%s",  "16,4,4K,%s", "12,4,4K,%s",  "64,8,4K,%s",
   "16,full,4K,%s", "32,full,4K,%s", "64,16,4K,%s", "128,64,4K,%s",
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

static void same_as_plain(void **state)
{
   const char *const policy = *state;
   static pair p;
   for (int s = 0; s < N_SHAPES; s++) {
      /* How many in 16 of the references asked for are attached, and how many
         in 16 of the answered ones are detached. */
      for (unsigned mix = 0; mix < 4; mix++) {
         static const unsigned attach[] = { 16, 16, 8, 2 };
         static const unsigned detach[] = { 0, 1, 4, 8 };
         char text[64];
         snprintf(text, sizeof text, shapes[s], policy);
         const tlb_geometry g = unit_geometry(text);
         const unsigned pages = g.entries + 1 + g.entries / 3;
         uint64_t seed = (uint64_t)s * 16 + mix + 1;
         assert_true(pages <= PAGES);
         make(&p, &g);
         for (unsigned i = 0; i < 4000; i++) {
            const uint64_t r = unit_random(&seed);
            /* Half of the references go to a few pages, which stay. */
            const tlb_key page = (r >> 40) % (r & 1 ? pages : pages / 3 + 1);
            both(&p, page, (r >> 8) % 16 < attach[mix],
                 (r >> 16) % 16 < detach[mix]);
         }
         if (g.entries > 1)
            assert_true(p.answered > 100);
         drop(&p);
      }
   }
}

TEST(evicted)
{
   static pair p;
   const tlb_geometry g = unit_geometry("2,full,4K,lru");
   make(&p, &g);
   both(&p, 0, 1, 0);
   both(&p, 1, 1, 0);
   both(&p, 0, 1, 0); /* the short cut: only the caller knows of it */
   assert_int_equal(p.answered, 1);
   both(&p, 2, 0, 0);
   assert_int_equal(p.released[0], 0);
   assert_int_equal(p.released[1], 1);
   assert_true(unit_holds(&p.asked, 0));
   drop(&p);
}

TEST(detached)
{
   static pair p;
   const tlb_geometry g = unit_geometry("2,full,4K,lru");
   make(&p, &g);
   both(&p, 0, 1, 0);
   both(&p, 1, 0, 0);
   both(&p, 0, 1, 1); /* answered, then given back with its time */
   p.time[0] = 0;     /* which is in the array now */
   both(&p, 2, 0, 0);
   assert_true(unit_holds(&p.asked, 0));
   assert_false(unit_holds(&p.asked, 1));
   assert_int_equal(p.released[0], 0);
   drop(&p);
}

static void never(uint64_t *time, tlb_key key, void *opaque)
{
   (void)time;
   (void)key;
   (void)opaque;
   fail();
}

TEST(asked_anyway)
{
   /* A caller need not use what it has: a reference through the array moves
      the time where it is kept. */
   const tlb_geometry g = unit_geometry("2,full,4K,lru");
   uint64_t time;
   unit_array u;
   unit_array_make(&u, &g, never, NULL);
   assert_false(unit_hits(&u, 0));
   tlb_array_attach(&u.a, 0, &time);
   assert_true(time == 1);
   assert_false(unit_hits(&u, 1));
   assert_true(unit_hits(&u, 0));
   assert_true(time == 3);
   assert_false(unit_hits(&u, 2));
   assert_true(unit_holds(&u, 0));
   tlb_array_detach(&u.a, 0);
   time = 0;
   assert_true(tlb_array_time(&u.a, 0) == 3);
   unit_array_free(&u);
}

/* The entry a key would go to can be asked in vain, whatever is attached:
   nothing is chosen otherwise afterwards. */
TEST(asked_in_vain)
{
   static const char *const policies[] = { "lru", "plru", "fifo", "random:5" };
   static pair p;
   for (int s = 0; s < 4 * N_SHAPES; s++) {
      char text[64];
      snprintf(text, sizeof text, shapes[s / 4], policies[s % 4]);
      const tlb_geometry g = unit_geometry(text);
      const unsigned pages = g.entries + 1 + g.entries / 3;
      uint64_t seed = (uint64_t)s + 1;
      make(&p, &g);
      for (unsigned i = 0; i < 3000; i++) {
         const uint64_t r = unit_random(&seed);
         const tlb_key page = (r >> 40) % pages;
         const tlb_key vain = (r >> 24) % pages;
         if (!unit_holds(&p.asked, vain)) {
            const uint32_t e = tlb_array_place(&p.asked.a, vain);
            assert_in_range(e, 0, g.entries - 1);
            assert_int_equal(tlb_array_place(&p.asked.a, vain), e);
            assert_int_equal(e / g.ways,
                             vain % tlb_geometry_sets(&p.asked.a.g));
         }
         both(&p, page, (r & 3) != 0, 0);
      }
      drop(&p);
   }
}

TEST(two_steps)
{
   static const char *const policies[] = { "lru", "plru", "fifo", "nru",
                                           "random:5" };
   for (int i = 0; i < 5 * N_SHAPES; i++) {
      char text[64];
      snprintf(text, sizeof text, shapes[i / 5], policies[i % 5]);
      const tlb_geometry g = unit_geometry(text);
      uint64_t seed = (uint64_t)i + 1;
      unit_array one, two;
      unit_array_make(&one, &g, NULL, NULL);
      unit_array_make(&two, &g, NULL, NULL);
      for (unsigned n = 0; n < 1500; n++) {
         const tlb_key key = unit_random(&seed) % (g.entries * 2 + 1);
         one.now = two.now = n + 1;
         const uint32_t hit = tlb_array_lookup(&one.a, key, one.now);
         assert_int_equal(tlb_array_lookup(&two.a, key, two.now), hit);
         if (hit != TLB_MISS)
            continue;
         const uint32_t e = tlb_array_place(&two.a, key);
         tlb_array_fill_entry(&two.a, e, key, two.now);
         assert_int_equal(tlb_array_fill(&one.a, key, one.now), e);
      }
      unit_array_free(&one);
      unit_array_free(&two);
   }
}

/* That every key has a short cut is counted, not looked up: it must be right
   after every attach, detach, release and eviction. */
TEST(all_attached)
{
   static pair p;
   for (int i = 0; i < N_SHAPES; i++) {
      char text[64];
      unsigned yes = 0;
      snprintf(text, sizeof text, shapes[i], "lru");
      const tlb_geometry g = unit_geometry(text);
      uint64_t seed = (uint64_t)i + 1;
      make(&p, &g);
      for (unsigned n = 0; n < 2000; n++) {
         const uint64_t r = unit_random(&seed);
         both(&p, (r >> 40) % (g.entries * 5 / 4 + 1), (r & 7) != 0,
              (r >> 8 & 31) == 0);
         int all = 1;
         for (uint32_t e = 0; e < g.entries; e++) {
            const tlb_key key = p.asked.a.key[e];
            all &= key == TLB_NO_KEY || p.attached[key];
         }
         assert_int_equal(tlb_array_all_attached(&p.asked.a) != 0, all);
         yes += (unsigned)all;
      }
      assert_in_range(yes, 1, 1999);
      drop(&p);
   }
}

/* --- Entries that cover many pages, times in two places, references past the
   short cuts --- */

/* Pages in blocks of four, each an entry, and behind them pages that are
   entries by themselves. What the caller notes is the time of a page; loads and
   stores note it in different places if `second`. Others than the caller
   reference the array, too, if `behind`. */
enum { COVERED = 4, MANY = 640 };

typedef struct {
   unit_array plain, asked;
   unsigned wide; /* pages of blocks */
   int second, behind;
   uint64_t time[2 * MANY];
   int known[MANY];
   unsigned answered, asked_for;
} notes;

static tlb_key entry_of(const notes *n, uint64_t page)
{
   return page < n->wide ? tlb_key_of(page / COVERED, 14, 0)
                         : tlb_key_of(page, 12, 0);
}

static uint64_t first_of(tlb_key key)
{
   return tlb_key_page(key) * (tlb_key_shift(key) == 14 ? COVERED : 1);
}

static uint64_t end_of(tlb_key key)
{
   return first_of(key) + (tlb_key_shift(key) == 14 ? COVERED : 1);
}

static uint64_t time_of_range(tlb_key key, void *opaque)
{
   notes *const n = opaque;
   uint64_t youngest = 0;
   n->asked_for++;
   assert_int_equal(tlb_key_shift(key), 14);
   for (uint64_t page = first_of(key); page < end_of(key); page++) {
      for (unsigned kind = 0; kind < 2; kind++) {
         const uint64_t time = n->time[kind * MANY + page];
         if (n->known[page] && time > youngest)
            youngest = time;
      }
   }
   return youngest;
}

static void forget(notes *n, tlb_key key)
{
   for (uint64_t page = first_of(key); page < end_of(key); page++)
      n->known[page] = 0;
}

static void on_end(uint64_t *time, tlb_key key, void *opaque)
{
   notes *const n = opaque;
   assert_int_equal(time == &tlb_range, tlb_key_shift(key) == 14);
   if (time != &tlb_range)
      assert_int_equal(time - n->time, tlb_key_page(key));
   forget(n, key);
}

static void make_notes(notes *n, const tlb_geometry *g, unsigned wide,
                       int second, int behind)
{
   memset(n, 0, sizeof *n);
   n->wide = wide;
   n->second = second;
   n->behind = behind;
   unit_array_make(&n->plain, g, NULL, NULL);
   unit_array_make(&n->asked, g, on_end, n);
   n->asked.a.range_time = time_of_range;
   n->asked.a.second_time = second ? MANY : 0;
   n->asked.a.also_behind = behind;
}

static void drop_notes(notes *n)
{
   unit_array_free(&n->plain);
   unit_array_free(&n->asked);
}

static uint32_t entry_with(const unit_array *u, tlb_key key)
{
   uint32_t e = 0;
   while (u->a.key[e] != key)
      e++;
   return e;
}

/* A reference of the caller's, which the caller answers if a short cut is there. */
static void caller_s(notes *n, uint64_t page, unsigned kind, int attach,
                     int detach)
{
   tlb_array *const a = &n->asked.a;
   const tlb_key key = entry_of(n, page), free_way = 1 << 20;
   const tlb_key expected = unit_reference(&n->plain, key, free_way);
   kind = n->second ? kind : 0;
   if (n->known[page]) {
      assert_true(expected == TLB_NO_KEY);
      n->asked.now++;
      n->answered++;
   } else {
      assert_true(unit_reference(&n->asked, key, free_way) == expected);
      const uint32_t e = entry_with(&n->asked, key);
      if (!attach)
         return;
      if (a->short_cut[e] == NULL && page < n->wide)
         tlb_array_attach_range(a, e);
      else if (a->short_cut[e] == NULL)
         tlb_array_attach(a, e, &n->time[page]);
      n->known[page] = 1;
   }
   n->time[kind * MANY + page] = n->asked.now;
   if (detach) {
      tlb_array_detach(a, entry_with(&n->asked, key));
      forget(n, key);
   }
}

/* A reference that comes from elsewhere, and that the caller never sees. */
static void another_s(notes *n, uint64_t page)
{
   const tlb_key key = entry_of(n, page), free_way = 1 << 20;
   const tlb_key expected = unit_reference(&n->plain, key, free_way);
   assert_true(unit_reference(&n->asked, key, free_way) == expected);
}

enum { RANGES = 1, SECOND = 2, BEHIND = 4 };

static void run_notes(const char *policy, const char *shape, unsigned what,
                      unsigned mix)
{
   static const unsigned attach[] = { 16, 12 };
   static const unsigned detach[] = { 0, 1 };
   static notes n;
   char text[64];
   snprintf(text, sizeof text, shape, policy);
   const tlb_geometry g = unit_geometry(text);
   const unsigned blocks = what & RANGES ? g.entries * 3 / 4 + 1 : 0;
   const unsigned wide = blocks * COVERED;
   const unsigned pages = wide + (what & RANGES ? g.entries / 2 + 1
                                                : g.entries * 5 / 4 + 1);
   uint64_t seed = what * 100 + mix + g.ways;
   assert_true(pages <= MANY);
   make_notes(&n, &g, wide, (what & SECOND) != 0, (what & BEHIND) != 0);
   for (unsigned i = 0; i < 1500; i++) {
      const uint64_t r = unit_random(&seed);
      uint64_t page = (r >> 40) % pages;
      /* Half of the references go to a few pages, which stay. */
      if ((r & 1) != 0)
         page = page / 3 + (r & 2 ? pages / 2 : 0);
      if (n.behind && (r >> 32) % 4 == 0)
         another_s(&n, page);
      else
         caller_s(&n, page, r >> 24 & 1, (r >> 8) % 16 < attach[mix],
                  (r >> 16) % 16 < detach[mix]);
      if ((r >> 36) % 8 == 0)
         tlb_array_place(&n.asked.a, entry_of(&n, (r >> 50) % pages));
   }
   if (g.entries > 1)
      assert_true(n.answered > 100);
   if (what & RANGES && tlb_array_needs_time(&n.asked.a) && g.ways > 2)
      assert_true(n.asked_for > 10);
   drop_notes(&n);
}

static void run_all(unsigned what)
{
   static const char *const policies[] = { "lru", "plru", "fifo", "random:17" };
   for (int s = 0; s < N_SHAPES; s++) {
      for (int p = 0; p < 4; p++) {
         for (unsigned mix = 0; mix < 2; mix++)
            run_notes(policies[p], shapes[s], what, mix);
      }
   }
   run_notes("lru", "17,full,4K,%s", what, 0);
   run_notes("lru", "99,33,4K,%s", what, 1);
}

TEST(ranges)
{
   run_all(RANGES);
}

TEST(two_times)
{
   run_all(SECOND);
}

TEST(two_times_of_ranges)
{
   run_all(RANGES | SECOND);
}

TEST(past_short_cuts)
{
   run_all(BEHIND);
}

TEST(past_all)
{
   run_all(RANGES | BEHIND);
   run_all(SECOND | BEHIND);
   run_all(RANGES | SECOND | BEHIND);
}

/* The caller renews every block; only range_time() can tell which was first.
   However many there are, the question comes to an end. */
TEST(all_renewed)
{
   static const unsigned ways[] = { 2, 4, 16, 17, 32, 33, 64, 128 };
   static notes n;
   for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
      for (unsigned step = 1; step <= 7; step += 2) {
         const tlb_geometry g = { .entries = ways[w], .ways = ways[w],
                                  .page_sizes = 1 << 12, .policy = TLB_LRU };
         const unsigned blocks = ways[w] + 1;
         if (ways[w] % 7 == 0 || ways[w] % 3 == 0)
            continue; /* `step` has to reach all of them */
         make_notes(&n, &g, blocks * COVERED, 0, 0);
         for (unsigned round = 0; round < 5; round++) {
            for (unsigned i = 0; i < ways[w]; i++)
               caller_s(&n, i * COVERED, 0, 1, 0);
            for (unsigned i = 0; i < ways[w]; i++)
               caller_s(&n, i * step % ways[w] * COVERED, 0, 1, 0);
            const unsigned before = n.asked_for;
            caller_s(&n, ways[w] * COVERED + round % COVERED, 0, 1, 0);
            assert_true(n.asked_for > before);
         }
         drop_notes(&n);
      }
   }
}

/* Of an entry's two times, the later counts, whichever it is. */
TEST(later_time)
{
   static notes n;
   const tlb_geometry g = unit_geometry("2,full,4K,lru");
   for (unsigned kind = 0; kind < 2; kind++) {
      make_notes(&n, &g, 0, 1, 0);
      caller_s(&n, 0, 1 - kind, 1, 0);
      caller_s(&n, 1, 1 - kind, 1, 0);
      caller_s(&n, 0, kind, 1, 0);
      assert_int_equal(n.answered, 1);
      caller_s(&n, 2, 0, 1, 0);
      assert_true(n.known[0]);
      assert_false(n.known[1]);
      drop_notes(&n);
   }
}

/* What reaches the array past a short cut renews the entry beside it: neither
   time is taken for the other. */
TEST(own_time_counts)
{
   static notes n;
   const tlb_geometry g = unit_geometry("2,full,4K,lru");
   make_notes(&n, &g, 0, 0, 1);
   caller_s(&n, 0, 0, 1, 0);
   caller_s(&n, 1, 0, 1, 0);
   another_s(&n, 0);
   assert_true(n.time[0] == 1); /* the array does not write to it */
   another_s(&n, 2);
   assert_true(n.known[0]);
   assert_false(n.known[1]);
   caller_s(&n, 0, 0, 1, 0);
   another_s(&n, 3);
   assert_true(n.known[0]);
   assert_false(unit_holds(&n.asked, entry_of(&n, 2)));
   drop_notes(&n);
}

/* Of an array all of which is known: what has been put in another's place is found
   there by the next lookup, and the other is not. */
TEST(replaced)
{
   static const char *const geometries[] = { "8,4,4K,lru", "16,full,4K,lru",
                                             "16,full,4K,plru", "40,full,4K,lru" };
   for (size_t i = 0; i < sizeof geometries / sizeof geometries[0]; i++) {
      static pair p;
      const tlb_geometry g = unit_geometry(geometries[i]);
      const tlb_key key = 2 * g.entries;
      uint64_t time = 0;
      make(&p, &g);
      for (tlb_key page = 0; page < g.entries; page++)
         both(&p, page, 1, 0);
      tlb_array *const a = &p.asked.a;
      const uint32_t entry = tlb_array_place(a, key);
      const tlb_key evicted = a->key[entry];
      tlb_array_replace(a, entry, key, ++p.asked.now, &time);
      assert_true(tlb_array_lookup(a, evicted, ++p.asked.now) == TLB_MISS);
      assert_true(tlb_array_lookup(a, key, ++p.asked.now) == entry);
      assert_true(tlb_array_place(a, key) != entry);
      tlb_array_fill(a, evicted, ++p.asked.now);
      assert_true(tlb_array_lookup(a, evicted, ++p.asked.now) != TLB_MISS);
      drop(&p);
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM_OF("LRU with short cuts misses and evicts as LRU without", same_as_plain, "lru"),
      CLAIM_OF("PLRU with short cuts misses and evicts as PLRU without", same_as_plain, "plru"),
      CLAIM_OF("FIFO with short cuts misses and evicts as FIFO without", same_as_plain, "fifo"),
      CLAIM_OF("random with short cuts misses and evicts as random without", same_as_plain,
               "random:17"),
      CLAIM("an entry that is evicted is released, others are not", evicted),
      CLAIM("an entry that is detached keeps the caller's time", detached),
      CLAIM("a reference through the array moves the time at the short cut", asked_anyway),
      CLAIM("looking up where a key would go changes no later choice", asked_in_vain),
      CLAIM("a fill in two steps misses and evicts as a fill in one", two_steps),
      CLAIM("a key that replaced another in a known array is found there, the other is not",
            replaced),
      CLAIM("entries whose times have to be looked up are evicted as others", ranges),
      CLAIM("entries with two times miss and evict as others", two_times),
      CLAIM("entries of many pages with two times each miss and evict as others",
            two_times_of_ranges),
      CLAIM("references past the short cuts count beside those through them", past_short_cuts),
      CLAIM("entries of many pages, two times and references past them can be combined", past_all),
      CLAIM("the oldest of entries with many pages is found though all have been renewed",
            all_renewed),
      CLAIM("of an entry's two times the later counts", later_time),
      CLAIM("an entry's own time counts beside its short cut's",
            own_time_counts),
      CLAIM("the array's own count says whether every key has a short cut", all_attached),
   };
   return cmocka_run_group_tests_name("short cuts", tests, NULL, NULL);
}
