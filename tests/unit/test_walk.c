/* Page walks: numbers of references that follow from the pattern.
   tests/model/test_walk.py has the random walks.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/machine/builtin.h"
#include "sim/machine/machine_file.h"
#include "sim/tlb/walk.h"

/* A machine with the steps of x86-64, uncached, and one array for all. */
static tlb_machine x86_64(void)
{
   static const unsigned shifts[] = { 39, 30, 21, 12 };
   tlb_machine m;
   memset(&m, 0, sizeof m);
   m.n_arrays = 1;
   m.array[0].level = 1;
   m.array[0].users = TLB_FETCHES | TLB_LOADS | TLB_STORES;
   m.array[0].g = unit_geometry("64,4,4K+2M+1G");
   m.n_walk_steps = 4;
   for (unsigned i = 0; i < 4; i++)
      m.walk[i].shift = shifts[i];
   return m;
}

static void cache(tlb_machine *m, unsigned step, uint32_t entries)
{
   m->walk[step].cached = 1;
   m->walk[step].g = (tlb_geometry){
      .entries = entries, .ways = entries, .policy = TLB_LRU,
      .page_sizes = UINT64_C(1) << m->walk[step].shift
   };
}

typedef struct {
   tlb_walker w;
   tlb_machine m;
   void *memory;
   uint64_t now;
} unit_walker;

static void make(unit_walker *u, const tlb_machine *m, int nested,
                 tlb_array *last)
{
   const size_t size = tlb_walker_bytes(m);
   memset(&u->w, 0xA5, sizeof u->w);
   u->m = *m;
   u->now = 0;
   u->memory = malloc(size + (size == 0));
   assert_non_null(u->memory);
   memset(u->memory, 0xA5, size);
   tlb_walker_init(&u->w, &u->m, nested, u->memory, last);
}

/* References for n walks, from page number `first` on; page_shift says how
   large they are. */
static uint64_t sequence(unit_walker *u, uint64_t first, uint64_t n,
                         unsigned page_shift)
{
   uint64_t references = 0;
   for (uint64_t page = first; page < first + n; page++)
      references += tlb_walk(&u->w, page << page_shift, page_shift, 0,
                             ++u->now);
   return references;
}

static uint64_t in_all(const tlb_machine *m, int nested, uint64_t first,
                       uint64_t n, unsigned page_shift)
{
   unit_walker u;
   make(&u, m, nested, NULL);
   const uint64_t references = sequence(&u, first, n, page_shift);
   free(u.memory);
   return references;
}

TEST(uncached)
{
   const tlb_machine m = x86_64();
   assert_int_equal(in_all(&m, 0, 0, 1000, 12), 4000);
   assert_int_equal(in_all(&m, 0, 77777, 1000, 21), 3000);
   assert_int_equal(in_all(&m, 0, 3, 1000, 30), 2000);
   assert_int_equal(in_all(&m, 0, 3, 100, 39), 100);
   /* Pages that no step is made for: 64K are sixteen entries of the last one,
      16M are eight of the one above. */
   assert_int_equal(in_all(&m, 0, 0, 1000, 16), 4000);
   assert_int_equal(in_all(&m, 0, 0, 1000, 24), 3000);
}

TEST(sequential)
{
   tlb_machine m = x86_64();
   /* One PDE: two references more whenever a page table is new. */
   cache(&m, 2, 1);
   assert_int_equal(in_all(&m, 0, 0, 512, 12), 512 + 3);
   assert_int_equal(in_all(&m, 0, 0, 513, 12), 513 + 2 * 3);
   assert_int_equal(in_all(&m, 0, 511, 2, 12), 2 + 2 * 3);
   assert_int_equal(in_all(&m, 0, 0, 1 << 20, 12), (1 << 20) + 2048 * 3);
   /* PDEs lead to tables of 4K pages only. */
   assert_int_equal(in_all(&m, 0, 0, 100, 21), 300);

   /* And one of each step above: the root once, the rest when it changes. */
   cache(&m, 1, 1);
   cache(&m, 0, 1);
   assert_int_equal(in_all(&m, 0, 0, 1 << 20, 12),
                    (1 << 20) + 2048 + 4 + 1);
   assert_int_equal(in_all(&m, 0, 0, 1 << 12, 21), (1 << 12) + 8 + 1);
   assert_int_equal(in_all(&m, 0, 0, 1 << 10, 30), (1 << 10) + 2);
   assert_int_equal(in_all(&m, 0, (UINT64_C(1) << 35) - 1, 2, 12), 2 * 4);
}

