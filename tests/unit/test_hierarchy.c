/* Levels: which arrays are asked and filled, and where pages of each size go.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/tlb/hierarchy.h"

/* An array of a machine, as far as the hierarchy looks at it. */
typedef struct {
   unsigned level;
   unsigned users;
   const char *geometry;
   int splits;
   unsigned coalesce_shift;
   uint32_t hit_cycles;
   tlb_inclusion inclusion;
} part;

enum {
   FETCHES = TLB_FETCHES,
   LOADS = TLB_LOADS,
   STORES = TLB_STORES,
   DATA = TLB_LOADS | TLB_STORES,
   ALL = TLB_FETCHES | TLB_LOADS | TLB_STORES
};

/* An array's level, users and shape. */
#define AT(l, u, g) .level = (l), .users = (u), .geometry = (g)

enum { K4 = 12, K16 = 14, K32 = 15, K64 = 16, M2 = 21, M16 = 24, G1 = 30 };

static tlb_machine machine_of(const part *parts, unsigned n)
{
   tlb_machine m;
   memset(&m, 0, sizeof m);
   m.base_page_shift = K4;
   m.walk_cycles = TLB_UNKNOWN;
   m.n_arrays = n;
   for (unsigned i = 0; i < n; i++) {
      tlb_machine_array *const a = &m.array[i];
      snprintf(a->name, sizeof a->name, "array %u", i);
      a->level = parts[i].level;
      a->users = parts[i].users;
      a->g = unit_geometry(parts[i].geometry);
      a->splits = parts[i].splits;
      a->coalesce_shift = parts[i].coalesce_shift;
      a->hit_cycles = parts[i].hit_cycles;
      a->inclusion = parts[i].inclusion;
   }
   return m;
}

typedef struct {
   tlb_machine m;
   tlb_hierarchy h;
   void *memory;
   uint64_t now;
   unsigned releases;
} fixture;

static void on_release(uint64_t *time, tlb_key key, void *opaque)
{
   fixture *const f = opaque;
   (void)time;
   (void)key;
   f->releases++;
}

static void make_of(fixture *f, const tlb_machine *m, unsigned base_shift)
{
   tlb_reason why;
   memset(f, 0xA5, sizeof *f);
   f->m = *m;
   f->m.base_page_shift = base_shift;
   if (!tlb_machine_check(&f->m, &why)
       || !tlb_machine_holds(&f->m, base_shift, &why))
      fail_msg("%s", why.text);
   f->now = 0;
   f->releases = 0;
   f->memory = malloc(tlb_hierarchy_bytes(&f->m));
   assert_non_null(f->memory);
   memset(f->memory, 0xA5, tlb_hierarchy_bytes(&f->m));
   tlb_hierarchy_init(&f->h, &f->m, base_shift, 0, f->memory, on_release,
                      NULL, f);
}

#define MAKE(f, ...)                                                           \
   do {                                                                        \
      const part parts_[] = { __VA_ARGS__ };                                   \
      const tlb_machine m_ = machine_of(parts_, N(parts_));                    \
      make_of(f, &m_, K4);                                                     \
   } while (0)

static void drop(fixture *f)
{
   free(f->memory);
}

/* References the base page of that number, in a page and a block of those
   sizes. What comes out is where it then is. */
static tlb_outcome translate(fixture *f, tlb_user user, uint64_t page,
                             unsigned page_shift, unsigned block_shift)
{
   const tlb_reference r = { .page = page, .now = ++f->now,
                             .user = (uint8_t)user,
                             .page_shift = (uint8_t)page_shift,
                             .block_shift = (uint8_t)block_shift };
   const tlb_outcome o = tlb_translate(&f->h, &r);
   assert_in_range(o.array, 0, f->m.n_arrays - 1);
   assert_true(tlb_asks_first(&f->h, user, o.array));
   assert_in_range(o.entry, 0, f->m.array[o.array].g.entries - 1);
   assert_true(f->h.array[o.array].key[o.entry]
               == tlb_key_of(page >> (o.shift - f->h.base_shift), o.shift, 0));
   return o;
}

static void expect_of(fixture *f, tlb_user user, uint64_t page,
                      unsigned page_shift, unsigned missed, int walked)
{
   const tlb_outcome o = translate(f, user, page, page_shift, page_shift);
   assert_int_equal(o.missed, missed);
   assert_int_equal(o.walked != 0, walked);
}

/* References a base page and expects these levels to miss (bits) and a walk or
   none. */
static void expect(fixture *f, tlb_user user, uint64_t page, unsigned missed,
                   int walked)
{
   expect_of(f, user, page, f->h.base_shift, missed, walked);
}

#define I TLB_FETCH
#define D TLB_LOAD
#define W TLB_STORE
enum { HIT = 0, L1 = 1, L2 = 2, L3 = 4 };

/* --- Levels --- */

TEST(one_level)
{
   fixture f;
   MAKE(&f, { AT(1, FETCHES, "2,full") }, { AT(1, DATA, "2,full") });
   expect(&f, D, 1, L1, 1);
   expect(&f, D, 1, HIT, 0);
   expect(&f, I, 1, L1, 1); /* the sides share nothing */
   expect(&f, D, 2, L1, 1);
   expect(&f, D, 3, L1, 1);
   expect(&f, D, 1, L1, 1);
   expect(&f, I, 1, HIT, 0);
   expect(&f, W, 1, HIT, 0); /* loads and stores share all */
   drop(&f);
}

TEST(filled_on_the_way)
{
   fixture f;
   MAKE(&f, { AT(1, FETCHES, "1,1") }, { AT(1, DATA, "1,1") },
        { AT(2, ALL, "4,full") });
   expect(&f, D, 1, L1 | L2, 1);
   expect(&f, D, 2, L1 | L2, 1);
   expect(&f, D, 1, L1, 0);  /* out of the first level, still in the second */
   expect(&f, D, 1, HIT, 0); /* and back in the first */
   expect(&f, D, 2, L1, 0);
   drop(&f);
}

/* A hit in the first level is no reference to the second: what the first level
   always answers grows old behind it. */
