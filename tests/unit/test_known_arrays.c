/* Arrays whose keys all have short cuts: a miss and its fill in one step.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "sim/tlb/array.h"
#include "unit.h"

/* One array that is always asked, and one whose caller knows all, nearly always, and then
   refers to what it does not know in one step. */

enum { PAGES = 200 };

typedef struct {
   unit_array plain, known;
   uint64_t time[PAGES];
   int attached[PAGES];
   unsigned in_one_step;
} pair;

static void on_release(uint64_t *time, tlb_key key, void *opaque)
{
   pair *const p = opaque;
   assert_ptr_equal(time, &p->time[key]);
   p->attached[key] = 0;
}

static int is_all_known(const tlb_array *a)
{
   return a->n_attached == a->g.entries;
}

static void forget(pair *p, uint64_t random)
{
   tlb_array *const a = &p->known.a;
   const uint32_t e = (uint32_t)(random % a->g.entries);
   if (a->short_cut[e] == NULL)
      return;
   p->attached[a->key[e]] = 0;
   tlb_array_detach(a, e);
}

static void step(pair *p, tlb_key page)
{
   tlb_array *const a = &p->known.a;
   const int missed = unit_reference(&p->plain, page, TLB_NO_KEY - 1) != TLB_NO_KEY;
   const uint64_t now = ++p->known.now;
   if (p->attached[page]) {
      assert_false(missed);
      p->time[page] = now;
      return;
   }
   if (!is_all_known(a)) {
      uint32_t e = tlb_array_lookup(a, page, now);
      assert_int_equal(e == TLB_MISS, missed);
      if (e == TLB_MISS)
         e = tlb_array_fill(a, page, now);
      tlb_array_attach(a, e, &p->time[page]);
      p->attached[page] = 1;
      return;
   }
   const uint64_t *const lost
      = tlb_array_refer_known(a, tlb_array_set(a, page), page, now, &p->time[page]);
   assert_in_range(lost - p->time, 0, PAGES - 1);
   assert_true(p->attached[lost - p->time]);
   assert_true(p->time[page] == now);
   assert_true(missed);
   p->attached[lost - p->time] = 0;
   p->attached[page] = 1;
   p->in_one_step++;
   assert_true(is_all_known(a));
}

static void same_as_plain(void **state)
{
   const char *const policy = *state;
   static const char *const shapes[] = {
      "8,1,4K,%s",  "16,2,4K,%s", "12,4,4K,%s", "64,4,4K,%s", "64,8,4K,%s",
      "64,16,4K,%s", "16,full,4K,%s", "64,32,4K,%s", "128,64,4K,%s",
   };
   static pair p;
   for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
      char text[64];
      snprintf(text, sizeof text, shapes[s], policy);
      const tlb_geometry g = unit_geometry(text);
      const unsigned pages = g.entries + 1 + g.entries / 3;
      uint64_t seed = s + 1;
      assert_true(pages <= PAGES);
      memset(&p, 0, sizeof p);
      unit_array_make(&p.plain, &g, NULL, NULL);
      unit_array_make(&p.known, &g, on_release, &p);
      for (unsigned i = 0; i < 40000; i++) {
         const uint64_t r = unit_random(&seed);
         if (r % 1000 == 0)
            forget(&p, r >> 20);
         /* Half of the references go to a few pages, which stay. */
         step(&p, (r >> 40) % (r & 1 ? pages : pages / 3 + 1));
      }
      assert_true(p.in_one_step > 1000);
      unit_array_free(&p.plain);
      unit_array_free(&p.known);
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM_OF("LRU in one step misses and evicts as LRU", same_as_plain, "lru"),
      CLAIM_OF("PLRU in one step misses and evicts as PLRU", same_as_plain, "plru"),
      CLAIM_OF("FIFO in one step misses and evicts as FIFO", same_as_plain, "fifo"),
      CLAIM_OF("random in one step misses and evicts as random", same_as_plain, "random:17"),
   };
   return cmocka_run_group_tests_name("known arrays", tests, NULL, NULL);
}
