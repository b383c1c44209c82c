/* Lazy LRU arrays, compared with arrays that see each reference.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/tlb/lazy_lru.h"

enum { PAGES = 600, SHELVES = 7, TIMES = 5, ROUNDS = 60000, PAGE_SHIFT = 12 };

/* What a lazy LRU array is asked: which of a page's times are of its misses, on each
   side. */
typedef struct {
   const char *geometry;
   uint16_t from[TLB_LAZY_LRU_SIDES], to[TLB_LAZY_LRU_SIDES];
} asked;

/* Times 0 to 2 are those of an LRU stack of three sizes on the one side: an array
   with one of these sizes is asked for what it and the smaller ones miss. */
static const asked all[SHELVES] = {
   { "64,4", { 0, 3 }, { 3, 4 } },  { "96,6", { 1, 3 }, { 3, 4 } },
   { "128,8", { 2, 4 }, { 3, 5 } }, { "40,5", { 0, 4 }, { 3, 5 } },
   { "36,12", { 2, 3 }, { 3, 3 } }, { "16,1", { 0, 3 }, { 0, 5 } },
   { "64,16", { 1, 3 }, { 3, 5 } },
};

typedef struct {
   tlb_lazy_lru lazy_lru;
   unit_array model;
} both;

static both lazy_lrus[SHELVES];
static tlb_lazy_lru_page *pages[PAGES];

static void make(void)
{
   for (uint32_t i = 0; i < PAGES; i++) {
      pages[i] = calloc(1, sizeof *pages[i] + TIMES * sizeof(uint64_t));
      assert_non_null(pages[i]);
      pages[i]->number = i;
   }
   for (uint32_t i = 0; i < SHELVES; i++) {
      both *const b = &lazy_lrus[i];
      const tlb_geometry g = unit_geometry(all[i].geometry);
      unit_array_make(&b->model, &g, NULL, NULL);
      const size_t bytes = tlb_lazy_lru_bytes(b->model.a.sets, g.ways);
      void *const memory = malloc(bytes);
      assert_non_null(memory);
      memset(memory, 0xA5, bytes);
      tlb_lazy_lru_init(&b->lazy_lru, b->model.a.sets, g.ways, g.index_xor, memory);
      for (uint32_t side = 0; side < TLB_LAZY_LRU_SIDES; side++) {
         b->lazy_lru.from[side] = all[i].from[side];
         b->lazy_lru.to[side] = all[i].to[side];
         b->lazy_lru.bit[side] = all[i].from[side] < all[i].to[side]
                                 ? UINT64_C(1) << (i + 50) : 0;
      }
   }
}

static void unmake(void)
{
   for (uint32_t i = 0; i < SHELVES; i++) {
      free(lazy_lrus[i].lazy_lru.memory);
      unit_array_free(&lazy_lrus[i].model);
   }
   for (uint32_t i = 0; i < PAGES; i++)
      free(pages[i]);
}

static int model_has(tlb_array *a, tlb_key key, uint64_t now)
{
   if (tlb_array_lookup(a, key, now) != TLB_MISS)
      return 1;
   tlb_array_fill(a, key, now);
   return 0;
}

/* What walks keep there: on one lazy LRU array at a time. */
static void refer_key(both *b, tlb_key key, uint64_t now)
{
   const int there = tlb_lazy_lru_find(&b->lazy_lru, key, now);
   assert_int_equal(there, model_has(&b->model.a, key, now));
   if (!there)
      tlb_lazy_lru_fill_key(&b->lazy_lru, key, now);
}

/* The page was missed on that side, by all that share that time. An array that does
   not have it walks, if `walks`, and keeps the entries of two steps, with one time before
   the page's, in whatever sets these go to. Returns how many did not have it. */
static unsigned refer(tlb_lazy_lru_page *p, uint32_t side, uint32_t time, uint64_t now,
                      int walks)
{
   unsigned missed = 0;
   uint64_t absent = 0;
   for (uint32_t i = 0; i < SHELVES; i++) {
      both *const b = &lazy_lrus[i];
      if (time < b->lazy_lru.from[side] || time >= b->lazy_lru.to[side])
         continue;
      const int held = (p->held[side] & b->lazy_lru.bit[side]) != 0;
      assert_int_equal(held, model_has(&b->model.a,
                                       tlb_key_of(p->number, PAGE_SHIFT, 0), now));
      missed += !held;
      if (!held)
         tlb_lazy_lru_fill(&b->lazy_lru, p, now);
      assert_true((p->held[side] & b->lazy_lru.bit[side]) != 0);
      absent |= held ? 0 : UINT64_C(1) << i;
   }
   p->time[time] = p->last = now;
   for (uint32_t i = 0; walks && i < SHELVES; i++) {
      if ((absent >> i & 1) == 0)
         continue;
      refer_key(&lazy_lrus[i], tlb_key_of(p->number / 2, PAGE_SHIFT + 18, 0), now - 1);
      refer_key(&lazy_lrus[i], tlb_key_of(p->number / 2, PAGE_SHIFT + 9, 0), now - 1);
   }
   return missed;
}