/* W pages in turn, each under a PDE of its own, E of which are kept. */
TEST(knee)
{
   for (uint32_t w = 15; w <= 17; w++) {
      tlb_machine m = x86_64();
      unit_walker u;
      cache(&m, 2, 16);
      cache(&m, 1, 4);
      make(&u, &m, 0, NULL);
      uint64_t references = 0;
      for (int round = 0; round < 10; round++) {
         for (uint64_t page = 0; page < w; page++)
            references += tlb_walk(&u.w, page << 21, 12, 0, ++u.now);
      }
      /* The first round: the PDPE is new once. */
      assert_int_equal(references, w <= 16 ? 2 + w * 2 + w * 9
                                           : 2 + w * 2 * 10);
      free(u.memory);
   }
}

TEST(contexts)
{
   tlb_machine m = x86_64();
   unit_walker u;
   cache(&m, 2, 16);
   make(&u, &m, 0, NULL);
   assert_int_equal(tlb_walk(&u.w, 0x1000, 12, 0, 1), 4);
   assert_int_equal(tlb_walk(&u.w, 0x1000, 12, 126, 2), 4);
   assert_int_equal(tlb_walk(&u.w, 0x2000, 12, 0, 3), 1);
   assert_int_equal(tlb_walk(&u.w, 0x2000, 12, 126, 4), 1);
   free(u.memory);
}

TEST(nested)
{
   tlb_machine m = x86_64();
   assert_int_equal(in_all(&m, 1, 0, 1, 12), 24);
   assert_int_equal(in_all(&m, 1, 0, 1, 21), (3 + 1) * (4 + 1) - 1);
   assert_int_equal(in_all(&m, 1, 0, 1, 30), (2 + 1) * (4 + 1) - 1);
   /* A cached PDE spares three of the guest's references and the walks of the
      host for them. */
   cache(&m, 2, 1);
   assert_int_equal(in_all(&m, 1, 0, 512, 12), 24 + 511 * 9);
   /* Five over five. */
   m = x86_64();
   memmove(&m.walk[1], &m.walk[0], 4 * sizeof m.walk[0]);
   m.walk[0].shift = 48;
   m.n_walk_steps = 5;
   assert_int_equal(in_all(&m, 1, 0, 1, 12), 35);
   assert_int_equal(in_all(&m, 0, 0, 1, 12), 5);
}

/* PML4Es and PDPEs in one cache of two entries. */
TEST(joined)
{
   tlb_machine m = x86_64();
   unit_walker u;
   cache(&m, 0, 2);
   m.walk[1].cached = m.walk[1].joined = 1;
   make(&u, &m, 0, NULL);
   assert_int_equal(tlb_walk(&u.w, 0, 12, 0, 1), 4);
   /* Both are there; the PDPE is found first. */
   assert_int_equal(tlb_walk(&u.w, 0, 12, 0, 2), 2);
   /* Another PDPE, behind the PML4E, which so is the newer of the old two. */
   assert_int_equal(tlb_walk(&u.w, UINT64_C(1) << 30, 12, 0, 3), 3);
   assert_int_equal(tlb_walk(&u.w, UINT64_C(1) << 30, 12, 0, 4), 2);
   /* The first PDPE is gone, the PML4E is not. */
   assert_int_equal(tlb_walk(&u.w, 0, 12, 0, 5), 3);
   free(u.memory);
}