TEST(not_asked)
{
   fixture f;
   MAKE(&f, { AT(1, FETCHES, "1,1") }, { AT(1, DATA, "2,full") },
        { AT(2, ALL, "2,full") });
   expect(&f, D, 1, L1 | L2, 1);
   expect(&f, D, 2, L1 | L2, 1);
   expect(&f, D, 1, HIT, 0);
   expect(&f, D, 3, L1 | L2, 1); /* evicts 2 above, 1 below */
   expect(&f, D, 1, HIT, 0);     /* levels do not include each other */
   expect(&f, D, 2, L1, 0);
   drop(&f);
}

TEST(unified)
{
   fixture f;
   MAKE(&f, { AT(1, FETCHES, "1,1") }, { AT(1, DATA, "1,1") },
        { AT(2, ALL, "2,full") });
   expect(&f, D, 1, L1 | L2, 1);
   expect(&f, I, 1, L1, 0); /* filled by the data side */
   expect(&f, I, 2, L1 | L2, 1);
   expect(&f, D, 2, L1, 0);
   expect(&f, I, 3, L1 | L2, 1); /* and evicted by the other: page 1 */
   expect(&f, D, 1, L1 | L2, 1);
   drop(&f);
}

TEST(apart)
{
   fixture f;
   MAKE(&f, { AT(1, FETCHES, "1,1") }, { AT(1, DATA, "1,1") },
        { AT(2, FETCHES, "2,full") }, { AT(2, DATA, "2,full") });
   expect(&f, D, 1, L1 | L2, 1);
   expect(&f, I, 1, L1 | L2, 1);
   expect(&f, I, 2, L1 | L2, 1);
   expect(&f, I, 3, L1 | L2, 1);
   expect(&f, D, 1, HIT, 0);
   expect(&f, D, 2, L1 | L2, 1);
   expect(&f, D, 1, L1, 0);
   drop(&f);
}

TEST(three_levels)
{
   fixture f;
   MAKE(&f, { AT(1, FETCHES, "1,1") }, { AT(1, DATA, "1,1") },
        { AT(2, FETCHES, "2,full") }, { AT(2, DATA, "2,full") },
        { AT(3, ALL, "4,full") });
   assert_int_equal(f.h.levels, 3);
   for (uint64_t page = 1; page <= 4; page++)
      expect(&f, D, page, L1 | L2 | L3, 1);
   expect(&f, D, 4, HIT, 0);
   expect(&f, D, 3, L1, 0);
   expect(&f, D, 1, L1 | L2, 0);
   expect(&f, D, 3, L1, 0);      /* 4 is gone from the second level, not 3 */
   expect(&f, D, 4, L1 | L2, 0);
   expect(&f, I, 4, L1 | L2, 0); /* only the third is shared */
   expect(&f, D, 5, L1 | L2 | L3, 1);
   drop(&f);
}

TEST(one_sided)
{
   fixture f;
   MAKE(&f, { AT(1, FETCHES, "1,1") }, { AT(1, DATA, "1,1") },
        { AT(2, DATA, "2,full") });
   expect(&f, D, 1, L1 | L2, 1);
   expect(&f, D, 2, L1 | L2, 1);
   expect(&f, D, 1, L1, 0);
   expect(&f, I, 1, L1, 1); /* walks behind the first level */
   expect(&f, I, 2, L1, 1);
   drop(&f);

   MAKE(&f, { AT(1, FETCHES, "1,1") }, { AT(1, DATA, "1,1") },
        { AT(2, FETCHES, "2,full") }, { AT(3, ALL, "4,4") });
   expect(&f, D, 1, L1 | L3, 1);
   expect(&f, I, 1, L1 | L2, 0);
   expect(&f, D, 2, L1 | L3, 1);
   expect(&f, D, 1, L1, 0);
   drop(&f);
}

TEST(shared_first)
{
   fixture f;
   MAKE(&f, { AT(1, ALL, "2,full") });
   expect(&f, D, 1, L1, 1);
   expect(&f, I, 1, HIT, 0);
   expect(&f, W, 2, L1, 1);
   expect(&f, I, 3, L1, 1);
   expect(&f, D, 1, L1, 1);
   drop(&f);
}

TEST(one_level_only)
{
   fixture f;
   tlb_reference r = { .page = 1, .now = 1, .user = TLB_LOAD,
                       .page_shift = K4, .block_shift = K4 };
   MAKE(&f, { AT(1, FETCHES, "2,full") }, { AT(1, DATA, "2,full") },
        { AT(2, ALL, "4,full") });
   assert_true(tlb_translate_level(&f.h, &r, 1));
   r.now = 2;
   assert_false(tlb_translate_level(&f.h, &r, 1));
   f.now = 2;
   expect(&f, D, 1, L1, 0); /* the first level had heard nothing of it */
   drop(&f);
}

static unsigned missed_behind(fixture *f, tlb_user user, uint64_t page,
                              int walked)
{
   const tlb_reference r = { .page = page, .now = ++f->now,
                             .user = (uint8_t)user, .page_shift = K4,
                             .block_shift = K4 };
   tlb_outcome out = { .entry = TLB_MISS };
   tlb_translate_behind(&f->h, &r, &out);
   assert_int_equal(out.walked != 0, walked);
   return out.missed;
}

/* What the caller answers for the first level, missed there, goes on behind. */
TEST(behind)
{
   fixture f;
   MAKE(&f, { AT(1, FETCHES, "1,1") }, { AT(1, DATA, "2,full") },
        { AT(2, ALL, "4,full") }, { AT(3, FETCHES, "4,4,4K,fifo") },
        { AT(3, DATA, "8,full") });
   assert_int_equal(missed_behind(&f, D, 1, 1), L1 | L2 | L3);
   assert_int_equal(missed_behind(&f, D, 1, 0), L1);
   assert_int_equal(missed_behind(&f, I, 1, 0), L1);
   assert_int_equal(missed_behind(&f, I, 2, 1), L1 | L2 | L3);
   expect(&f, D, 1, L1, 0); /* the first level had heard nothing of it */
   drop(&f);
   MAKE(&f, { AT(1, FETCHES, "1,1") }, { AT(1, DATA, "2,full") });
   assert_int_equal(missed_behind(&f, I, 2, 1), L1);
   drop(&f);
}

