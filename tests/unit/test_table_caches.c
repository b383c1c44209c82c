/* Caches of page tables: what follows from the order of the references, and lists of lines beside.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/tlb/table_caches.h"

enum { FAR = 40, MEMORY = 200 };

/* Two caches; the second is `times` as large. */
static tlb_machine machine(uint32_t ways, uint32_t sets, uint32_t times, uint32_t second_line)
{
   tlb_machine m;
   memset(&m, 0, sizeof m);
   m.n_walk_steps = 1;
   m.walk_cycles = 30;
   m.n_caches = 2;
   m.cache[0] = (tlb_table_cache){ .line = 64, .ways = ways, .share = 100,
                                   .size = 64 * ways * sets };
   m.cache[1] = (tlb_table_cache){ .line = second_line, .ways = ways, .share = 100,
                                   .size = second_line * ways * sets * times, .cycles = FAR };
   m.memory.cycles = MEMORY;
   return m;
}

typedef struct {
   tlb_table_caches t;
   tlb_machine m;
   void *memory;
} caches;

static caches *made(tlb_machine m)
{
   caches *const c = malloc(sizeof *c);
   c->m = m;
   c->memory = malloc(tlb_table_caches_bytes(&c->m));
   tlb_table_caches_init(&c->t, &c->m, c->memory);
   return c;
}

static void gone(caches *c)
{
   free(c->memory);
   free(c);
}

static uint32_t read_line(caches *c, uint64_t line)
{
   return tlb_table_caches_read(&c->t, TLB_OF_STEP, 0, 8 * line);
}

static const uint32_t all_ways[] = { 1, 2, 3, 4, 5, 8, 12, 16, 20 };

static void lines_that_fit(void **state)
{
   (void)state;
   for (size_t i = 0; i < sizeof all_ways / sizeof *all_ways; i++) {
      const uint32_t n = all_ways[i] * 4;
      caches *const c = made(machine(all_ways[i], 4, 2, 64));
      for (unsigned round = 0; round < 3; round++) {
         for (uint64_t line = 0; line < n; line++)
            assert_int_equal(read_line(c, line), round == 0 ? MEMORY : 0);
      }
      gone(c);
   }
}

static void one_line_more(void **state)
{
   (void)state;
   for (size_t i = 0; i < sizeof all_ways / sizeof *all_ways; i++) {
      const uint32_t n = all_ways[i] + 1;
      caches *const c = made(machine(all_ways[i], 1, 2, 64));
      for (unsigned round = 0; round < 3; round++) {
         for (uint64_t line = 0; line < n; line++)
            assert_int_equal(read_line(c, line), round == 0 ? MEMORY : FAR);
      }
      gone(c);
   }
}

static void entries_of_one_line(void **state)
{
   caches *const c = made(machine(8, 4, 2, 64));
   (void)state;
   assert_int_equal(tlb_table_caches_read(&c->t, TLB_OF_STEP, 0, 16), MEMORY);
   assert_int_equal(tlb_table_caches_read(&c->t, TLB_OF_STEP, 0, 23), 0);
   assert_int_equal(tlb_table_caches_read(&c->t, TLB_OF_STEP, 0, 24), MEMORY);
   gone(c);
}

static void longer_line(void **state)
{
   caches *const c = made(machine(8, 4, 2, 128));
   (void)state;
   assert_int_equal(read_line(c, 6), MEMORY);
   assert_int_equal(read_line(c, 7), FAR);
   assert_int_equal(read_line(c, 8), MEMORY);
   assert_int_equal(read_line(c, 6), 0);
   gone(c);
}

static void owners(void **state)
{
   caches *const c = made(machine(16, 16, 4, 64));
   (void)state;
   for (unsigned round = 0; round < 2; round++) {
      const uint32_t cost = round == 0 ? MEMORY : 0;
      assert_int_equal(tlb_table_caches_read(&c->t, TLB_OF_STEP, 0, 0), cost);
      assert_int_equal(tlb_table_caches_read(&c->t, TLB_OF_STEP + 1, 0, 0), cost);
      assert_int_equal(tlb_table_caches_read(&c->t, TLB_OF_STEP, 1, 0), cost);
      assert_int_equal(tlb_table_caches_read_alone(&c->t, TLB_OF_HOST, 0, 0, 0), cost);
      assert_int_equal(tlb_table_caches_read_alone(&c->t, TLB_OF_HOST, 0, 0, 1), cost);
   }
   gone(c);
}

/* Regions are far apart: each has a name of its own, and the same set. */
static void far_regions(void **state)
{
   caches *const c = made(machine(16, 64, 16, 64));
   (void)state;
   for (unsigned round = 0; round < 2; round++) {
      for (uint64_t region = 0; region < 500; region++)
         assert_int_equal(read_line(c, region << 19 | (region & 63)), round == 0 ? MEMORY : 0);
   }
   gone(c);
}

static void too_many_regions(void **state)
{
   caches *const c = made(machine(4, 1, 2, 64));
   (void)state;
   for (uint64_t region = 0; region < TLB_N_REGIONS; region++)
      assert_int_equal(read_line(c, region << 19), MEMORY);
   for (unsigned round = 0; round < 2; round++)
      assert_int_equal(read_line(c, (uint64_t)TLB_N_REGIONS << 19), MEMORY);
   assert_int_equal(read_line(c, (uint64_t)(TLB_N_REGIONS - 1) << 19), 0);
   gone(c);
}

/* A set as a list, and references that come back to few lines and to many. */
typedef struct {
   uint64_t line[20];
   uint32_t n;
} list;

static bool use_list(list *l, uint32_t ways, uint64_t line)
{
   uint32_t at = 0;
   while (at < l->n && l->line[at] != line)
      at++;
   const bool found = at < l->n;
   if (!found && l->n < ways)
      l->n++;
   for (uint32_t i = found ? at : l->n - 1; i > 0; i--)
      l->line[i] = l->line[i - 1];
   l->line[0] = line;
   return found;
}

static void lists(void **state)
{
   uint64_t x = 88172645463325252u;
   (void)state;
   for (size_t w = 0; w < sizeof all_ways / sizeof *all_ways; w++) {
      enum { SETS = 3 };
      list near[SETS] = { { .n = 0 } }, far[2 * SETS] = { { .n = 0 } };
      const uint32_t ways = all_ways[w];
      caches *const c = made(machine(ways, SETS, 2, 64));
      for (unsigned i = 0; i < 20000; i++) {
         x ^= x << 13;
         x ^= x >> 7;
         x ^= x << 17;
         const uint64_t line = x % (i % 5 == 0 ? 16 * ways : 4 * ways);
         const uint32_t cost = use_list(&near[line % SETS], ways, line)        ? 0
                               : use_list(&far[line % (2 * SETS)], ways, line) ? (uint32_t)FAR
                                                                               : (uint32_t)MEMORY;
         assert_int_equal(read_line(c, line), cost);
      }
      gone(c);
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("lines that fit come from the memory once", lines_that_fit),
      CLAIM("one line more in turn drives each to the next cache", one_line_more),
      CLAIM("the entries of a line are there together", entries_of_one_line),
      CLAIM("a longer line of a farther cache brings its neighbour", longer_line),
      CLAIM("steps, contexts and hosts have lines of their own", owners),
      CLAIM("lines of regions that are far apart differ", far_regions),
      CLAIM("where there are no more names for regions, lines cost the memory", too_many_regions),
      CLAIM("sets of any number of ways are kept as lists are", lists),
   };
   return cmocka_run_group_tests_name("table caches", tests, NULL, NULL);
}
