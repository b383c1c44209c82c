/* The warm view of files that a start with no file cached has left in large folios.
   The model goes through the touches a second time, when it is known how all of the file lies in
   the page cache; the fault model knows at a touch only what has been read by then.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/faults/faultmodel_parts.h"

#include "faultmodel_support.h"

enum { N_FILE = 700, N_MAPS = 3, N_TOUCHES = 300, DISK = 5, TABLE = 512, AROUND = 16 };

typedef struct {
   uint64_t start; /* page */
   int pages;
   int first; /* of the file */
} part;

typedef struct {
   int map, page;
   tlb_touch how;
   tlb_fault_kind kind;
} event;

static void begin_on(const char *kernel, unsigned folio_shift)
{
   tlb_fault_settings s = usual;
   s.kernel = tlb_kernel_named(kernel);
   s.code_folio_shift = folio_shift;
   begin(&s);
   tlb_fault_file_is(&m, 1, DISK, (uint64_t)N_FILE * PAGE, 0);
}

/* The pages of the folio, if the mapping, the file, and one page table have all of it. */
static void folio_of(const part *v, int page, int *from, int *to)
{
   const tlb_fault_file *const f = tlb_file_need(&m, 1, DISK);
   const int n = 1 << tlb_file_order(f, (uint64_t)(v->first + page));
   const int start = page - (v->first + page) % n;
   *from = *to = page;
   if (start >= 0 && start + n <= v->pages && v->first + start + n < N_FILE
       && (v->start + (uint64_t)start) / TABLE == (v->start + (uint64_t)(start + n - 1)) / TABLE) {
      *from = start;
      *to = start + n - 1;
   }
}

/* What the touch is, with every folio known. */
static tlb_fault_kind second_time(const part *v, uint8_t *pte, int page, tlb_touch how)
{
   const int writes = how == TLB_TOUCH_WRITE;
   if (pte[page] != 0) {
      const int copies = writes && pte[page] == 1;
      pte[page] = writes ? 2 : pte[page];
      return copies ? TLB_FAULT_COPY : TLB_NO_FAULT;
   }
   pte[page] = writes ? 2 : 1;
   if (writes)
      return TLB_FAULT_WRITE;
   int from = page, to = page, ignored;
   while (from > 0 && (v->start + (uint64_t)from) % AROUND != 0)
      from--;
   while (to + 1 < v->pages && to + 1 < from + AROUND && v->first + to + 1 < N_FILE
          && (v->start + (uint64_t)to + 1) % TABLE != 0)
      to++;
   folio_of(v, from, &from, &ignored);
   folio_of(v, to, &ignored, &to);
   for (int p = from; p <= to; p++)
      pte[p] = pte[p] == 0 ? 1 : pte[p];
   return how == TLB_TOUCH_FETCH ? TLB_FAULT_CODE : TLB_FAULT_READ;
}

/* How many touches come to no fault that would be one without folios. */
static uint64_t play(uint64_t *seed, const char *kernel)
{
   static event events[N_TOUCHES];
   static uint8_t pte[N_MAPS][N_FILE];
   static const uint8_t prots[N_MAPS] = { RX, TLB_MAY_READ, RW };
   part v[N_MAPS];
   begin_on(kernel, 16);
   memset(pte, 0, sizeof pte);
   for (int i = 0; i < N_MAPS; i++) {
      const uint64_t r = unit_random(seed);
      v[i].start = BASE / PAGE + (uint64_t)i * 4096 + r % 600;
      v[i].first = (int)((r >> 16) % 100);
      v[i].pages = 200 + (int)((r >> 32) % 400);
      map_file(v[i].start * PAGE, (uint64_t)v[i].pages, prots[i], 0, DISK, (uint64_t)v[i].first);
   }
   int near = 0;
   for (int i = 0; i < N_TOUCHES; i++) {
      const uint64_t r = unit_random(seed);
      const int map = (int)((r >> 8) % N_MAPS);
      const int step = (int)((r >> 16) % 60) - 40;
      const int page = (r & 3) != 0 ? near + step : (int)((r >> 24) % N_FILE);
      const tlb_touch how = map == 0 ? TLB_TOUCH_FETCH
                            : map == 2 && (r >> 60) % 3 == 0 ? TLB_TOUCH_WRITE : TLB_TOUCH_READ;
      near = (page + v[map].pages) % v[map].pages;
      events[i] = (event){ map, near, how, touch((v[map].start + (uint64_t)near) * PAGE, how) };
   }
   for (int i = 0; i < N_TOUCHES; i++) {
      const event *const e = &events[i];
      assert_int_equal(e->kind, second_time(&v[e->map], pte[e->map], e->page, e->how));
   }
   uint64_t faults = m.counts[TLB_VIEW_WARM].faults;
   end();
   begin_on(kernel, 12);
   for (int i = 0; i < N_MAPS; i++)
      map_file(v[i].start * PAGE, (uint64_t)v[i].pages, prots[i], 0, DISK, (uint64_t)v[i].first);
   for (int i = 0; i < N_TOUCHES; i++)
      touch((v[events[i].map].start + (uint64_t)events[i].page) * PAGE, events[i].how);
   faults = m.counts[TLB_VIEW_WARM].faults - faults;
   end();
   return faults;
}