TEST(contexts)
{
   fixture f;
   tlb_reference r = { .page = 1, .user = TLB_LOAD, .page_shift = K4,
                       .block_shift = K4 };
   MAKE(&f, { AT(1, FETCHES, "4,full") }, { AT(1, DATA, "4,full") },
        { AT(2, ALL, "8,full") });
   for (unsigned c = 0; c < 3; c++) {
      r.context = (uint16_t)(c * (TLB_MAX_CONTEXT / 2));
      r.now = c + 1;
      assert_int_equal(tlb_translate(&f.h, &r).missed, L1 | L2);
   }
   for (unsigned c = 0; c < 3; c++) {
      r.context = (uint16_t)(c * (TLB_MAX_CONTEXT / 2));
      r.now = c + 4;
      assert_int_equal(tlb_translate(&f.h, &r).missed, HIT);
   }
   drop(&f);
}

TEST(released)
{
   fixture f;
   uint64_t time;
   MAKE(&f, { AT(1, FETCHES, "1,1") }, { AT(1, DATA, "1,1") },
        { AT(2, ALL, "8,full") });
   const tlb_outcome o = translate(&f, D, 1, K4, K4);
   tlb_array_attach(&f.h.array[o.array], o.entry, &time);
   translate(&f, I, 2, K4, K4);
   assert_int_equal(f.releases, 0);
   translate(&f, D, 2, K4, K4);
   assert_int_equal(f.releases, 1);
   translate(&f, D, 1, K4, K4);
   assert_int_equal(f.releases, 1);
   drop(&f);
}

TEST(odd_sizes)
{
   fixture f;
   /* Sizes whose parts do not end on multiples of eight bytes; the sanitizers
      see to alignment and ends. */
   MAKE(&f, { AT(1, FETCHES, "3,1") }, { AT(1, DATA, "5,5,4K,nru") },
        { AT(2, FETCHES, "17,full,4K,lru") }, { AT(2, DATA, "9,9") },
        { AT(3, ALL, "35,7,4K,random:2") });
   for (uint64_t i = 0; i < 2000; i++) {
      translate(&f, I, i * 7 % 50, K4, K4);
      translate(&f, D, i * 11 % 70, K4, K4);
   }
   drop(&f);
}

/* --- Where pages of which size go --- */

TEST(own_arrays)
{
   fixture f;
   MAKE(&f, { AT(1, ALL, "2,full,4K") }, { AT(1, ALL, "1,1,2M") },
        { AT(2, ALL, "8,full,4K+2M") });
   expect_of(&f, D, 0x200, K4, L1 | L2, 1);
   expect_of(&f, D, 0x3ff, M2, L1 | L2, 1);
   assert_int_equal(translate(&f, D, 0x200, K4, K4).array, 0);
   assert_int_equal(translate(&f, D, 0x201, M2, M2).array, 1);
   assert_int_equal(translate(&f, D, 0x201, M2, M2).shift, M2);
   /* Any part of the large page is the page; small ones do not disturb it. */
   for (uint64_t page = 0x200; page < 0x400; page++)
      expect_of(&f, W, page, M2, HIT, 0);
   for (uint64_t page = 0x1000; page < 0x1010; page++)
      expect_of(&f, D, page, K4, L1 | L2, 1);
   expect_of(&f, D, 0x2ab, M2, HIT, 0);
   expect_of(&f, D, 0x400, M2, L1 | L2, 1);
   expect_of(&f, D, 0x200, M2, L1 | L2, 1); /* small pages filled the second */
   expect_of(&f, D, 0x401, M2, L1, 0);
   drop(&f);
}

/* An entry says of which size it is: page 3 of 2M is not page 3 of 4K, though
   both are in the same set of the same array. */
TEST(sizes_apart)
{
   fixture f;
   MAKE(&f, { AT(1, ALL, "4,1,4K+2M") });
   expect_of(&f, D, 3, K4, L1, 1);
   expect_of(&f, D, 3 << 9, M2, L1, 1);
   expect_of(&f, D, 3, K4, L1, 1);
   expect_of(&f, D, 2, K4, L1, 1);
   expect_of(&f, D, 3, K4, HIT, 0);
   drop(&f);
   /* What was filled as one size is not found as another, but stays. */
   MAKE(&f, { AT(1, ALL, "4,full,4K+2M") });
   expect_of(&f, D, 0x200, K4, L1, 1);
   expect_of(&f, D, 0x200, M2, L1, 1);
   expect_of(&f, D, 0x200, K4, HIT, 0);
   expect_of(&f, D, 0x200, M2, HIT, 0);
   drop(&f);
}

TEST(in_pieces)
{
   fixture f;
   MAKE(&f, { AT(1, FETCHES, "1,1") },
        { AT(1, DATA, "4,full,4K+64K"), .splits = 1 },
        { AT(2, ALL, "16,full,2M") });
   assert_int_equal(translate(&f, D, 0x200, M2, M2).shift, K64);
   for (uint64_t page = 0x201; page < 0x210; page++)
      expect_of(&f, D, page, M2, HIT, 0);
   expect_of(&f, D, 0x210, M2, L1, 0); /* the next piece of one entry below */
   expect_of(&f, D, 0x220, M2, L1, 0);
   expect_of(&f, D, 0x230, M2, L1, 0);
   expect_of(&f, D, 0x240, M2, L1, 0);
   expect_of(&f, D, 0x20f, M2, L1, 0); /* the first is gone */
   expect_of(&f, D, 0x24f, M2, HIT, 0);
   /* Whole where it fits: nothing is cut that need not be. */
   assert_int_equal(translate(&f, D, 0x1000, K64, K64).shift, K64);
   assert_int_equal(translate(&f, D, 0x1000, K4, K4).shift, K4);
   drop(&f);
}

/* A size between two that the array holds enters as the smaller. */
TEST(next_smaller)
{
   fixture f;
   MAKE(&f, { AT(1, ALL, "8,full,4K+16K+2M"), .splits = 1 });
   assert_int_equal(translate(&f, D, 0x100, K64, K64).shift, K16);
   assert_int_equal(translate(&f, D, 0x1000, 13, 13).shift, K4);
   assert_int_equal(translate(&f, D, 0x1000, M16, M16).shift, M2);
   expect_of(&f, D, 0x104, K64, L1, 1);
   expect_of(&f, D, 0x107, K64, HIT, 0);
   drop(&f);
}

