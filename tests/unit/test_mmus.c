/* Unit tests of sim/mmu: MMUs of many machines.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "pagemap_support.h"

#include "sim/machine/builtin.h"
#include "sim/machine/machine_file.h"
#include "sim/mmu/l2_presence.h"
#include "sim/mmu/late_misses.h"
#include "sim/mmu/mmu_data.h"

enum { SHIFT = 12, MANY = TLB_MAX_MMUS };

typedef struct {
   unsigned n;
   tlb_machine machine[MANY];
   tlb_mmu_machine given[MANY];
} machines;

/* The first `n` machines that come with tlbgrind, from number `from` on, round and round. */
static void take_machines(machines *m, unsigned from, unsigned n, const tlb_page_policy *pages)
{
   m->n = 0;
   for (unsigned i = 0; i < n; i++) {
      const tlb_builtin *const b = tlb_builtin_at((from + i) % tlb_n_builtins());
      uint32_t line;
      tlb_reason why;
      if (!tlb_machine_parse(b->text, b->length, &m->machine[i], &line, &why))
         fail_msg("%s: %s", b->name, why.text);
      m->given[i] = (tlb_mmu_machine){ .machine = &m->machine[i], .pages = pages,
                                       .asks = tlb_mmus_asks(&m->machine[i], pages) };
      m->n++;
   }
}

static tlb_mmus *made(const machines *m, bool exhaustive, tlb_pagemap *map)
{
   const tlb_mmus_options o = { .n = m->n, .machine = m->given, .page_shift = SHIFT,
                                .exhaustive = exhaustive, .memory = memory, .map = map };
   return tlb_mmus_new(&o);
}

/* --- Streams --- */

typedef struct {
   uint64_t random;
   uint64_t hot; /* where it mostly is */
} stream;

/* Runs of pages, with jumps, over so many of them. */
static uint64_t next_page(stream *s, uint64_t pages)
{
   const uint64_t r = unit_random(&s->random) >> 8;
   if (r % 16 == 0)
      s->hot = r / 16 % pages;
   else if (r % 16 < 8)
      s->hot = (s->hot + r / 16 % 3) % pages;
   return r % 16 < 12 ? s->hot : (s->hot + r / 16 % 40) % pages;
}

static tlb_user next_user(stream *s)
{
   static const tlb_user users[] = { TLB_FETCH, TLB_LOAD, TLB_LOAD, TLB_STORE };
   return users[unit_random(&s->random) >> 20 & 3];
}

/* Code lies apart from data, but for a few pages. */
static uint64_t page_of(tlb_user user, uint64_t page)
{
   return user == TLB_FETCH && page > 4 ? 5000 + page : page;
}

static void assert_right(tlb_mmus *all)
{
   const char *const wrong = tlb_mmus_check(all);
   if (wrong != NULL)
      fail_msg("%s", wrong);
}

static void assert_same_counts(tlb_mmus *a, tlb_mmus *b, unsigned n)
{
   for (unsigned i = 0; i < n; i++) {
      for (unsigned user = 0; user < TLB_N_USERS; user++) {
         uint64_t x[TLB_N_COSTS], y[TLB_N_COSTS];
         tlb_mmus_counts(a, i, user, x);
         tlb_mmus_counts(b, i, user, y);
         for (unsigned cost = 0; cost < TLB_N_COSTS; cost++) {
            if (x[cost] != y[cost])
               fail_msg("machine %u, user %u, cost %u: %lu, not %lu", i, user, cost,
                        (unsigned long)x[cost], (unsigned long)y[cost]);
         }
      }
   }
}

/* --- Against machines that are simulated alone, each in full --- */

typedef struct {
   tlb_hierarchy h;
   void *memory;
   uint64_t cost[TLB_N_USERS][TLB_N_COSTS];
} alone;

static void translate_alone(alone *a, tlb_user user, uint64_t page, uint64_t now)
{
   const uint8_t base = (uint8_t)a->h.machine->base_page_shift;
   const tlb_reference r = { .page = page, .now = now, .user = (uint8_t)user,
                             .page_shift = base, .block_shift = SHIFT };
   const tlb_outcome o = tlb_translate(&a->h, &r);
   uint64_t *const cost = a->cost[user];
   for (unsigned level = 0; level < 3; level++)
      cost[TLB_COST_MISS_1 + level] += o.missed >> level & 1;
   cost[TLB_COST_WALKS] += o.walked != 0;
   cost[TLB_COST_WALK_REFERENCES] += o.walk_references;
   cost[TLB_COST_CYCLES] += o.cycles;
}

