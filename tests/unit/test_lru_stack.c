/* LRU stacks, compared with one list of pages in order of last use.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/tlb/lru_stack.h"

enum { PAGES = 64, ROUNDS = 20000 };

typedef struct {
   uint64_t page[PAGES]; /* see unit_to_front() */
   uint32_t n;
} list;

/* What the smallest array, which is only a number of pages on top of the list, has
   to tell the LRU stack; and that this agrees. */
static void refer_both(tlb_lru_stack *l, list *model, uint32_t *node, char *pages,
                       uint32_t page)
{
   const uint32_t smallest = l->size[0].entries;
   const uint32_t n = model->n;
   const uint64_t victim = n >= smallest ? model->page[smallest - 1] : PAGES;
   const uint32_t before = unit_to_front(model->page, &model->n, PAGES, page);
   uint32_t missed = 0;
   while (missed < l->n_sizes && (model->n > n || before >= l->size[missed].entries))
      missed++;
   if (missed == 0)
      return;
   uint32_t at = 0;
   char *const evicted = victim < PAGES ? &pages[victim] : NULL;
   assert_int_equal(tlb_lru_stack_miss(l, &pages[page], node[page], evicted, &at),
                    missed);
   if (evicted != NULL)
      node[victim] = at;
}

static void run(const uint32_t *sizes, uint32_t n, uint32_t n_pages,
                uint64_t seed)
{
   tlb_lru_stack l;
   list model = { .n = 0 };
   char pages[PAGES];
   uint32_t node[PAGES] = { 0 };
   void *const memory = malloc(tlb_lru_stack_bytes(sizes, n));
   assert_non_null(memory);
   tlb_lru_stack_init(&l, sizes, n, memory);
   for (uint32_t i = 0; i < ROUNDS; i++) {
      const uint64_t draw = unit_random(&seed);
      /* Near pages more often than far ones. */
      const uint32_t among = draw % 16 < 10 ? n_pages / 2 : n_pages;
      refer_both(&l, &model, node, pages, (uint32_t)((draw >> 8) % among));
   }
   free(memory);
}

TEST(as_one_list)
{
   static const uint32_t sizes[][5] = { { 1, 2 }, { 4, 5, 6, 7, 8 }, { 1, 3, 40 },
                                        { 8, 16, 24, 32, 48 }, { 30, 31 } };
   static const uint32_t n[] = { 2, 5, 3, 5, 2 };
   for (uint32_t i = 0; i < sizeof n / sizeof *n; i++) {
      for (uint32_t n_pages = 2; n_pages <= PAGES; n_pages += 2)
         run(sizes[i], n[i], n_pages, n_pages + i);
   }
}

/* In turn over as many pages as fit, and one more. */
TEST(loops)
{
   static const uint32_t sizes[] = { 4, 6, 10 };
   for (uint32_t n_pages = 1; n_pages < 13; n_pages++) {
      tlb_lru_stack l;
      list model = { .n = 0 };
      char pages[PAGES];
      uint32_t node[PAGES] = { 0 };
      char memory[1024] __attribute__((aligned(8)));
      assert_true(tlb_lru_stack_bytes(sizes, 3) <= sizeof memory);
      tlb_lru_stack_init(&l, sizes, 3, memory);
      for (uint32_t i = 0; i < 20 * n_pages; i++)
         refer_both(&l, &model, node, pages, i % n_pages);
      /* LRU misses all or nothing. */
      const uint32_t missed = (uint32_t)(n_pages > 4) + (n_pages > 6)
                              + (n_pages > 10);
      uint32_t at;
      if (missed > 0)
         assert_int_equal(tlb_lru_stack_miss(&l, &pages[0], node[0], NULL, &at),
                          missed);
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("each array of the stack misses what an LRU list of all pages says", as_one_list),
      CLAIM("a loop over one page more than there are entries always misses", loops),
   };
   return cmocka_run_group_tests_name("ladder", tests, NULL, NULL);
}