/* PDEs among the translations of a second level with two entries. */
TEST(in_last_level)
{
   tlb_machine m = x86_64();
   unit_walker u;
   unit_array last;
   const tlb_geometry g = unit_geometry("2,full,4K+2M");
   m.walk[2].cached = m.walk[2].in_last_level = 1;
   m.n_arrays = 4;
   for (unsigned i = 1; i < 4; i++) {
      m.array[i] = m.array[0];
      m.array[i].level = 2;
   }
   m.array[1].users = TLB_FETCHES;
   m.array[2].g.page_sizes = 1 << 21;
   assert_int_equal(tlb_walk_array(&m), 3);

   unit_array_make(&last, &g, NULL, NULL);
   make(&u, &m, 0, &last.a);
   assert_int_equal(tlb_walk(&u.w, 0x1000, 12, 0, ++last.now), 4);
   /* The PDE of 0 is not the translation of a 2M page at 0. */
   assert_false(unit_hits(&last, 0));
   assert_int_equal(tlb_walk(&u.w, 0x2000, 12, 0, ++last.now), 1);
   /* Two translations drive it out. */
   assert_false(unit_hits(&last, 1));
   assert_false(unit_hits(&last, 2));
   assert_int_equal(tlb_walk(&u.w, 0x3000, 12, 0, ++last.now), 4);
   /* And it drives out the older of them. */
   assert_true(unit_hits(&last, 2));
   assert_false(unit_hits(&last, 1));
   free(u.memory);
   unit_array_free(&last);
}

TEST(no_tables)
{
   tlb_machine m = x86_64();
   assert_true(tlb_walks_described(&m));
   m.n_walk_steps = 0;
   assert_false(tlb_walks_described(&m));
   assert_int_equal(in_all(&m, 0, 0, 10, 12), 0);
   assert_int_equal(in_all(&m, 1, 0, 10, 12), 0);
   m.software_walk = 1;
   assert_true(tlb_walks_described(&m));
   assert_int_equal(in_all(&m, 0, 0, 10, 13), 10);
   assert_int_equal(in_all(&m, 1, 0, 10, 22), 10);
}

/* --- The caches of the tables --- */

enum { BEYOND = 40, MEMORY = 200 };

/* Two caches of one set each, for lines of 64 bytes and of `line`. */
static tlb_machine with_caches(uint32_t ways, uint32_t more_ways, uint32_t line)
{
   tlb_machine m = x86_64();
   m.base_page_shift = 12;
   m.walk_cycles = 30;
   m.n_caches = 2;
   m.cache[0] = (tlb_table_cache){ .size = 64 * ways, .line = 64, .ways = ways, .share = 100 };
   m.cache[1] = (tlb_table_cache){ .size = line * more_ways, .line = line, .ways = more_ways,
                                   .share = 100, .cycles = BEYOND };
   m.memory.cycles = MEMORY;
   return m;
}

static uint32_t cost_of_walk(unit_walker *u, uint64_t page)
{
   (void)tlb_walk(&u->w, page << 12, 12, 0, ++u->now);
   return u->w.table_cycles;
}

/* Pages of one table's line: each walk leaves the four lines of tables where they are, and brings
   one of the program's. */
TEST(program_lines)
{
   unit_walker u;
   const tlb_machine m = with_caches(5, 8, 64);
   make(&u, &m, 0, NULL);
   assert_int_equal(cost_of_walk(&u, 0), 4 * MEMORY);
   for (uint64_t page = 1; page < 8; page++)
      assert_int_equal(cost_of_walk(&u, page), 0);
   free(u.memory);
   /* With room for the tables alone, the first that is read finds the program's line in its place,
      and takes that of the next. */
   const tlb_machine small = with_caches(4, 8, 64);
   make(&u, &small, 0, NULL);
   assert_int_equal(cost_of_walk(&u, 0), 4 * MEMORY);
   assert_int_equal(cost_of_walk(&u, 0), 4 * BEYOND);
   assert_int_equal(cost_of_walk(&u, 1), 4 * BEYOND);
   free(u.memory);
}

/* Of pages whose last entries are in lines of their own each takes two lines: beside the three of
   the other steps, 7 ways have room for two pages, and 9 for three. */
TEST(program_lines_drive_out)
{
   static const uint32_t lines[] = { 64, 128 };
   for (unsigned i = 0; i < 2; i++) {
      for (uint32_t ways = 7; ways <= 9; ways += 2) {
         unit_walker u;
         const tlb_machine m = with_caches(1, ways, lines[i]);
         make(&u, &m, 0, NULL);
         for (uint64_t page = 0; page < 48; page += 16)
            (void)cost_of_walk(&u, page);
         assert_int_equal(cost_of_walk(&u, 0), 3 * BEYOND + (ways == 7 ? MEMORY : BEYOND));
         free(u.memory);
      }
   }
}

