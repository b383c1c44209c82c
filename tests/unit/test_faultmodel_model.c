/* The fault model: its mechanisms together, in random address spaces.
   The model is a page table that is kept page by page. test_faultmodel.c has each mechanism by
   itself.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/faults/faultmodel.h"
#include "faultmodel_support.h"

enum { N_PAGES = 1200 };

/* A page table that is kept page by page; for fault-around, copy on write and
   the zero page, without huge pages. */
typedef struct {
   uint8_t map[N_PAGES]; /* 0: none, else number + 1 of the mapping's kind */
   uint8_t prot[N_PAGES];
   uint64_t piece[N_PAGES]; /* equal, side by side: one mapping */
   uint8_t accounted[N_PAGES]; /* it has been private and writable */
   uint8_t present[N_PAGES];
   uint8_t writable[N_PAGES];
} naive;

enum { ANON = 1, PRIVATE_FILE, SHARED_FILE };

static int together(const naive *n, int a, int b)
{
   return n->map[a] == n->map[b] && n->prot[a] == n->prot[b]
          && n->piece[a] == n->piece[b]
          && n->accounted[a] == n->accounted[b];
}

static tlb_fault_kind naive_touch(naive *n, int page, tlb_touch how)
{
   const int writes = how == TLB_TOUCH_WRITE;
   if (n->map[page] == 0 || (writes && (n->prot[page] & TLB_MAY_WRITE) == 0)
       || (how == TLB_TOUCH_FETCH && (n->prot[page] & TLB_MAY_EXECUTE) == 0)
       || n->prot[page] == 0)
      return TLB_NO_FAULT;
   if (n->present[page]) {
      if (!writes || n->writable[page])
         return TLB_NO_FAULT;
      n->writable[page] = 1;
      return n->map[page] == SHARED_FILE ? TLB_FAULT_DIRTY : TLB_FAULT_COPY;
   }
   n->present[page] = 1;
   n->writable[page] = (uint8_t)writes;
   if (writes)
      return TLB_FAULT_WRITE;
   if (n->map[page] != ANON) {
      int from = page, to = page;
      while (from > 0 && from % 16 != 0 && together(n, from - 1, page))
         from--;
      while (to + 1 < N_PAGES && to + 1 < from + 16 && (to + 1) % 512 != 0
             && together(n, to + 1, page))
         to++;
      for (int p = from; p <= to; p++)
         n->present[p] = 1;
   }
   return how == TLB_TOUCH_FETCH ? TLB_FAULT_CODE
          : n->map[page] == ANON ? TLB_FAULT_ZERO : TLB_FAULT_READ;
}

TEST(test_random)
{
   uint64_t seed = 4711;
   for (int round = 0; round < 60; round++) {
      static naive n;
      memset(&n, 0, sizeof n);
      begin(&usual);
      for (int step = 0; step < 4000; step++) {
         const uint64_t r = unit_random(&seed);
         const int page = (int)(r % N_PAGES);
         const int most = N_PAGES - page;
         const int pages = 1 + (int)((r >> 20) % 100) % most;
         const uint64_t a = BASE + (uint64_t)page * PAGE;
         const uint64_t bytes = (uint64_t)pages * PAGE;
         static const uint8_t prots[] = { RX, RW, TLB_MAY_READ, 7 };
         const uint8_t prot = prots[(r >> 40) % 4];
         const unsigned what = (unsigned)((r >> 32) % 200);
         if (what < 4) {
            const int kind = 1 + (int)what % 3;
            if (kind == ANON)
               map_anon(a, bytes);
            else
               map_file(a, (uint64_t)pages, RW,
                        kind == SHARED_FILE ? TLB_MAP_SHARED : 0,
                        10 + (uint64_t)step, 0);
            for (int p = page; p < page + pages; p++) {
               n.map[p] = (uint8_t)kind;
               n.prot[p] = RW;
               n.accounted[p] = kind != SHARED_FILE;
               n.piece[p] = kind == ANON ? 0 : (uint64_t)step + 1;
               n.present[p] = 0;
               n.writable[p] = 0;
            }
         } else if (what < 6) {
            tlb_fault_unmap(&m, a, a + bytes);
            for (int p = page; p < page + pages; p++) {
               n.map[p] = 0;
               n.present[p] = 0;
               n.writable[p] = 0;
            }
         } else if (what < 8) {
            tlb_fault_zap(&m, a, a + bytes);
            for (int p = page; p < page + pages; p++) {
               n.present[p] = 0;
               n.writable[p] = 0;
            }
         } else if (what < 12) {
            tlb_fault_protect(&m, a, a + bytes, prot);
            for (int p = page; p < page + pages; p++) {
               n.prot[p] = prot;
               if ((prot & TLB_MAY_WRITE) != 0 && n.map[p] != SHARED_FILE)
                  n.accounted[p] = 1;
            }
         } else {
            const tlb_touch how = (tlb_touch)((r >> 50) % 3);
            const tlb_fault_kind kind = touch(a, how);
            assert_int_equal(kind, naive_touch(&n, page, how));
            /* What faults with help faults without. */
            if (kind != TLB_NO_FAULT)
               assert_int_not_equal(out[TLB_VIEW_4K].kind, TLB_NO_FAULT);
            if (out[TLB_VIEW_COLD].kind != TLB_NO_FAULT)
               assert_int_not_equal(out[TLB_VIEW_4K].kind, TLB_NO_FAULT);
         }
      }
      uint64_t kinds = 0;
      for (unsigned k = 1; k < TLB_N_FAULT_KINDS; k++)
         kinds += m.counts[TLB_VIEW_WARM].kind[k];
      assert_int_equal(kinds, m.counts[TLB_VIEW_WARM].faults);
      uint64_t phase_0 = 0;
      for (unsigned g = 0; g < TLB_N_GROUPS; g++)
         phase_0 += m.phase[g][0];
      assert_int_equal(phase_0, kinds);
      end();
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("random address spaces fault as a page table kept page by page",
            test_random),
   };
   return cmocka_run_group_tests_name("faultmodel_model", tests, NULL, NULL);
}