/* `late`: their misses are looked up later, a few thousand at once. */
static void run_beside_machines_alone(unsigned from, unsigned n, bool late)
{
   static machines m;
   alone *const a = calloc(n, sizeof *a);
   stream s = { from + 1, 0 };
   take_machines(&m, from, n, NULL);
   for (unsigned i = 0; i < n; i++) {
      m.given[i].asks = false; /* base pages, of which none coalesce */
      a[i].memory = malloc(tlb_hierarchy_bytes(&m.machine[i]));
      tlb_hierarchy_init(&a[i].h, &m.machine[i], SHIFT, 0, a[i].memory, NULL, NULL, NULL);
   }
   tlb_mmus *const all = made(&m, false, NULL);
   if (late)
      tlb_late_begin(all);
   for (unsigned step = 1; step <= 20000; step++) {
      const tlb_user user = next_user(&s);
      const uint64_t page = page_of(user, next_page(&s, 3000));
      tlb_mmus_refer(all, user, page << SHIFT | 40, 8);
      for (unsigned i = 0; i < n; i++)
         translate_alone(&a[i], user, page, 2 * step);
   }
   if (late)
      assert_true(all->late.n > 0 || n < MANY);
   tlb_late_do(all);
   assert_right(all);
   for (unsigned i = 0; i < n; i++) {
      for (unsigned user = 0; user < TLB_N_USERS; user++) {
         uint64_t cost[TLB_N_COSTS];
         tlb_mmus_counts(all, i, user, cost);
         for (unsigned c = 0; c < TLB_N_COSTS; c++)
            assert_int_equal(cost[c], a[i].cost[user][c]);
      }
      free(a[i].memory);
   }
   tlb_mmus_free(all);
   free(a);
   assert_int_equal(given, 0);
}

TEST(test_many_are_each_alone)
{
   run_beside_machines_alone(0, MANY < tlb_n_builtins() ? MANY : tlb_n_builtins(), false);
}

TEST(test_each_alone)
{
   for (unsigned i = 0; i < tlb_n_builtins(); i += 3)
      run_beside_machines_alone(i, 1, false);
}

TEST(test_few_are_each_alone)
{
   for (unsigned i = 0; i < tlb_n_builtins(); i += 5)
      run_beside_machines_alone(i, 2 + i % 7, false);
}

TEST(test_late_is_the_same)
{
   run_beside_machines_alone(tlb_n_builtins() - MANY, MANY, true);
   for (unsigned i = 2; i < tlb_n_builtins(); i += 5)
      run_beside_machines_alone(i, 1 + i % 7, true);
}

/* --- Page sizes that change --- */

enum { PAGES = 4096 };

static void change(tlb_pagemap map[2], uint64_t r)
{
   const uint64_t start = r % PAGES << SHIFT;
   const uint64_t end = start + ((1 + r / PAGES % 700) << SHIFT);
   for (unsigned i = 0; i < 2; i++) {
      const tlb_mapping m = { .start = start, .end = end, .kind = TLB_ANON,
                              .prot = TLB_MAY_READ | TLB_MAY_WRITE };
      switch (r >> 40 & 3) {
      case 0: tlb_pagemap_unmap(&map[i], start, end); break;
      case 1: tlb_pagemap_map(&map[i], &m); break;
      case 2: tlb_pagemap_zap(&map[i], start, end); break;
      default: tlb_pagemap_flag(&map[i], start, end, TLB_MAP_HUGEPAGE, 0); break;
      }
   }
}

/* Machines that look up what matters, beside the same that look up each reference. Half
   way the program asks for huge pages. */
static void run_beside_exhaustive(unsigned from, unsigned n, const char *rules)
{
   static machines m;
   const tlb_page_policy policy = policy_of(rules, "", SHIFT);
   tlb_pagemap map[2];
   tlb_mmus *all[2];
   stream s = { from + 77, 0 };
   take_machines(&m, from, n, &policy);
   for (unsigned i = 0; i < 2; i++) {
      const tlb_mapping whole = { .start = 0, .end = 2 * PAGES << SHIFT, .kind = TLB_ANON,
                                  .prot = TLB_MAY_READ | TLB_MAY_WRITE };
      tlb_pagemap_init(&map[i], &memory);
      tlb_pagemap_map(&map[i], &whole);
      all[i] = made(&m, i == 1, &map[i]);
   }
   tlb_late_begin(all[0]);
   for (unsigned step = 0; step < 12000; step++) {
      const tlb_user user = next_user(&s);
      const uint64_t page = page_of(user, next_page(&s, 2500));
      if (step % 100 == 99 || step == 6000)
         tlb_late_do(all[0]);
      if (step == 6000) {
         tlb_mmus_ask(all[0]);
         tlb_mmus_ask(all[1]);
      }
      if (step % 100 == 99 && (step > 6000 || rules[0] != '\0'))
         change(map, unit_random(&s.random));
      tlb_mmus_refer(all[0], user, page << SHIFT | 4000, 8 + step % 2 * 96);
      tlb_mmus_refer(all[1], user, page << SHIFT | 4000, 8 + step % 2 * 96);
      if (step % 2000 == 1999)
         assert_right(all[0]);
   }
   tlb_late_do(all[0]);
   assert_same_counts(all[0], all[1], n);
   for (unsigned i = 0; i < 2; i++) {
      tlb_mmus_free(all[i]);
      tlb_pagemap_free(&map[i]);
   }
   assert_int_equal(given, 0);
}