TEST(bypassed)
{
   fixture f;
   MAKE(&f, { AT(1, ALL, "1,1,2M") }, { AT(1, ALL, "1,1,4K") },
        { AT(2, ALL, "64,full,4K") }, { AT(3, ALL, "4,full,2M") });
   expect_of(&f, D, 0x200, M2, L1 | L3, 1); /* no miss in the second */
   expect_of(&f, D, 0x400, M2, L1 | L3, 1);
   expect_of(&f, D, 0x200, M2, L1, 0);
   expect_of(&f, D, 0x200, K4, L1 | L2, 1); /* and none in the third */
   expect_of(&f, D, 0x201, K4, L1 | L2, 1);
   expect_of(&f, D, 0x200, K4, L1, 0);
   drop(&f);
   /* Nor is it filled: 64 large pages evict no small one. */
   MAKE(&f, { AT(1, ALL, "1,1,4K+2M") }, { AT(2, ALL, "2,full,4K") });
   expect_of(&f, D, 1, K4, L1 | L2, 1);
   for (uint64_t page = 1; page <= 64; page++)
      expect_of(&f, D, page << 9, M2, L1, 1);
   expect_of(&f, D, 1, K4, L1, 0);
   drop(&f);
   /* One that cuts is not passed by. */
   MAKE(&f, { AT(1, ALL, "1,1,4K+2M") },
        { AT(2, ALL, "2,full,4K"), .splits = 1 });
   expect_of(&f, D, 0x200, M2, L1 | L2, 1);
   expect_of(&f, D, 0x400, M2, L1 | L2, 1);
   expect_of(&f, D, 0x201, M2, L1 | L2, 1); /* the first level held it whole */
   expect_of(&f, D, 0x400, M2, L1, 0);
   drop(&f);
}

/* A page that no first-level array holds has to go somewhere: an array splits it even if
   its machine does not say so. */
TEST(nowhere_else)
{
   fixture f;
   MAKE(&f, { AT(1, FETCHES, "2,full") }, { AT(1, DATA, "4,full,4K") },
        { AT(2, ALL, "8,full,4K") });
   expect_of(&f, D, 0x200, M2, L1, 1); /* the second has no such duty */
   expect_of(&f, D, 0x201, M2, L1, 1);
   assert_int_equal(translate(&f, D, 0x200, M2, M2).shift, K4);
   expect_of(&f, D, 0x201, M2, HIT, 0);
   expect_of(&f, I, 0x201, M2, L1, 1);
   drop(&f);
   /* If one says that it cuts, the other need not. */
   MAKE(&f, { AT(1, ALL, "4,full,4K") },
        { AT(1, ALL, "4,full,64K"), .splits = 1 });
   const tlb_outcome o = translate(&f, D, 0x200, M2, M2);
   assert_int_equal(o.array, 1);
   assert_int_equal(o.shift, K64);
   for (uint64_t page = 0; page < 20; page++)
      assert_int_equal(translate(&f, D, page << 9, M2, M2).array, 1);
   drop(&f);
   /* If one holds it whole, nothing is cut. */
   MAKE(&f, { AT(1, ALL, "64,full,4K"), .splits = 1 },
        { AT(1, ALL, "1,1,2M") });
   for (uint64_t page = 0; page < 20; page++)
      expect_of(&f, D, page << 9, M2, L1, 1);
   expect_of(&f, D, 0, K4, L1, 1);
   drop(&f);
}

/* With base pages of 64K: no entry is smaller than what references are given
   in, whatever smaller pages an array could hold. */
TEST(larger_base)
{
   fixture f;
   const part parts[] = { { AT(1, ALL, "2,full,4K+64K"), .splits = 1 },
                          { AT(1, ALL, "64,full,4K"), .splits = 1 },
                          { AT(2, ALL, "8,full,4K"), .splits = 1 },
                          { AT(3, ALL, "8,full,64K+16M") } };
   const tlb_machine m = machine_of(parts, N(parts));
   make_of(&f, &m, K64);
   assert_int_equal(translate(&f, D, 7, K64, K64).shift, K64);
   expect(&f, D, 7, HIT, 0);
   expect(&f, D, 8, L1 | L3, 1);
   expect(&f, D, 9, L1 | L3, 1);
   expect(&f, D, 7, L1, 0);
   assert_int_equal(translate(&f, D, 7, K64, K64).array, 0);
   expect_of(&f, D, 0x100, M16, L1 | L3, 1);
   expect_of(&f, D, 0x101, M16, L1, 0);
   drop(&f);
}

static unsigned block_misses(fixture *f, unsigned block_shift)
{
   unsigned misses = 0;
   for (uint64_t page = 0x1000; page < 0x1040; page++)
      misses += translate(f, D, page, K4, block_shift).missed != 0;
   return misses;
}