/* A guest's: the host's tables are read, too, at the machine's own cost. */
TEST(guest)
{
   tlb_machine m = with_caches(64, 128, 64);
   unit_walker u;
   assert_int_equal(in_all(&m, 0, 0, 1, 12), 4);
   m.host_page_shift = 12;
   assert_int_equal(in_all(&m, 0, 0, 1, 12), 24);
   assert_int_equal(in_all(&m, 1, 0, 1, 12), 24);
   assert_int_equal(in_all(&m, 0, 0, 1, 21), 19);
   make(&u, &m, 0, NULL);
   assert_false(tlb_walker_pays_host(&u.w));
   assert_int_equal(cost_of_walk(&u, 0), 24 * MEMORY);
   assert_int_equal(cost_of_walk(&u, 0), 0);
   /* The page itself, of which the host has an entry in a line of its own. */
   assert_int_equal(cost_of_walk(&u, 1), MEMORY);
   free(u.memory);
}

static int any_cached(const tlb_machine *m)
{
   for (unsigned i = 0; i < m->n_walk_steps; i++) {
      if (m->walk[i].cached)
         return 1;
   }
   return 0;
}

/* What any machine's walks must do: the first reads all steps, later ones not
   more. */
static void check_machine(const tlb_machine *m)
{
   enum { PAGES = 3000 };
   const int where = tlb_walk_array(m);
   const unsigned shift = m->base_page_shift;
   uint64_t total = 0, steps = 1;
   unit_array last;
   unit_walker u;
   while (steps < m->n_walk_steps && m->walk[steps - 1].shift > shift)
      steps++;
   assert_int_equal(in_all(m, 1, 0, 1, shift),
                    m->software_walk ? 1
                                     : (steps + 1) * (m->n_walk_steps + 1) - 1);
   if (where >= 0) {
      assert_int_equal(m->array[where].level, tlb_machine_levels(m));
      unit_array_make(&last, &m->array[where].g, NULL, NULL);
   }
   make(&u, m, 0, where < 0 ? NULL : &last.a);
   for (uint64_t page = 0; page < PAGES; page++) {
      const unsigned n = tlb_walk(&u.w, page << shift, shift, 0, ++u.now);
      assert_true(n >= 1 && n <= steps && (page > 0 || n == steps));
      total += n;
   }
   assert_true(any_cached(m) ? total < PAGES * steps : total == PAGES * steps);
   free(u.memory);
   if (where >= 0)
      unit_array_free(&last);
}

TEST(machines)
{
   static tlb_machine m;
   unsigned described = 0, in_array = 0;
   for (unsigned i = 0; i < tlb_n_builtins(); i++) {
      const tlb_builtin *const b = tlb_builtin_at(i);
      uint32_t line;
      tlb_reason why;
      assert_true(tlb_machine_parse(b->text, b->length, &m, &line, &why));
      if (!tlb_walks_described(&m))
         continue;
      check_machine(&m);
      described++;
      in_array += tlb_walk_array(&m) >= 0;
   }
   assert_true(described >= 50);
   assert_true(in_array >= 1);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("without caches a walk reads each step down to the page's",
            uncached),
      CLAIM("pages in a row read a table's entry when it changes", sequential),
      CLAIM("as many PDEs as the cache holds are found again, one more never is", knee),
      CLAIM("contexts have entries of their own", contexts),
      CLAIM("four steps over four are 24 references, n over m are "
            "(n + 1)(m + 1) - 1", nested),
      CLAIM("two steps that are joined share the entries of one cache", joined),
      CLAIM("entries of a step that is in the last level compete with its translations",
            in_last_level),
      CLAIM("behind a walk comes the line that the program wants, which costs nothing",
            program_lines),
      CLAIM("and which drives out lines of tables", program_lines_drive_out),
      CLAIM("a machine that is a guest reads the host's tables, too", guest),
      CLAIM("each machine that is shipped walks all steps at first, and never more", machines),
      CLAIM("a software walk is one reference, an unknown walk none",
            no_tables),
   };
   return cmocka_run_group_tests_name("walk", tests, NULL, NULL);
}