/* Random references up to the time `end`; one in so many is to a key. */
static unsigned run(uint64_t *seed, uint64_t now, uint64_t end, uint32_t keys,
                    int walks)
{
   unsigned missed = 0;
   for (; now < end; now += 2) {
      const uint64_t draw = unit_random(seed);
      const uint32_t time = (uint32_t)(draw >> 8) % TIMES;
      /* Near pages more often than far ones. */
      const uint32_t among = draw % 16 < 12 ? 150 : PAGES;
      if (keys > 0 && (draw >> 32) % keys == 0)
         refer_key(&lazy_lrus[(draw >> 40) % SHELVES],
                   tlb_key_of((draw >> 16) % 100, PAGE_SHIFT + 30, 0), now);
      else
         missed += refer(pages[(draw >> 16) % among], time >= 3, time, now + 1,
                         walks);
   }
   return missed;
}

TEST(as_arrays)
{
   static const uint32_t keys[] = { 0, 50, 5 };
   for (uint32_t i = 0; i < sizeof keys / sizeof *keys; i++) {
      uint64_t seed = i + 1;
      make();
      assert_true(run(&seed, 2, ROUNDS, keys[i], i == 0) > ROUNDS / 8);
      unmake();
   }
}

/* Once moved, an array says what the model says. */
TEST(moved)
{
   uint64_t seed = 9;
   make();
   run(&seed, 2, ROUNDS / 4, 20, 1);
   for (uint32_t i = 0; i < SHELVES; i++) {
      both *const b = &lazy_lrus[i];
      unit_array own;
      unit_array_make(&own, &b->model.a.g, NULL, NULL);
      tlb_lazy_lru_move(&b->lazy_lru, 0, &own.a, PAGE_SHIFT);
      for (uint64_t now = ROUNDS; now < 2 * ROUNDS; now++) {
         const tlb_key key = tlb_key_of(unit_random(&seed) % 200, PAGE_SHIFT, 0);
         assert_int_equal(model_has(&own.a, key, now),
                          model_has(&b->model.a, key, now));
      }
      unit_array_free(&own);
   }
   unmake();
}

/* Two arrays side by side are one lazy LRU array: each gets its ways. */
TEST(side_by_side)
{
   const tlb_geometry g = unit_geometry("16,4");
   unit_array half[2];
   tlb_lazy_lru s;
   void *const memory = malloc(tlb_lazy_lru_bytes(4, 8));
   assert_non_null(memory);
   make();
   tlb_lazy_lru_init(&s, 4, 8, 0, memory);
   for (uint32_t i = 0; i < 24; i++)
      tlb_lazy_lru_fill(&s, pages[i], i + 1);
   for (uint32_t i = 0; i < 2; i++) {
      unit_array_make(&half[i], &g, NULL, NULL);
      tlb_lazy_lru_move(&s, 4 * i, &half[i].a, PAGE_SHIFT);
   }
   for (uint32_t i = 0; i < 24; i++) {
      const tlb_key key = tlb_key_of(i, PAGE_SHIFT, 0);
      const uint32_t where = i >= 16;
      assert_int_not_equal(tlb_array_lookup(&half[where].a, key, 100 + i), TLB_MISS);
      assert_int_equal(tlb_array_lookup(&half[!where].a, key, 100 + i), TLB_MISS);
   }
   unit_array_free(&half[0]);
   unit_array_free(&half[1]);
   unmake();
   free(memory);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("lazy LRU arrays that share pages and times miss what arrays miss", as_arrays),
      CLAIM("an array that takes over from a lazy one goes on like its model", moved),
      CLAIM("two arrays that take over from one lazy array each get the entries of their ways",
            side_by_side),
   };
   return cmocka_run_group_tests_name("shelf", tests, NULL, NULL);
}