TEST(blocks)
{
   static const struct {
      unsigned block_shift;
      unsigned misses; /* of 64 pages, by blocks of 16K */
   } known[] = { { K4, 64 }, { 13, 64 }, { K16, 16 }, { K32, 16 },
                 { K64, 16 }, { 17, 16 }, { M2, 16 } };
   fixture f;
   for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
      MAKE(&f, { AT(1, ALL, "64,full"), .coalesce_shift = K16 });
      assert_int_equal(block_misses(&f, known[i].block_shift),
                       known[i].misses);
      /* And they fit. */
      assert_int_equal(block_misses(&f, known[i].block_shift), 0);
      drop(&f);
   }
   /* A block of 64K in the array that takes it, pages behind it. */
   MAKE(&f, { AT(1, ALL, "1,1,4K+2M"), .coalesce_shift = K64 },
        { AT(2, ALL, "64,full") });
   tlb_outcome o = translate(&f, D, 0x1003, K4, K64);
   assert_int_equal(o.shift, K64);
   assert_int_equal(o.missed, L1 | L2);
   o = translate(&f, D, 0x100f, K4, K64);
   assert_int_equal(o.missed, HIT);
   o = translate(&f, D, 0x2000, K4, K4);
   assert_int_equal(o.missed, L1 | L2);
   o = translate(&f, D, 0x100f, K4, K64);
   assert_int_equal(o.missed, L1 | L2); /* never asked for behind */
   o = translate(&f, D, 0x2000, K4, K4);
   assert_int_equal(o.missed, L1);
   /* Only base pages come together: a page of 16K is none. */
   o = translate(&f, D, 0x3000, M2, M2);
   assert_int_equal(o.shift, M2);
   drop(&f);
   MAKE(&f, { AT(1, ALL, "4,full,4K+16K"), .coalesce_shift = K64 });
   assert_int_equal(translate(&f, D, 0x3000, K16, K64).shift, K16);
   assert_int_equal(translate(&f, D, 0x3000, K4, K64).shift, K64);
   drop(&f);
   /* Pieces of a larger page do, whatever lies around it; of one smaller than the block, where the
      block does. */
   MAKE(&f, { AT(1, ALL, "4,full,4K"), .splits = 1, .coalesce_shift = K16 });
   assert_int_equal(translate(&f, D, 0x3000, M2, M2).shift, K16);
   assert_int_equal(translate(&f, D, 0x3000, K16, K4).shift, K16);
   assert_int_equal(translate(&f, D, 0x3000, 13, 13).shift, K4);
   assert_int_equal(translate(&f, D, 0x3000, 13, K16).shift, K16);
   drop(&f);
   /* Of two arrays the one with the larger pieces takes them,
      not the one with the larger blocks. */
   MAKE(&f, { AT(1, ALL, "4,full,4K"), .splits = 1, .coalesce_shift = K64 },
        { AT(1, ALL, "4,full,4K+16K"), .splits = 1 });
   assert_int_equal(translate(&f, D, 0x3000, M2, M2).shift, K16);
   drop(&f);
   /* Sets are chosen by the number of the block. */
   MAKE(&f, { AT(1, ALL, "4,1"), .coalesce_shift = K16 });
   expect(&f, D, 100, L1, 1);
   for (uint64_t page = 0; page < 16; page++)
      translate(&f, D, page, K4, K16);
   for (uint64_t page = 0; page < 16; page++)
      assert_int_equal(translate(&f, D, page, K4, K16).missed, HIT);
   drop(&f);
}

TEST(block_beside_page)
{
   fixture f;
   /* The level behind coalesces, the first does not. */
   MAKE(&f, { AT(1, ALL, "2,full") },
        { AT(2, ALL, "4,full"), .coalesce_shift = K32 });
   assert_int_equal(translate(&f, D, 0x1000, K4, K32).missed, L1 | L2);
   for (uint64_t page = 0x1001; page < 0x1008; page++)
      assert_int_equal(translate(&f, D, page, K4, K32).missed, L1);
   assert_int_equal(translate(&f, D, 0x1000, K4, K16).missed, L1 | L2);
   drop(&f);
}

/* --- Two arrays side by side --- */

/* Two arrays that share only base pages: together they are to these what one of
   all their ways is. */
static void as_one(unsigned level, const char *left, const char *right,
                   const char *one, unsigned pages)
{
   fixture two, sum;
   const part pair[] = { { AT(1, ALL, "1,1,4K+2M+1G") },
                         { AT(level, ALL, left) }, { AT(level, ALL, right) } };
   const part single[] = { { AT(1, ALL, "1,1,4K+2M+1G") },
                           { AT(level, ALL, one) } };
   const unsigned from = level == 1; /* instead of the small first level */
   const tlb_machine a = machine_of(pair + from, N(pair) - from);
   const tlb_machine b = machine_of(single + from, N(single) - from);
   uint64_t seed = pages;
   unsigned hits = 0, used[3] = { 0 };
   make_of(&two, &a, K4);
   make_of(&sum, &b, K4);
   for (unsigned i = 0; i < 20000; i++) {
      const uint64_t r = unit_random(&seed);
      const uint64_t page = (r >> 20) % (r & 1 ? pages : pages / 3 + 1);
      const tlb_user user = (tlb_user)((r >> 8) % TLB_N_USERS);
      const tlb_outcome x = translate(&two, user, page, K4, K4);
      const tlb_outcome y = translate(&sum, user, page, K4, K4);
      assert_int_equal(x.missed, y.missed);
      assert_int_equal(x.walked, y.walked);
      hits += (x.missed & 1u << (level - 1)) == 0;
      used[x.array]++;
   }
   assert_in_range(hits, 1000, 19000);
   if (level == 1)
      assert_true(used[0] > 1000 && used[1] > 1000);
   drop(&two);
   drop(&sum);
}

TEST(side_by_side)
{
   for (unsigned level = 1; level <= 2; level++) {
      as_one(level, "32,4,4K+2M", "32,4,4K+1G", "64,8", 80);
      as_one(level, "1024,8,4K+2M", "1024,8,4K+1G", "2048,16", 3000);
      as_one(level, "8,1,4K+2M", "8,1,4K+1G", "16,2", 20);
      as_one(level, "12,2,4K+2M", "18,3,4K+1G", "30,5", 36);
      as_one(level, "20,full,4K+2M", "30,full,4K+1G", "50,full", 60);
      as_one(level, "64,16,4K+2M", "128,32,4K+1G", "192,48", 230);
   }
}

/* Of large pages, each array has its own. */
TEST(large_beside)
{
   fixture f;
   MAKE(&f, { AT(1, ALL, "1,1,4K+2M+1G") }, { AT(2, ALL, "2,full,4K+2M") },
        { AT(2, ALL, "2,full,4K+1G") });
   expect_of(&f, D, 0x10000, M2, L1 | L2, 1);
   expect_of(&f, D, 0x20000, M2, L1 | L2, 1);
   expect_of(&f, D, 0x80000, G1, L1 | L2, 1); /* evicts none of them */
   expect_of(&f, D, 0x10000, M2, L1, 0);
   expect_of(&f, D, 1, K4, L1 | L2, 1); /* into the free place */
   expect_of(&f, D, 2, K4, L1 | L2, 1); /* the oldest: a page of 2M */
   expect_of(&f, D, 0x20000, M2, L1 | L2, 1); /* evicts the other one */
   expect_of(&f, D, 0x80000, G1, L1, 0);
   expect_of(&f, D, 0x10000, M2, L1 | L2, 1);
   drop(&f);
}

/* --- Kinds of reference --- */

TEST(loads_and_stores)
{
   fixture f;
   MAKE(&f, { AT(1, FETCHES, "1,1") }, { AT(1, LOADS, "2,full") },
        { AT(1, STORES, "1,1") }, { AT(2, DATA, "8,full") });
   expect(&f, D, 1, L1 | L2, 1);
   expect(&f, W, 1, L1, 0); /* loads fill no array of stores */
   expect(&f, W, 2, L1 | L2, 1);
   expect(&f, D, 1, HIT, 0);
   expect(&f, D, 2, L1, 0);
   expect(&f, D, 1, HIT, 0);
   expect(&f, W, 1, L1, 0);
   expect(&f, D, 2, HIT, 0); /* stores evict nothing of the loads */
   expect(&f, I, 1, L1, 1);
   drop(&f);
}