TEST(test_pages_change)
{
   for (unsigned i = 0; i < tlb_n_builtins(); i += 6)
      run_beside_exhaustive(i, 1 + i % 4, i % 4 == 0 ? "all:2M" : "");
   run_beside_exhaustive(3, 24, "");
   run_beside_exhaustive(5, 24, "all:thp");
}

/* --- One tlb_mmus after the other --- */

TEST(test_a_thousand)
{
   static machines m;
   for (unsigned i = 0; i < 1000; i++) {
      take_machines(&m, i, 1 + i % 3, NULL);
      tlb_mmus *const all = made(&m, false, NULL);
      uint64_t cost[TLB_N_COSTS];
      tlb_mmus_refer(all, TLB_LOAD, (uint64_t)i << 30, 4);
      tlb_mmus_refer(all, TLB_LOAD, (uint64_t)i << 30, 4);
      tlb_mmus_counts(all, 0, TLB_LOAD, cost);
      assert_int_equal(cost[TLB_COST_MISS_1], 1);
      assert_int_equal(cost[TLB_COST_WALKS], 1);
      tlb_mmus_free(all);
      assert_int_equal(given, 0);
   }
}

TEST(test_two_pages)
{
   static machines m;
   uint64_t cost[TLB_N_COSTS];
   take_machines(&m, 0, 3, NULL);
   tlb_mmus *const all = made(&m, false, NULL);
   tlb_mmus_refer(all, TLB_STORE, (1 << 20) - 3, 8);
   tlb_mmus_counts(all, 0, TLB_STORE, cost);
   assert_int_equal(cost[TLB_COST_MISS_1], 2);
   tlb_mmus_free(all);
}

/* --- The check --- */

static tlb_mmus *warm(machines *m)
{
   stream s = { 5, 0 };
   take_machines(m, 0, 8, NULL);
   tlb_mmus *const all = made(m, false, NULL);
   for (unsigned i = 0; i < 5000; i++) {
      const tlb_user user = next_user(&s);
      tlb_mmus_refer(all, user, page_of(user, next_page(&s, 600)) << SHIFT, 1);
   }
   assert_right(all);
   return all;
}

TEST(test_check_finds_damage)
{
   static machines m;
   for (unsigned damage = 0; damage < 6; damage++) {
      tlb_mmus *const all = warm(&m);
      tlb_array *const a = &all->mmu[0].h.array[0];
      tlb_page *p = &all->near[0].page;
      switch (damage) {
      case 0: a->n_attached++; break;
      case 1: a->key[0] ^= 1 << 20; break;
      case 2: a->filled[0]--; break;
      case 3:
         while (tlb_rest(p)->observers == 0)
            p = tlb_page_at(p, 1);
         tlb_rest(p)->observers = 0;
         break;
      case 4:
         while (tlb_rest(p)->observers != 0)
            p = tlb_page_at(p, 1);
         tlb_rest(p)->observers = 1;
         break;
      default: {
         unsigned i = 1;
         while (tlb_l2_page(all, i)->held[TLB_DATA] == 0)
            i++;
         tlb_l2_page(all, i)->held[TLB_DATA] = 0;
      }
      }
      assert_non_null(tlb_mmus_check(all));
      tlb_mmus_free(all);
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("many machines at once count what each counts alone", test_many_are_each_alone),
      CLAIM("a few machines at once count what each counts alone", test_few_are_each_alone),
      CLAIM("misses that are looked up later are counted as at once", test_late_is_the_same),
      CLAIM("one machine counts what its arrays count without short cuts", test_each_alone),
      CLAIM("with pages that change, the same is counted as with each reference looked up",
            test_pages_change),
      CLAIM("a thousand sets of MMUs, one after the other, give all memory back",
            test_a_thousand),
      CLAIM("a reference that crosses to another page misses twice", test_two_pages),
      CLAIM("what is damaged is found", test_check_finds_damage),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