TEST(test_random)
{
   uint64_t seed = 6180, saved = 0;
   for (int round = 0; round < 400; round++)
      saved += play(&seed, round % 2 ? "7.2" : "6.18");
   assert_true(saved > 1000);
}

static void begin_code(const char *kernel, unsigned folio_shift)
{
   begin_on(kernel, folio_shift);
   map_file(BASE + 5 * PAGE, 400, RX, 0, DISK, 0);
}

static tlb_fault_kind fetch(uint64_t page)
{
   return touch(BASE + (5 + page) * PAGE, TLB_TOUCH_FETCH);
}

/* Page 100 is the 105th of the page table: fault-around maps pages 91 to 106. Its folio, from page
   96 to 111, and the next have been read; pages 80 to 95 are a folio that is read later. */
TEST(test_a_folio_reaches_out_of_the_window)
{
   begin_code("6.18", 16);
   fetch(100);
   assert_int_equal(out[TLB_VIEW_WARM].brought[1].to, 11);
   assert_int_equal(fetch(111), TLB_NO_FAULT);
   assert_int_equal(fetch(112), TLB_FAULT_CODE);
   end();
}

TEST(test_a_folio_is_read_later)
{
   begin_code("6.18", 16);
   fetch(100);
   assert_int_equal(fetch(80), TLB_NO_FAULT);
   assert_int_equal(out[TLB_VIEW_COLD].major, 1);
   assert_int_equal(fetch(79), TLB_FAULT_CODE);
   end();
}

TEST(test_pages_that_went_do_not_come_back)
{
   begin_code("6.18", 16);
   fetch(100);
   tlb_fault_discard(&m, BASE + (5 + 70) * PAGE, BASE + (5 + 90) * PAGE);
   assert_int_equal(fetch(80), TLB_FAULT_CODE);
   end();
}

/* Without code in folios, and before fault-around maps folios whole. */
TEST(test_others_have_pages)
{
   static const struct {
      const char *kernel;
      unsigned shift;
   } others[] = { { "6.18", 12 }, { "7.2", 0 }, { "6.17", 16 }, { "6.1", 16 } };
   for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
      begin_code(others[i].kernel, others[i].shift);
      fetch(100);
      assert_int_equal(fetch(107), TLB_FAULT_CODE);
      assert_int_equal(fetch(80), TLB_FAULT_CODE);
      end();
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("random touches fault as a second start with every folio known", test_random),
      CLAIM("a folio that reaches out of the window of fault-around comes as a whole",
            test_a_folio_reaches_out_of_the_window),
      CLAIM("so does one that is read only later", test_a_folio_is_read_later),
      CLAIM("pages that were discarded fault again", test_pages_that_went_do_not_come_back),
      CLAIM("other kernels and architectures have files in pages", test_others_have_pages),
   };
   return cmocka_run_group_tests_name("warm_folios", tests, NULL, NULL);
}