/* Stores that have no first level begin with the second (Core 2), and nothing
   counts as missed before it. */
TEST(no_first_level)
{
   fixture f;
   MAKE(&f, { AT(1, FETCHES, "1,1") }, { AT(1, LOADS, "1,1") },
        { AT(2, DATA, "2,full"), .hit_cycles = 2 },
        { AT(3, ALL, "8,full"), .hit_cycles = 9 });
   f.m.walk_cycles = 50;
   assert_int_equal(f.h.entry_level[I], 0);
   assert_int_equal(f.h.entry_level[D], 0);
   assert_int_equal(f.h.entry_level[W], 1);
   assert_false(f.h.array[0].also_behind);
   assert_false(f.h.array[1].also_behind);
   assert_true(f.h.array[2].also_behind);
   assert_false(f.h.array[3].also_behind);
   expect(&f, W, 1, L2 | L3, 1);
   expect(&f, W, 1, HIT, 0);
   expect(&f, D, 1, L1, 0);
   expect(&f, D, 2, L1 | L2 | L3, 1);
   expect(&f, D, 1, L1, 0);
   expect(&f, W, 3, L2 | L3, 1); /* evicts 2: a load has renewed 1 */
   expect(&f, W, 1, HIT, 0);
   expect(&f, W, 2, L2, 0);
   expect(&f, D, 1, HIT, 0);
   drop(&f);
   /* Its cost is told against its own first array. */
   MAKE(&f, { AT(1, FETCHES, "1,1") }, { AT(1, LOADS, "1,1") },
        { AT(2, DATA, "1,1"), .hit_cycles = 2 },
        { AT(3, ALL, "8,full"), .hit_cycles = 9 });
   f.m.walk_cycles = 50;
   assert_int_equal(translate(&f, W, 1, K4, K4).cycles, 50);
   assert_int_equal(translate(&f, W, 1, K4, K4).cycles, 0);
   assert_int_equal(translate(&f, D, 1, K4, K4).cycles, 2);
   assert_int_equal(translate(&f, W, 2, K4, K4).cycles, 50);
   assert_int_equal(translate(&f, W, 1, K4, K4).cycles, 9);
   drop(&f);
}

/* --- Zen 2: a second level that holds entries of page tables as well --- */

/* A walk is over before the page that was walked for comes in, which so can not drive
   out what the walk is to find. */
TEST(walks_come_first)
{
   fixture f;
   MAKE(&f, { AT(1, ALL, "1,1") }, { AT(2, ALL, "2,full") });
   f.m.n_walk_steps = 2;
   f.m.walk[0] = (tlb_walk_step){ .shift = M2, .cached = 1, .in_last_level = 1 };
   f.m.walk[1] = (tlb_walk_step){ .shift = K4 };
   tlb_walker_init(&f.h.walker, &f.m, 0, NULL, &f.h.array[1]);
   f.now = 1;
   for (unsigned page = 1; page < 9; page++) {
      f.now++; /* each has two times */
      assert_int_equal(translate(&f, D, page, K4, K4).walk_references,
                       page == 1 ? 2 : 1);
   }
   drop(&f);
}

/* --- POWER: translations for the core before those of the page table --- */

/* One page of 16M in steps of 64K: the pieces miss each time, the page once. */
TEST(erat)
{
   fixture f;
   MAKE(&f, { AT(1, FETCHES, "128,full,4K+64K"), .splits = 1 },
        { AT(1, DATA, "128,full,4K+64K"), .splits = 1 },
        { AT(2, ALL, "1024,4,4K+64K+16M") });
   for (unsigned pass = 0; pass < 3; pass++) {
      unsigned first = 0, tlb = 0;
      for (uint64_t at = 0; at < 256; at++) {
         const tlb_outcome o = translate(&f, D, 0x5000 + at * 16, M16, K64);
         assert_int_equal(o.shift, K64);
         first += (o.missed & L1) != 0;
         tlb += (o.missed & L2) != 0;
         assert_int_equal(o.walked, (o.missed & L2) != 0);
      }
      assert_int_equal(first, 256);
      assert_int_equal(tlb, pass == 0);
   }
   drop(&f);
}

TEST(erat_in_the_middle)
{
   static const unsigned pieces[] = { 256, 129, 128, 48 };
   fixture f;
   for (size_t n = 0; n < sizeof pieces / sizeof pieces[0]; n++) {
      MAKE(&f, { AT(1, FETCHES, "32,full,4K+64K"), .splits = 1 },
           { AT(1, DATA, "32,full,4K+64K"), .splits = 1 },
           { AT(2, DATA, "128,full,4K+64K,fifo"), .splits = 1 },
           { AT(3, ALL, "1024,4,4K+64K+16M") });
      for (unsigned pass = 0; pass < 4; pass++) {
         unsigned missed[3] = { 0 };
         for (uint64_t at = 0; at < pieces[n]; at++) {
            const tlb_outcome o = translate(&f, D, 0x5000 + at * 16, M16, M16);
            for (unsigned level = 0; level < 3; level++)
               missed[level] += o.missed >> level & 1;
         }
         assert_int_equal(missed[0], pieces[n]);
         assert_int_equal(missed[1],
                          pass == 0 || pieces[n] > 128 ? pieces[n] : 0);
         assert_int_equal(missed[2], pass == 0);
      }
      drop(&f);
   }
   /* First in, first out: a hit keeps no entry there. */
   MAKE(&f, { AT(1, ALL, "1,1,4K") }, { AT(2, DATA, "2,full,4K,fifo") },
        { AT(3, ALL, "8,full,4K") });
   expect(&f, D, 1, L1 | L2 | L3, 1);
   expect(&f, D, 2, L1 | L2 | L3, 1);
   expect(&f, D, 1, L1, 0);
   expect(&f, D, 3, L1 | L2 | L3, 1);
   expect(&f, D, 2, L1, 0);
   expect(&f, D, 1, L1 | L2, 0);
   expect(&f, I, 1, HIT, 0);
   expect(&f, I, 3, L1, 0); /* fetches pass the middle by */
   drop(&f);
}

/* --- Cost --- */

TEST(cycles)
{
   fixture f;
   MAKE(&f, { AT(1, ALL, "1,1,4K") },
        { AT(2, ALL, "2,full,4K"), .hit_cycles = 7 },
        { AT(3, ALL, "8,full,4K"), .hit_cycles = 20 });
   assert_int_equal(translate(&f, D, 1, K4, K4).cycles, 0); /* not known */
   f.m.walk_cycles = 100;
   assert_int_equal(translate(&f, D, 1, K4, K4).cycles, 0);
   assert_int_equal(translate(&f, D, 2, K4, K4).cycles, 100);
   assert_int_equal(translate(&f, D, 1, K4, K4).cycles, 7);
   assert_int_equal(translate(&f, D, 3, K4, K4).cycles, 100);
   assert_int_equal(translate(&f, D, 2, K4, K4).cycles, 20);
   f.m.array[2].hit_cycles = TLB_UNKNOWN;
   assert_int_equal(translate(&f, D, 1, K4, K4).cycles, 0);
   assert_int_equal(translate(&f, D, 2, K4, K4).cycles, 7);
   drop(&f);
   /* Of two arrays side by side, the one that has it. */
   MAKE(&f, { AT(1, ALL, "1,1,4K+2M") },
        { AT(2, ALL, "2,full,4K"), .hit_cycles = 3 },
        { AT(2, ALL, "2,full,4K+2M"), .hit_cycles = 5 });
   f.m.walk_cycles = 0;
   for (uint64_t page = 1; page <= 4; page++)
      assert_int_equal(translate(&f, D, page, K4, K4).missed, L1 | L2);
   assert_int_equal(translate(&f, D, 1, K4, K4).cycles, 3);
   assert_int_equal(translate(&f, D, 2, K4, K4).cycles, 3);
   assert_int_equal(translate(&f, D, 3, K4, K4).cycles, 5);
   assert_int_equal(translate(&f, D, 4, K4, K4).cycles, 5);
   drop(&f);
}

/* A walk for a larger page does not take the cycles of the steps behind. */
TEST(step_cycles)
{
   fixture f;
   MAKE(&f, { AT(1, ALL, "1,1,4K"), .splits = 1 });
   f.m.walk_cycles = 47;
   f.m.n_walk_steps = 3;
   f.m.walk[0] = (tlb_walk_step){ .shift = 30, .cycles = 3 };
   f.m.walk[1] = (tlb_walk_step){ .shift = M2, .cycles = 5 };
   f.m.walk[2] = (tlb_walk_step){ .shift = K4, .cycles = 20 };
   tlb_walker_init(&f.h.walker, &f.m, 0, NULL, NULL);
   assert_int_equal(translate(&f, D, 1, K4, K4).cycles, 47);
   assert_int_equal(translate(&f, D, 2, 16, 16).cycles, 47);
   assert_int_equal(translate(&f, D, 3, M2, M2).cycles, 27);
   assert_int_equal(translate(&f, D, 4, 30, 30).cycles, 22);
   drop(&f);
}

/* --- What cannot be --- */

static void refused(const part *parts, unsigned n, unsigned base_shift,
                    const char *expected)
{
   const tlb_machine m = machine_of(parts, n);
   tlb_reason why;
   memset(&why, 'x', sizeof why);
   assert_int_equal(tlb_machine_holds(&m, base_shift, &why) != 0,
                    expected == NULL);
   if (expected != NULL)
      assert_string_equal(why.text, expected);
}

TEST(too_large)
{
   const part first[] = { { AT(1, FETCHES, "4,4,2M") },
                          { AT(1, DATA, "4,4,4K") },
                          { AT(2, ALL, "4,4,4K") } };
   const part loads[] = { { AT(1, FETCHES, "4,4,4K") },
                          { AT(1, LOADS, "4,4,2M+1G") },
                          { AT(1, STORES, "4,4,4K") } };
   const part stores[] = { { AT(1, FETCHES, "4,4") }, { AT(1, LOADS, "4,4") },
                           { AT(2, DATA, "4,4,64K") } };
   const part pieces[] = { { AT(1, FETCHES, "4,4,64K+2M") },
                           { AT(1, DATA, "4,4,64K"), .splits = 1 } };
   refused(first, N(first), K4,
           "no first-level array for instructions holds pages of 4K");
   refused(loads, N(loads), K4,
           "no first-level array for loads holds pages of 4K");
   refused(stores, N(stores), K4,
           "no first-level array for stores holds pages of 4K");
   /* No entry is smaller than a base page. */
   refused(stores, N(stores), K64,
           "no first-level array for instructions holds pages of 64K");
   refused(first, N(first), M16,
           "no first-level array for instructions holds pages of 16M");
   refused(pieces, N(pieces), K64, NULL);
   refused(pieces, N(pieces), M2,
           "no first-level array for loads holds pages of 2M");
}

/* --- Inclusive and exclusive levels --- */

TEST(inclusive)
{
   fixture f;
   MAKE(&f, { AT(1, FETCHES, "4,full") }, { AT(1, DATA, "4,full") },
        { AT(2, ALL, "3,full"), .inclusion = TLB_INCLUSIVE });
   expect(&f, I, 1, L1 | L2, 1);
   expect(&f, D, 2, L1 | L2, 1);
   expect(&f, D, 3, L1 | L2, 1);
   expect(&f, I, 1, HIT, 0); /* of which the second level learns nothing */
   expect(&f, D, 4, L1 | L2, 1);
   expect(&f, D, 2, HIT, 0);
   expect(&f, I, 1, L1 | L2, 1); /* 4 has driven it out, and now it drives out 2 */
   expect(&f, D, 3, HIT, 0);
   expect(&f, D, 2, L1 | L2, 1);
   drop(&f);
}

TEST(inclusive_pieces)
{
   fixture f;
   MAKE(&f, { AT(1, ALL, "8,full,4K"), .splits = 1 },
        { AT(2, ALL, "2,full,4K+2M"), .inclusion = TLB_INCLUSIVE });
   expect_of(&f, D, 512, M2, L1 | L2, 1);
   expect_of(&f, D, 513, M2, L1, 0);
   expect(&f, D, 2, L1 | L2, 1);
   expect(&f, D, 3, L1 | L2, 1); /* both pieces go with their page */
   expect(&f, D, 2, HIT, 0);
   expect_of(&f, D, 513, M2, L1 | L2, 1);
   expect_of(&f, D, 512, M2, L1, 0);
   drop(&f);
}

TEST(inclusive_to_the_front)
{
   fixture f;
   MAKE(&f, { AT(1, ALL, "4,full") }, { AT(2, ALL, "4,full") },
        { AT(3, ALL, "2,full"), .inclusion = TLB_INCLUSIVE });
   expect(&f, D, 1, L1 | L2 | L3, 1);
   expect(&f, D, 2, L1 | L2 | L3, 1);
   expect(&f, D, 3, L1 | L2 | L3, 1);
   expect(&f, D, 1, L1 | L2 | L3, 1);
   expect(&f, D, 3, HIT, 0);
   drop(&f);
}

TEST(exclusive)
{
   fixture f;
   MAKE(&f, { AT(1, ALL, "2,full") },
        { AT(2, ALL, "2,full"), .inclusion = TLB_EXCLUSIVE, .hit_cycles = 7 });
   for (unsigned page = 1; page <= 4; page++)
      expect(&f, D, page, L1 | L2, 1);
   for (unsigned page = 1; page <= 4; page++) { /* all of them are somewhere */
      const tlb_outcome o = translate(&f, D, page, K4, K4);
      assert_int_equal(o.missed, L1);
      assert_int_equal(o.cycles, 7);
   }
   expect(&f, D, 5, L1 | L2, 1); /* drives 3 into the second level, and that 1 out */
   expect(&f, D, 2, L1, 0);
   expect(&f, D, 3, L1, 0);
   expect(&f, D, 1, L1 | L2, 1);
   drop(&f);
}

TEST(exclusive_of_a_size)
{
   fixture f;
   MAKE(&f, { AT(1, ALL, "1,full,4K+2M") },
        { AT(2, ALL, "4,full,4K"), .inclusion = TLB_EXCLUSIVE });
   expect_of(&f, D, 512, M2, L1, 1);
   expect(&f, D, 1, L1 | L2, 1);
   expect_of(&f, D, 512, M2, L1, 1); /* it was lost */
   expect(&f, D, 1, L1, 0);
   drop(&f);
}

TEST(exclusive_behind_exclusive)
{
   fixture f;
   MAKE(&f, { AT(1, ALL, "1,full") }, { AT(2, ALL, "1,full"), .inclusion = TLB_EXCLUSIVE },
        { AT(3, ALL, "1,full"), .inclusion = TLB_EXCLUSIVE });
   for (unsigned page = 1; page <= 3; page++)
      expect(&f, D, page, L1 | L2 | L3, 1);
   expect(&f, D, 1, L1 | L2, 0);
   expect(&f, D, 3, L1, 0);
   expect(&f, D, 2, L1 | L2, 0);
   expect(&f, D, 4, L1 | L2 | L3, 1);
   expect(&f, D, 1, L1 | L2 | L3, 1);
   drop(&f);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("a miss of a single level walks, and fetches do not see the arrays of data", one_level),
      CLAIM("a hit in the second level fills the first", filled_on_the_way),
      CLAIM("a hit in the first level is no reference to the second", not_asked),
      CLAIM("a unified second level is filled and evicted by both sides",
            unified),
      CLAIM("a second level of an array for each side is filled by that side alone", apart),
      CLAIM("three levels are asked in turn and filled on the way back", three_levels),
      CLAIM("a side without an array in a level goes on to the next level, or walks", one_sided),
      CLAIM("a unified first level is filled and evicted by both sides", shared_first),
      CLAIM("one level can be asked alone", one_level_only),
      CLAIM("a miss that the caller finds in the first level goes on behind it", behind),
      CLAIM("contexts are apart in every level", contexts),
      CLAIM("short cuts of the first level are released by its own evictions",
            released),
      CLAIM("arrays of odd sizes do not overlap in memory", odd_sizes),
      CLAIM("a page goes to the array that holds its size", own_arrays),
      CLAIM("pages of two sizes in one array are not taken for each other",
            sizes_apart),
      CLAIM("an array that splits takes a page in its largest pieces",
            in_pieces),
      CLAIM("a page of a size that an array does not hold enters as the next smaller size",
            next_smaller),
      CLAIM("a level that cannot hold a page is passed by and counts no miss", bypassed),
      CLAIM("a first level splits a page that none of its arrays holds", nowhere_else),
      CLAIM("no entry is smaller than a base page", larger_base),
      CLAIM("a block of base pages is one entry where the array coalesces",
            blocks),
      CLAIM("each level coalesces by its own block size", block_beside_page),
      CLAIM("two LRU arrays side by side are one of all their ways to base "
            "pages", side_by_side),
      CLAIM("a large page stays in the one of two arrays side by side that holds it", large_beside),
      CLAIM("arrays for loads and for stores are apart", loads_and_stores),
      CLAIM("stores without a first level ask the second level first", no_first_level),
      CLAIM("a walk finds the page-table entry that the walked-for page then evicts",
            walks_come_first),
      CLAIM("a loop over a 16M page in 256 pieces always misses an ERAT of 128, and the TLB once",
            erat),
      CLAIM("a second ERAT in FIFO order stands between the first and the TLB", erat_in_the_middle),
      CLAIM("what an inclusive level evicts leaves the level in front of it, whoever uses it there",
            inclusive),
      CLAIM("the pieces of a page leave with it", inclusive_pieces),
      CLAIM("an inclusive third level reaches to the first", inclusive_to_the_front),
      CLAIM("an exclusive level has what the first gives up, until it is hit", exclusive),
      CLAIM("an entry of a size that an exclusive level does not hold is lost",
            exclusive_of_a_size),
      CLAIM("what one exclusive level gives up goes to the next", exclusive_behind_exclusive),
      CLAIM("a walk for a larger page does not pay for the steps behind", step_cycles),
      CLAIM("a hit costs what its level says, a walk what the machine says",
            cycles),
      CLAIM("base pages that no first level holds are refused in words that name the side",
            too_large),
   };
   return cmocka_run_group_tests_name("hierarchy", tests, NULL, NULL);
}
