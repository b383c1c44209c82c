/* The fault model: each mechanism of the kernel by itself.
   test_faultmodel_model.c has them together, against a page table that is kept page by page.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/faults/faultmodel.h"
#include "faultmodel_support.h"

enum { HUGE_PAGES = 512, TMPFS = 77, DISK = 5 };

static const uint64_t HUGE_BYTES = (uint64_t)HUGE_PAGES * PAGE;
static const uint64_t MIB = 1 << 20;

/* A test of one model with the usual settings. */
#define USUAL(name)                                                            \
   static void of_##name(void);                                                \
   TEST(name)                                                                  \
   {                                                                           \
      begin(&usual);                                                           \
      of_##name();                                                             \
      end();                                                                   \
   }                                                                           \
   static void of_##name(void)

/* How many faults the warm view takes if each page is touched in order. */
static uint64_t touch_all(uint64_t start, uint64_t bytes, tlb_touch how)
{
   const uint64_t before = m.counts[TLB_VIEW_WARM].faults;
   for (uint64_t a = start; a < start + bytes; a += PAGE)
      touch(a, how);
   return m.counts[TLB_VIEW_WARM].faults - before;
}

static int is_present(uint64_t page_address)
{
   return touch(page_address, TLB_TOUCH_READ) == TLB_NO_FAULT;
}

/* Checks which pages came along in the warm view, as "-3..-1,+1..+12". */
static void assert_brought(tlb_fault_view view, const char *expected)
{
   char text[4096];
   size_t used = 0;
   text[0] = '\0';
   for (unsigned i = 0; i < out[view].n_brought; i++) {
      const tlb_page_run *r = &out[view].brought[i];
      const char *comma = i == 0 ? "" : ",";
      used += (size_t)(r->from == r->to
         ? snprintf(text + used, sizeof text - used, "%s%+lld", comma,
                    (long long)r->from)
         : snprintf(text + used, sizeof text - used, "%s%+lld..%+lld", comma,
                    (long long)r->from, (long long)r->to));
   }
   assert_string_equal(text, expected);
}

/* --- Files --- */

USUAL(test_around)
{
   map_file(BASE, 64, RX, 0, DISK, 0);
   assert_int_equal(touch(BASE + 20 * PAGE, TLB_TOUCH_FETCH), TLB_FAULT_CODE);
   assert_brought(TLB_VIEW_WARM, "-4..-1,+1..+11");
   assert_brought(TLB_VIEW_4K, "");
   assert_int_equal(touch(BASE + 31 * PAGE, TLB_TOUCH_READ), TLB_NO_FAULT);
   assert_int_equal(out[TLB_VIEW_4K].kind, TLB_FAULT_READ);
   assert_int_equal(touch(BASE + 32 * PAGE, TLB_TOUCH_READ), TLB_FAULT_READ);
   assert_brought(TLB_VIEW_WARM, "+1..+15");
   assert_int_equal(m.counts[TLB_VIEW_4K].faults, 3);
}

TEST(test_around_clamped_to_mapping)
{
   begin(&usual);
   /* The mapping begins at page 5 of its window: 16 pages from there. */
   map_file(BASE + 5 * PAGE, 40, RX, 0, DISK, 0);
   touch(BASE + 9 * PAGE, TLB_TOUCH_READ);
   assert_brought(TLB_VIEW_WARM, "-4..-1,+1..+11");
   end();
   begin(&usual);
   map_file(BASE, 7, RX, 0, DISK, 0);
   touch(BASE + 3 * PAGE, TLB_TOUCH_READ);
   assert_brought(TLB_VIEW_WARM, "-3..-1,+1..+3");
   end();
}

USUAL(test_around_clamped_to_page_table)
{
   map_file(BASE + (HUGE_PAGES - 3) * PAGE, 40, RX, 0, DISK, 0);
   touch(BASE + (HUGE_PAGES - 2) * PAGE, TLB_TOUCH_READ);
   assert_brought(TLB_VIEW_WARM, "-1,+1");
}

USUAL(test_around_ends_with_file)
{
   tlb_fault_file_is(&m, 1, DISK, 3 * PAGE + 1, 0);
   map_file(BASE, 16, RX, 0, DISK, 0);
   touch(BASE, TLB_TOUCH_READ);
   assert_brought(TLB_VIEW_WARM, "+1..+3");
}

USUAL(test_around_leaves_what_is_there)
{
   map_file(BASE, 16, RW, 0, DISK, 0);
   assert_int_equal(touch(BASE + 4 * PAGE, TLB_TOUCH_WRITE), TLB_FAULT_WRITE);
   assert_brought(TLB_VIEW_WARM, "");
   touch(BASE, TLB_TOUCH_READ);
   assert_brought(TLB_VIEW_WARM, "+1..+3,+5..+15");
   /* One that came along is copied when it is written to, alone. */
   assert_int_equal(touch(BASE + 5 * PAGE, TLB_TOUCH_WRITE), TLB_FAULT_COPY);
   assert_brought(TLB_VIEW_WARM, "");
   assert_int_equal(out[TLB_VIEW_4K].kind, TLB_FAULT_WRITE);
   assert_int_equal(touch(BASE + 5 * PAGE, TLB_TOUCH_WRITE), TLB_NO_FAULT);
}

USUAL(test_relro)
{
   map_file(BASE, 16, RW, 0, DISK, 0);
   tlb_fault_protect(&m, BASE, BASE + 4 * PAGE, TLB_MAY_READ);
   touch(BASE + 8 * PAGE, TLB_TOUCH_READ);
   assert_brought(TLB_VIEW_WARM, "-4..-1,+1..+7");
}

USUAL(test_relro_beside_rodata)
{
   /* What was writable once does not become one with what never was, though
      both are of one file and side by side. */
   map_file(BASE, 4, TLB_MAY_READ, 0, DISK, 0);
   map_file(BASE + 4 * PAGE, 8, RW, 0, DISK, 4);
   tlb_fault_protect(&m, BASE + 4 * PAGE, BASE + 8 * PAGE, TLB_MAY_READ);
   assert_int_equal(m.maps.count, 3);
   touch(BASE, TLB_TOUCH_READ);
   assert_brought(TLB_VIEW_WARM, "+1..+3");
}

USUAL(test_protect_keeps_pages)
{
   map_anon(BASE, 4 * PAGE);
   touch(BASE, TLB_TOUCH_WRITE);
   tlb_fault_protect(&m, BASE, BASE + 4 * PAGE, TLB_MAY_READ);
   assert_int_equal(touch(BASE, TLB_TOUCH_WRITE), TLB_NO_FAULT);
   tlb_fault_protect(&m, BASE, BASE + 4 * PAGE, RW);
   assert_int_equal(touch(BASE, TLB_TOUCH_WRITE), TLB_NO_FAULT);
   assert_int_equal(touch(BASE + PAGE, TLB_TOUCH_WRITE), TLB_FAULT_WRITE);
}

USUAL(test_shared_file)
{
   map_file(BASE, 32, RW, TLB_MAP_SHARED, DISK, 0);
   assert_int_equal(touch(BASE, TLB_TOUCH_READ), TLB_FAULT_READ);
   assert_int_equal(touch(BASE, TLB_TOUCH_WRITE), TLB_FAULT_DIRTY);
   assert_int_equal(touch(BASE + PAGE, TLB_TOUCH_WRITE), TLB_FAULT_DIRTY);
   assert_int_equal(touch(BASE + 16 * PAGE, TLB_TOUCH_WRITE), TLB_FAULT_WRITE);
   assert_brought(TLB_VIEW_WARM, "");
}

USUAL(test_shared_file_populated)
{
   map_file(BASE, 32, RW, TLB_MAP_SHARED, DISK, 0);
   tlb_fault_lock(&m, BASE, BASE + 32 * PAGE);
   assert_int_equal(m.counts[TLB_VIEW_WARM].faults, 0);
   assert_int_equal(touch_all(BASE, 32 * PAGE, TLB_TOUCH_READ), 0);
   assert_int_equal(touch_all(BASE, 32 * PAGE, TLB_TOUCH_WRITE), 32);
   assert_int_equal(m.counts[TLB_VIEW_WARM].kind[TLB_FAULT_DIRTY], 32);
}

USUAL(test_shared_memory)
{
   tlb_fault_file_is(&m, 1, TMPFS, 64 * PAGE, 1);
   map_file(BASE, 64, RW, TLB_MAP_SHARED, TMPFS, 0);
   /* Nothing is there to come along. */
   assert_int_equal(touch(BASE, TLB_TOUCH_READ), TLB_FAULT_READ);
   assert_brought(TLB_VIEW_WARM, "");
   assert_int_equal(touch(BASE, TLB_TOUCH_WRITE), TLB_NO_FAULT);
   assert_int_equal(touch_all(BASE, 64 * PAGE, TLB_TOUCH_WRITE), 63);
   /* Mapped again, all is there, and may be written to. */
   map_file(BASE + 100 * PAGE, 64, RW, TLB_MAP_SHARED, TMPFS, 0);
   assert_int_equal(touch_all(BASE + 100 * PAGE, 64 * PAGE, TLB_TOUCH_READ), 5);
   assert_int_equal(touch_all(BASE + 100 * PAGE, 64 * PAGE, TLB_TOUCH_WRITE),
                    0);
   assert_int_equal(m.counts[TLB_VIEW_COLD].major, 0);
}

TEST(test_no_around)
{
   begin(&usual);
   map_file(BASE, 8, RX, TLB_MAP_NO_AROUND, DISK, 0);
   touch(BASE, TLB_TOUCH_READ);
   assert_brought(TLB_VIEW_WARM, "");
   end();
   tlb_fault_settings off = usual;
   off.fault_around = PAGE;
   begin(&off);
   map_file(BASE, 8, RX, 0, DISK, 0);
   touch(BASE, TLB_TOUCH_READ);
   assert_brought(TLB_VIEW_WARM, "");
   end();
}

TEST(test_large_around)
{
   tlb_fault_settings all = usual;
   all.fault_around = HUGE_BYTES;
   begin(&all);
   map_file(BASE, 2 * HUGE_PAGES, RX, 0, DISK, 0);
   for (uint64_t i = 1; i < HUGE_PAGES; i += 2)
      tlb_fault_settle(&m, BASE + HUGE_BYTES + i * PAGE, TLB_TOUCH_WRITE);
   touch(BASE + 5 * PAGE, TLB_TOUCH_READ);
   assert_brought(TLB_VIEW_WARM, "-5..-1,+1..+506");
   end();
}

/* --- Anonymous memory: the counts are those of experiment E11 --- */

USUAL(test_write)
{
   map_anon(BASE, 64 * MIB);
   assert_int_equal(touch_all(BASE, 64 * MIB, TLB_TOUCH_WRITE), 16384);
   assert_int_equal(touch_all(BASE, 64 * MIB, TLB_TOUCH_WRITE), 0);
   tlb_fault_zap(&m, BASE, BASE + 64 * MIB);
   assert_int_equal(touch_all(BASE, 64 * MIB, TLB_TOUCH_WRITE), 16384);
   assert_int_equal(m.counts[TLB_VIEW_4K].faults, 2 * 16384);
}

USUAL(test_read_then_write)
{
   map_anon(BASE, 64 * MIB);
   assert_int_equal(touch_all(BASE, 64 * MIB, TLB_TOUCH_READ), 16384);
   assert_int_equal(touch_all(BASE, 64 * MIB, TLB_TOUCH_WRITE), 16384);
   assert_int_equal(m.counts[TLB_VIEW_WARM].kind[TLB_FAULT_ZERO], 16384);
   assert_int_equal(m.counts[TLB_VIEW_WARM].kind[TLB_FAULT_COPY], 16384);
}

USUAL(test_populate)
{
   map_anon(BASE, 64 * MIB);
   tlb_fault_lock(&m, BASE, BASE + 64 * MIB);
   assert_int_equal(touch_all(BASE, 64 * MIB, TLB_TOUCH_WRITE), 0);
   assert_int_equal(m.counts[TLB_VIEW_WARM].populated, 16384);
   /* MADV_POPULATE_READ maps zero pages: writes fault. */
   map_anon(BASE + 128 * MIB, MIB);
   tlb_fault_populate(&m, BASE + 128 * MIB, BASE + 129 * MIB, TLB_TOUCH_READ);
   assert_int_equal(touch_all(BASE + 128 * MIB, MIB, TLB_TOUCH_WRITE), 256);
   map_anon(BASE + 256 * MIB, MIB);
   tlb_fault_populate(&m, BASE + 256 * MIB, BASE + 257 * MIB, TLB_TOUCH_WRITE);
   assert_int_equal(touch_all(BASE + 256 * MIB, MIB, TLB_TOUCH_WRITE), 0);
}

USUAL(test_thp)
{
   map_anon(BASE, 64 * MIB);
   tlb_fault_flag(&m, BASE, BASE + 64 * MIB, TLB_MAP_HUGEPAGE, 0);
   assert_int_equal(touch_all(BASE, 64 * MIB, TLB_TOUCH_WRITE), 32);
   assert_int_equal(m.counts[TLB_VIEW_4K].faults, 16384);
   assert_int_equal(m.counts[TLB_VIEW_WARM].brought, 32 * 511);
}

USUAL(test_thp_off_by_a_page)
{
   map_anon(BASE, 8 * MIB);
   tlb_fault_flag(&m, BASE, BASE + 8 * MIB, TLB_MAP_HUGEPAGE, 0);
   assert_int_equal(touch_all(BASE, 8 * MIB, TLB_TOUCH_WRITE), 4);
   map_anon(BASE + 16 * MIB + PAGE, 8 * MIB);
   tlb_fault_flag(&m, BASE + 16 * MIB + PAGE, BASE + 24 * MIB + PAGE,
                  TLB_MAP_HUGEPAGE, 0);
   assert_int_equal(touch_all(BASE + 16 * MIB + PAGE, 8 * MIB,
                              TLB_TOUCH_WRITE), 515);
}

TEST(test_thp_where_a_page_table_is)
{
   tlb_fault_settings always = usual;
   always.thp = TLB_THP_ALWAYS;
   begin(&always);
   map_anon(BASE, PAGE);
   touch(BASE, TLB_TOUCH_WRITE);
   map_anon(BASE, 4 * MIB);
   /* The page table went with its only mapping. */
   assert_int_equal(touch_all(BASE, 4 * MIB, TLB_TOUCH_WRITE), 2);
   /* It stays where a page was before. */
   map_anon(BASE + 8 * MIB, PAGE);
   touch(BASE + 8 * MIB, TLB_TOUCH_WRITE);
   map_anon(BASE + 8 * MIB + PAGE, 2 * MIB - PAGE);
   assert_int_equal(touch_all(BASE + 8 * MIB, 2 * MIB, TLB_TOUCH_WRITE), 511);
   end();
}

/* 8 blocks, as counted on Linux 6.18: 4,096 small pages, then huge ones, or small ones again. */
TEST(test_thp_where_a_page_table_was)
{
   begin(&usual);
   map_anon(BASE, 16 * MIB);
   assert_int_equal(touch_all(BASE, 16 * MIB, TLB_TOUCH_WRITE), 4096);
   tlb_fault_flag(&m, BASE, BASE + 16 * MIB, TLB_MAP_HUGEPAGE, 0);
   tlb_fault_discard(&m, BASE, BASE + 16 * MIB);
   assert_int_equal(touch_all(BASE, 16 * MIB, TLB_TOUCH_WRITE), 8);
   end();
   /* Half a block at a time: the table stays. */
   begin(&usual);
   map_anon(BASE, 2 * MIB);
   touch_all(BASE, 2 * MIB, TLB_TOUCH_WRITE);
   tlb_fault_flag(&m, BASE, BASE + 2 * MIB, TLB_MAP_HUGEPAGE, 0);
   tlb_fault_discard(&m, BASE, BASE + MIB);
   tlb_fault_discard(&m, BASE + MIB, BASE + 2 * MIB);
   assert_int_equal(touch_all(BASE, 2 * MIB, TLB_TOUCH_WRITE), 512);
   end();
}

/* What is flushed for it: bytes from the first page to the last, and beginnings of tables. */
USUAL(test_tables_that_are_freed)
{
   map_anon(BASE + MIB, 64 * PAGE);
   assert_int_equal(tlb_fault_flushed(&m, BASE + MIB, BASE + MIB + 64 * PAGE, 1), 0);
   touch_all(BASE + MIB, 4 * PAGE, TLB_TOUCH_WRITE);
   /* Nothing else is there, for 512G. */
   const uint64_t top = BASE & ~(((uint64_t)1 << 39) - 1);
   assert_int_equal(tlb_fault_flushed(&m, BASE + MIB, BASE + MIB + 64 * PAGE, 1),
                    BASE + MIB + 4 * PAGE - top);
   /* In 1G, in the same table, and in both. */
   map_anon(BASE + 64 * MIB, PAGE);
   assert_int_equal(tlb_fault_flushed(&m, BASE + MIB, BASE + MIB + 64 * PAGE, 1),
                    MIB + 4 * PAGE);
   map_anon(BASE, PAGE);
   assert_int_equal(tlb_fault_flushed(&m, BASE + MIB, BASE + MIB + 64 * PAGE, 1), 4 * PAGE);
   assert_int_equal(tlb_fault_flushed(&m, BASE + MIB, BASE + MIB + 2 * PAGE, 1), 2 * PAGE);
   /* Without pages, the table by itself. */
   tlb_fault_unmap(&m, BASE, BASE + PAGE);
   tlb_fault_zap(&m, BASE + MIB, BASE + MIB + 64 * PAGE);
   assert_int_equal(tlb_fault_flushed(&m, BASE + MIB, BASE + MIB + 64 * PAGE, 1), PAGE);
}

USUAL(test_page_out)
{
   map_anon(BASE, 8 * PAGE);
   map_file(BASE + 64 * MIB, 8, TLB_MAY_READ | TLB_MAY_WRITE, 0, DISK, 0);
   touch_all(BASE, 8 * PAGE, TLB_TOUCH_WRITE);
   touch_all(BASE + 64 * MIB, 8 * PAGE, TLB_TOUCH_READ);
   touch(BASE + 64 * MIB + 3 * PAGE, TLB_TOUCH_WRITE);
   tlb_fault_page_out(&m, BASE, BASE + 128 * MIB);
   assert_int_equal(touch_all(BASE, 8 * PAGE, TLB_TOUCH_WRITE), 0);
   assert_int_equal(touch(BASE + 64 * MIB + 3 * PAGE, TLB_TOUCH_READ), TLB_NO_FAULT);
   assert_int_equal(touch(BASE + 64 * MIB + 4 * PAGE, TLB_TOUCH_READ), TLB_FAULT_READ);
}

TEST(test_thp_zero)
{
   tlb_fault_settings always = usual;
   always.thp = TLB_THP_ALWAYS;
   begin(&always);
   map_anon(BASE, 4 * MIB);
   assert_int_equal(touch_all(BASE, 4 * MIB, TLB_TOUCH_READ), 2);
   assert_int_equal(touch_all(BASE, 4 * MIB, TLB_TOUCH_WRITE), 2);
   assert_int_equal(m.counts[TLB_VIEW_WARM].kind[TLB_FAULT_COPY], 2);
   end();
}

TEST(test_no_thp)
{
   begin(&usual);
   map_anon(BASE, 4 * MIB);
   assert_int_equal(touch_all(BASE, 4 * MIB, TLB_TOUCH_WRITE), 1024);
   end();
   tlb_fault_settings always = usual;
   always.thp = TLB_THP_ALWAYS;
   begin(&always);
   map_anon(BASE, 4 * MIB);
   tlb_fault_flag(&m, BASE, BASE + 2 * MIB, TLB_MAP_NOHUGEPAGE, 0);
   assert_int_equal(touch_all(BASE, 4 * MIB, TLB_TOUCH_WRITE), 513);
   end();
}

USUAL(test_collapse)
{
   map_anon(BASE, 4 * MIB);
   touch(BASE, TLB_TOUCH_WRITE);
   tlb_fault_collapse(&m, BASE, BASE + 2 * MIB);
   assert_int_equal(touch_all(BASE, 4 * MIB, TLB_TOUCH_WRITE), 512);
}

TEST(test_folios)
{
   tlb_fault_settings some = usual;
   some.mthp_always = 1u << 4;
   begin(&some);
   map_anon(BASE + 3 * PAGE, 61 * PAGE);
   /* Small ones up to the first boundary, then folios of 16. */
   assert_int_equal(touch_all(BASE + 3 * PAGE, 61 * PAGE, TLB_TOUCH_WRITE),
                    13 + 3);
   end();
   some.mthp_always |= 1u << 2;
   begin(&some);
   map_anon(BASE, 64 * PAGE);
   touch(BASE + 20 * PAGE, TLB_TOUCH_READ);
   /* A zero page is in the way of the large one, not of the small ones. */
   touch(BASE + 24 * PAGE, TLB_TOUCH_WRITE);
   assert_brought(TLB_VIEW_WARM, "+1..+3");
   touch(BASE + 32 * PAGE, TLB_TOUCH_WRITE);
   assert_brought(TLB_VIEW_WARM, "+1..+15");
   end();
   some.mthp_always = 0;
   some.mthp_madvise = 1u << 4;
   begin(&some);
   map_anon(BASE, 32 * PAGE);
   tlb_fault_flag(&m, BASE + 16 * PAGE, BASE + 32 * PAGE, TLB_MAP_HUGEPAGE, 0);
   assert_int_equal(touch_all(BASE, 32 * PAGE, TLB_TOUCH_WRITE), 17);
   end();
}

/* What happens to anonymous memory and a file, the same for each seed. Returns the faults of the
   warm view, and in `trial` those of each trial. */
static uint64_t any_life(const tlb_fault_settings *s, uint64_t seed, uint64_t trial[TLB_MAX_TRIALS])
{
   uint64_t faults = 0;
   begin(s);
   map_anon(BASE, 8 * MIB);
   map_file(BASE + 16 * MIB, 600, RX, 0, DISK, 0);
   tlb_fault_flag(&m, BASE + 5 * MIB, BASE + 6 * MIB, TLB_MAP_NOHUGEPAGE, 0);
   for (unsigned i = 0; i < 1500; i++) {
      seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
      const uint64_t at = BASE + (seed >> 40) % (8 * MIB / PAGE) * PAGE,
                     end = at + (seed >> 30) % 40 * PAGE;
      switch (seed >> 60) {
      case 0: tlb_fault_discard(&m, at, end < BASE + 8 * MIB ? end : at); break;
      case 1: if (i % 50 == 0) tlb_fault_fork(&m, 0); break;
      case 2: if (i % 50 == 0) map_anon(BASE + (seed >> 33) % 4 * 2 * MIB, 2 * MIB); break;
      case 3: tlb_fault_settle(&m, at, TLB_TOUCH_WRITE); break;
      case 4: if (i % 100 == 0)
                 tlb_fault_move(&m, BASE + 2 * MIB, BASE + 32 * MIB, MIB, i % 200 == 0);
              break;
      case 5: if (i % 100 == 0) tlb_fault_collapse(&m, BASE, BASE + 2 * MIB); break;
      case 6: if (i % 100 == 0) tlb_fault_insert(&m, at, at + PAGE); break;
      default:
         faults += touch((seed >> 59 & 1) != 0 ? at : BASE + 16 * MIB + (seed >> 40) % 600 * PAGE,
                         (tlb_touch)((seed >> 59 & 1) != 0 ? seed >> 57 & 1 : 2 * (seed >> 57 & 1)))
                   != TLB_NO_FAULT;
         for (unsigned t = 0; t < s->n_trials; t++)
            trial[t] += m.trial_faults >> t & 1;
      }
   }
   end();
   return faults;
}

TEST(test_trials)
{
   uint64_t fewer[2] = { 0 };
   for (uint64_t seed = 1; seed <= 40; seed++) {
      tlb_fault_settings both = usual;
      uint64_t trial[TLB_MAX_TRIALS] = { 0 }, none[TLB_MAX_TRIALS];
      both.n_trials = 3;
      both.trial[0] = (tlb_fault_folios) { TLB_THP_MADVISE, 1u << 4, 0 };
      both.trial[1] = (tlb_fault_folios) { TLB_THP_ALWAYS, 1u << 2, 0 };
      both.trial[2] = (tlb_fault_folios) { TLB_THP_MADVISE, 0, 0 };
      const uint64_t faults = any_life(&both, seed, trial);
      assert_int_equal(any_life(&usual, seed, none), faults);
      assert_int_equal(trial[2], faults);
      for (unsigned t = 0; t < 2; t++) {
         fewer[t] += faults - trial[t];
         tlb_fault_settings alone = usual;
         alone.thp = both.trial[t].thp;
         alone.mthp_always = both.trial[t].mthp_always;
         assert_int_equal(any_life(&alone, seed, none), trial[t]);
      }
   }
   assert_true(fewer[0] > 0 && fewer[1] > fewer[0]);
}

USUAL(test_hugetlb)
{
   const tlb_mapping v = { .start = BASE, .end = BASE + 4 * MIB, .prot = RW,
                           .flags = TLB_MAP_HUGETLB, .huge_shift = 21 };
   tlb_fault_map(&m, &v);
   assert_int_equal(touch_all(BASE, 4 * MIB, TLB_TOUCH_WRITE), 2);
   assert_int_equal(m.counts[TLB_VIEW_4K].faults, 1024);
   /* What is private has to be written to once more when it was protected. */
   tlb_fault_protect(&m, BASE, BASE + 2 * MIB, TLB_MAY_READ);
   tlb_fault_protect(&m, BASE, BASE + 4 * MIB, RW);
   assert_int_equal(touch_all(BASE, 4 * MIB, TLB_TOUCH_READ), 0);
   assert_int_equal(touch_all(BASE, 4 * MIB, TLB_TOUCH_WRITE), 1);
   assert_int_equal(m.counts[TLB_VIEW_4K].faults, 1024 + 512);
}

/* --- Changes of the address space --- */

USUAL(test_unmap)
{
   map_anon(BASE, 64 * PAGE);
   touch_all(BASE, 64 * PAGE, TLB_TOUCH_WRITE);
   tlb_fault_unmap(&m, BASE + 8 * PAGE, BASE + 16 * PAGE);
   assert_int_equal(touch_all(BASE, 64 * PAGE, TLB_TOUCH_WRITE), 0);
   map_anon(BASE + 8 * PAGE, 8 * PAGE);
   assert_int_equal(touch_all(BASE, 64 * PAGE, TLB_TOUCH_WRITE), 8);
   /* MAP_FIXED over it. */
   map_anon(BASE, 4 * PAGE);
   assert_int_equal(touch_all(BASE, 64 * PAGE, TLB_TOUCH_WRITE), 4);
}

USUAL(test_unmap_of_much)
{
   map_anon(BASE, (uint64_t)1 << 40);
   touch(BASE + ((uint64_t)1 << 39), TLB_TOUCH_WRITE);
   tlb_fault_zap(&m, BASE, BASE + ((uint64_t)1 << 40));
   assert_int_equal(touch(BASE + ((uint64_t)1 << 39), TLB_TOUCH_WRITE),
                    TLB_FAULT_WRITE);
   tlb_fault_unmap(&m, BASE, BASE + ((uint64_t)1 << 40));
   assert_int_equal(m.n_chunks, 0);
}

USUAL(test_move)
{
   map_anon(BASE, 16 * PAGE);
   touch_all(BASE, 8 * PAGE, TLB_TOUCH_WRITE);
   tlb_fault_move(&m, BASE, BASE + 600 * PAGE, 16 * PAGE, 0);
   assert_int_equal(touch(BASE, TLB_TOUCH_WRITE), TLB_NO_FAULT);
   assert_int_equal(touch_all(BASE + 600 * PAGE, 16 * PAGE, TLB_TOUCH_WRITE), 8);
   /* MREMAP_DONTUNMAP: the mapping stays, its pages go. */
   tlb_fault_move(&m, BASE + 600 * PAGE, BASE, 16 * PAGE, 1);
   assert_int_equal(touch_all(BASE, 16 * PAGE, TLB_TOUCH_WRITE), 0);
   assert_int_equal(touch_all(BASE + 600 * PAGE, 16 * PAGE, TLB_TOUCH_WRITE),
                    16);
}

USUAL(test_fork_parent)
{
   map_anon(BASE, 8 * PAGE);
   map_file(BASE + 64 * PAGE, 8, RW, 0, DISK, 0);
   map_file(BASE + 128 * PAGE, 8, RX, 0, DISK, 8);
   map_file(BASE + 192 * PAGE, 8, RW, TLB_MAP_SHARED, 9, 0);
   touch_all(BASE, 8 * PAGE, TLB_TOUCH_WRITE);
   touch_all(BASE + 64 * PAGE, 8 * PAGE, TLB_TOUCH_WRITE);
   touch_all(BASE + 128 * PAGE, 8 * PAGE, TLB_TOUCH_READ);
   touch_all(BASE + 192 * PAGE, 8 * PAGE, TLB_TOUCH_WRITE);
   tlb_fault_fork(&m, 0);
   assert_int_equal(touch_all(BASE, 8 * PAGE, TLB_TOUCH_READ), 0);
   assert_int_equal(touch_all(BASE, 8 * PAGE, TLB_TOUCH_WRITE), 8);
   assert_int_equal(touch_all(BASE + 64 * PAGE, 8 * PAGE, TLB_TOUCH_WRITE), 8);
   assert_int_equal(touch_all(BASE + 128 * PAGE, 8 * PAGE, TLB_TOUCH_READ), 0);
   assert_int_equal(touch_all(BASE + 192 * PAGE, 8 * PAGE, TLB_TOUCH_WRITE), 0);
}

USUAL(test_fork_child)
{
   map_anon(BASE, 8 * PAGE);
   map_file(BASE + 64 * PAGE, 8, RW, 0, DISK, 0);
   map_file(BASE + 128 * PAGE, 8, RX, 0, DISK, 8);
   map_file(BASE + 192 * PAGE, 8, RW, TLB_MAP_SHARED, 9, 0);
   map_anon(BASE + 256 * PAGE, 8 * PAGE);
   map_anon(BASE + 320 * PAGE, 8 * PAGE);
   tlb_fault_flag(&m, BASE + 256 * PAGE, BASE + 264 * PAGE, TLB_MAP_NO_FORK, 0);
   tlb_fault_flag(&m, BASE + 320 * PAGE, BASE + 328 * PAGE,
                  TLB_MAP_WIPE_ON_FORK, 0);
   touch_all(BASE, 8 * PAGE, TLB_TOUCH_WRITE);
   touch(BASE + 64 * PAGE, TLB_TOUCH_READ);
   touch(BASE + 64 * PAGE, TLB_TOUCH_WRITE);
   touch_all(BASE + 128 * PAGE, 8 * PAGE, TLB_TOUCH_READ);
   touch_all(BASE + 192 * PAGE, 8 * PAGE, TLB_TOUCH_WRITE);
   touch_all(BASE + 256 * PAGE, 8 * PAGE, TLB_TOUCH_WRITE);
   touch_all(BASE + 320 * PAGE, 8 * PAGE, TLB_TOUCH_WRITE);
   tlb_fault_fork(&m, 1);
   tlb_fault_zero(&m);
   assert_int_equal(touch_all(BASE, 8 * PAGE, TLB_TOUCH_READ), 0);
   assert_int_equal(touch_all(BASE, 8 * PAGE, TLB_TOUCH_WRITE), 8);
   /* A private file mapping that was written to is copied as a whole, what
      came along included; text is not, nor what is shared. */
   assert_int_equal(touch_all(BASE + 64 * PAGE, 8 * PAGE, TLB_TOUCH_READ), 0);
   assert_int_equal(touch_all(BASE + 128 * PAGE, 8 * PAGE, TLB_TOUCH_READ), 1);
   assert_int_equal(touch_all(BASE + 192 * PAGE, 8 * PAGE, TLB_TOUCH_WRITE), 8);
   assert_int_equal(touch(BASE + 256 * PAGE, TLB_TOUCH_WRITE), TLB_NO_FAULT);
   assert_null(tlb_mappings_find(&m.maps, BASE + 256 * PAGE));
   assert_int_equal(touch_all(BASE + 320 * PAGE, 8 * PAGE, TLB_TOUCH_READ), 8);
}

/* --- Cold --- */

enum { RO = TLB_MAY_READ };

/* A touch of page n of the file's mapping: whether it is major, and what is read
   then, as distances. */
static void cold(uint64_t n, tlb_touch how, int major, int64_t from, int64_t to)
{
   touch(BASE + n * PAGE, how);
   assert_int_equal(out[TLB_VIEW_WARM].major, 0);
   assert_int_equal(out[TLB_VIEW_COLD].major, major);
   if (major) {
      assert_int_equal(out[TLB_VIEW_COLD].read.from, from);
      assert_int_equal(out[TLB_VIEW_COLD].read.to, to);
   }
}

static void begin_cold(uint64_t pages, unsigned prot)
{
   begin(&usual);
   tlb_fault_file_is(&m, 1, DISK, pages * PAGE, 0);
   map_file(BASE, pages, prot, 0, DISK, 0);
}

TEST(test_cold)
{
   begin_cold(100, RO);
   /* 32 pages are read around it, 24 to 55; of these fault-around maps its
      window, 32 to 47, but the page that is to make the kernel read on. */
   cold(40, TLB_TOUCH_READ, 1, -16, 15);
   assert_brought(TLB_VIEW_COLD, "-8..-1,+1..+7");
   cold(28, TLB_TOUCH_READ, 0, 0, 0);
   assert_brought(TLB_VIEW_COLD, "-4..-1,+1..+3");
   assert_brought(TLB_VIEW_WARM, "-12..-1,+1..+3");
   /* The marked page, 48 = 24 + 32 - 8: the next 32, 56 to 87, are read. */
   cold(48, TLB_TOUCH_READ, 0, 0, 0);
   cold(87, TLB_TOUCH_READ, 0, 0, 0);
   cold(88, TLB_TOUCH_READ, 1, -16, 11); /* the file ends with page 99 */
   /* Nothing lies before the file's begin. */
   cold(0, TLB_TOUCH_READ, 1, 0, 31);
   assert_int_equal(m.counts[TLB_VIEW_COLD].major, 3);
   end();
}

TEST(test_cold_code)
{
   /* Pages 10 to 89 of the file. */
   begin(&usual);
   tlb_fault_file_is(&m, 1, DISK, 100 * PAGE, 0);
   map_file(BASE, 80, RX, 0, DISK, 10);
   cold(20, TLB_TOUCH_FETCH, 1, 0, 31);
   assert_brought(TLB_VIEW_COLD, "+1..+11");
   /* What lies before is not read, and no page is marked to go on from. */
   cold(19, TLB_TOUCH_READ, 1, 0, 31);
   cold(51, TLB_TOUCH_FETCH, 0, 0, 0);
   cold(52, TLB_TOUCH_FETCH, 1, 0, 27); /* up to the mapping's end */
   assert_int_equal(m.counts[TLB_VIEW_COLD].major, 3);
   end();
}

TEST(test_cold_advice)
{
   begin_cold(400, RO);
   tlb_fault_flag(&m, BASE, BASE + 400 * PAGE, TLB_MAP_RANDOM, 0);
   cold(100, TLB_TOUCH_READ, 1, 0, 0);
   cold(101, TLB_TOUCH_READ, 1, 0, 0);
   tlb_fault_flag(&m, BASE, BASE + 400 * PAGE, TLB_MAP_SEQUENTIAL,
                  TLB_MAP_RANDOM);
   cold(102, TLB_TOUCH_READ, 1, 0, 31);
   cold(133, TLB_TOUCH_READ, 0, 0, 0);
   cold(134, TLB_TOUCH_READ, 1, 0, 31);
   cold(99, TLB_TOUCH_READ, 1, 0, 31);
   /* From the file's begin on, the second half of the window makes it go on. */
   cold(0, TLB_TOUCH_READ, 1, 0, 31);
   cold(16, TLB_TOUCH_READ, 0, 0, 0);
   cold(63, TLB_TOUCH_READ, 0, 0, 0);
   /* Code is read in the same way for all that the advice says. */
   tlb_fault_flag(&m, BASE, BASE + 400 * PAGE, TLB_MAP_RANDOM,
                  TLB_MAP_SEQUENTIAL);
   tlb_fault_protect(&m, BASE, BASE + 400 * PAGE, RX);
   cold(300, TLB_TOUCH_READ, 1, 0, 31);
   end();
}

/* Window after window, in folios of 1, 4, 16 and 32 pages; a marked folio is
   mapped by nothing but a touch of itself. */
TEST(test_cold_stream)
{
   begin_cold(400, RO);
   cold(0, TLB_TOUCH_READ, 1, 0, 31);       /* marked: 24 */
   assert_brought(TLB_VIEW_COLD, "+1..+15");
   cold(16, TLB_TOUCH_READ, 0, 0, 0);
   assert_brought(TLB_VIEW_COLD, "+1..+7,+9..+15");
   cold(24, TLB_TOUCH_READ, 0, 0, 0);       /* reads 32 to 63; marked: 32 to 35 */
   cold(37, TLB_TOUCH_READ, 0, 0, 0);
   assert_brought(TLB_VIEW_COLD, "-1,+1..+10");
   cold(32, TLB_TOUCH_READ, 0, 0, 0);       /* reads 64 to 95; marked: 64 to 79 */
   assert_brought(TLB_VIEW_COLD, "+1..+3");
   cold(80, TLB_TOUCH_READ, 0, 0, 0);
   assert_brought(TLB_VIEW_COLD, "+1..+15");
   cold(64, TLB_TOUCH_READ, 0, 0, 0);       /* reads 96 to 127, all marked */
   cold(97, TLB_TOUCH_READ, 0, 0, 0);       /* a folio comes whole */
   assert_brought(TLB_VIEW_COLD, "-1,+1..+30");
   end();
}

/* Two streams in turn, as Linux 6.18 was seen to read them: tests/clients/
   fault_cold, `streams'. */
TEST(test_cold_streams)
{
   static const uint64_t major[] = { 0, 200, 96, 352 };
   unsigned n = 0;
   begin_cold(400, RO);
   for (uint64_t i = 0; i < 400; i++) {
      const uint64_t page = i / 2 + (i % 2) * 200;
      touch(BASE + page * PAGE, TLB_TOUCH_READ);
      if (out[TLB_VIEW_COLD].major) {
         assert_in_range(n, 0, 3);
         assert_int_equal(page, major[n++]);
      }
   }
   assert_int_equal(n, 4);
   end();
}

/* A hundred misses, and read-ahead is given up; a page that is found there takes
   one of them back. Writes to private pages, which nothing comes along with. */
TEST(test_cold_misses)
{
   begin_cold(8000, RW);
   for (uint64_t i = 0; i < 100; i++)
      cold(64 * i + 16, TLB_TOUCH_WRITE, 1, -16, 15);
   cold(7000, TLB_TOUCH_WRITE, 1, 0, 0);
   cold(7001, TLB_TOUCH_WRITE, 1, 0, 0);
   for (uint64_t i = 0; i < 3; i++)
      cold(17 + i, TLB_TOUCH_WRITE, 0, 0, 0);
   cold(7100, TLB_TOUCH_WRITE, 1, -16, 15);
   cold(7200, TLB_TOUCH_WRITE, 1, 0, 0);
   /* A read counts all that its fault-around finds. */
   cold(32, TLB_TOUCH_READ, 1, 0, 0);
   cold(80, TLB_TOUCH_READ, 1, 0, 0);
   cold(0, TLB_TOUCH_READ, 0, 0, 0);
   cold(7300, TLB_TOUCH_WRITE, 1, -16, 15);
   end();
}

TEST(test_cold_header)
{
   /* Pages 0 to 3; page 1 is marked and makes the kernel read 8 more. */
   begin_cold(100, RO);
   tlb_fault_file_header(&m, 1, DISK);
   cold(0, TLB_TOUCH_READ, 0, 0, 0);
   assert_brought(TLB_VIEW_COLD, "+2..+3");
   cold(1, TLB_TOUCH_READ, 0, 0, 0);
   /* They are still being read when the fault is tried again; 4 to 7 are marked now. */
   assert_brought(TLB_VIEW_COLD, "");
   cold(4, TLB_TOUCH_READ, 0, 0, 0);
   assert_brought(TLB_VIEW_COLD, "+1..+7");
   cold(28, TLB_TOUCH_READ, 1, -16, 15);
   end();
}

TEST(test_cold_without)
{
   tlb_fault_settings s = usual;
   s.read_ahead = 0;
   begin(&s);
   tlb_fault_file_is(&m, 1, DISK, 100 * PAGE, 0);
   map_file(BASE, 100, RX, 0, DISK, 0);
   tlb_fault_file_header(&m, 1, DISK);
   cold(0, TLB_TOUCH_READ, 0, 0, 0);
   assert_brought(TLB_VIEW_COLD, "");
   for (uint64_t i = 1; i < 100; i++)
      cold(i, TLB_TOUCH_FETCH, 1, 0, 0);
   end();
}

USUAL(test_cold_write)
{
   tlb_fault_file_is(&m, 1, DISK, 100 * PAGE, 0);
   map_file(BASE, 100, RW, 0, DISK, 0);
   assert_int_equal(touch(BASE, TLB_TOUCH_WRITE), TLB_FAULT_WRITE);
   assert_int_equal(out[TLB_VIEW_COLD].major, 1);
   assert_brought(TLB_VIEW_COLD, "");
   tlb_fault_file_read(&m, 1, DISK, 80 * PAGE, PAGE);
   touch(BASE + 80 * PAGE, TLB_TOUCH_READ);
   assert_int_equal(out[TLB_VIEW_COLD].major, 0);
}

/* --- Phases and other base pages --- */

TEST(test_phases)
{
   begin(&usual);
   map_file(BASE, 16, RX, TLB_MAP_MAIN, DISK, 0);
   map_file(BASE + 64 * PAGE, 16, RX, 0, 9, 0);
   map_anon(BASE + 128 * PAGE, 4 * PAGE);
   touch_all(BASE, 16 * PAGE, TLB_TOUCH_FETCH);
   touch_all(BASE + 64 * PAGE, 16 * PAGE, TLB_TOUCH_FETCH);
   touch_all(BASE + 128 * PAGE, 4 * PAGE, TLB_TOUCH_WRITE);
   /* Aligned: one window. Otherwise the first begins with the mapping and has
      16 pages, counted from there: again one, or two at the end of a page
      table. */
   for (unsigned k = 0; k < TLB_N_PHASES; k++) {
      assert_int_equal(m.phase[TLB_GROUP_PROGRAM][k], 1);
      assert_int_equal(m.phase[TLB_GROUP_LIBRARIES][k], 1);
      assert_int_equal(m.phase[TLB_GROUP_OTHER][k], 4);
   }
   end();
   begin(&usual);
   map_file(BASE, 48, RX, 0, 9, 0);
   touch(BASE + 20 * PAGE, TLB_TOUCH_FETCH);
   touch(BASE + 30 * PAGE, TLB_TOUCH_FETCH);
   /* In one window as long as no boundary lies between them. */
   for (unsigned k = 0; k < TLB_N_PHASES; k++)
      assert_int_equal(m.phase[TLB_GROUP_LIBRARIES][k],
                       (20 + k) / 16 == (30 + k) / 16 ? 1 : 2);
   end();
}

TEST(test_large_base_pages)
{
   for (unsigned shift = 14; shift <= 16; shift += 2) {
      tlb_fault_settings s = usual;
      s.page_shift = shift;
      const uint64_t page = (uint64_t)1 << shift;
      begin(&s);
      map_anon(BASE, 64 * MIB);
      for (uint64_t a = BASE; a < BASE + 64 * MIB; a += page)
         touch(a, TLB_TOUCH_WRITE);
      assert_int_equal(m.counts[TLB_VIEW_WARM].faults, 64 * MIB / page);
      const tlb_mapping v = { .start = BASE + 128 * MIB,
                              .end = BASE + 129 * MIB, .device = 1, .inode = 2,
                              .prot = RX };
      tlb_fault_map(&m, &v);
      touch(v.start, TLB_TOUCH_READ);
      /* 64K are four pages of 16K, and one of 64K. */
      assert_brought(TLB_VIEW_WARM, shift == 14 ? "+1..+3" : "");
      end();
   }
}

/* POWER: 32 pages of 64K in a page table, sixteen tables in a chunk of the model. */
TEST(test_small_tables)
{
   const uint64_t page = 64 << 10;
   tlb_fault_settings s = usual;
   s.page_shift = 16;
   s.huge_shift = 21;
   s.thp = TLB_THP_ALWAYS;
   begin(&s);
   map_anon(BASE, 8 * MIB);
   /* A page of the third block has a table, and only that block is in small pages. */
   tlb_fault_flag(&m, BASE, BASE + 8 * MIB, TLB_MAP_NOHUGEPAGE, 0);
   touch(BASE + 4 * MIB + page, TLB_TOUCH_WRITE);
   tlb_fault_flag(&m, BASE, BASE + 8 * MIB, 0, TLB_MAP_NOHUGEPAGE);
   for (uint64_t a = BASE; a < BASE + 8 * MIB; a += page)
      touch(a, TLB_TOUCH_WRITE);
   assert_int_equal(m.counts[TLB_VIEW_WARM].faults, 1 + 3 + 31);
   /* Unmapped with neighbours in the chunk, the table is gone. */
   tlb_fault_unmap(&m, BASE + 4 * MIB, BASE + 6 * MIB);
   map_anon(BASE + 4 * MIB, 2 * MIB);
   touch(BASE + 4 * MIB, TLB_TOUCH_WRITE);
   touch(BASE + 6 * MIB - page, TLB_TOUCH_WRITE);
   assert_int_equal(m.counts[TLB_VIEW_WARM].faults, 1 + 3 + 31 + 1);
   end();
   s.huge_shift = 24;
   begin(&s);
   map_anon(BASE, 40 * MIB);
   for (uint64_t a = BASE; a < BASE + 40 * MIB; a += page)
      touch(a, TLB_TOUCH_WRITE);
   assert_int_equal(m.counts[TLB_VIEW_WARM].faults, 2 + 128);
   end();
}

/* An eight-megabyte stack up to a multiple of 2M, as on arm64, of which the kernel has mapped the
   arguments and 128K. */
TEST(test_thp_of_the_stack)
{
   const uint64_t top = BASE + 8 * MIB;
   const tlb_mapping stack = { .start = BASE, .end = top, .kind = TLB_STACK, .prot = RW };
   tlb_fault_settings always = usual;
   always.thp = TLB_THP_ALWAYS;
   begin(&always);
   tlb_fault_map(&m, &stack);
   touch(top - PAGE, TLB_TOUCH_WRITE);
   touch(top - 2 * PAGE, TLB_TOUCH_WRITE);
   assert_int_equal(m.counts[TLB_VIEW_WARM].faults, 2);
   /* A page at the low end of a block, that of a large variable. */
   touch(top - 6 * MIB, TLB_TOUCH_WRITE);
   touch(top - 4 * MIB - PAGE, TLB_TOUCH_WRITE);
   assert_int_equal(m.counts[TLB_VIEW_WARM].faults, 3);
   /* What is above is in the mapping by now. */
   touch(top - 3 * MIB, TLB_TOUCH_WRITE);
   touch(top - 2 * MIB - PAGE, TLB_TOUCH_WRITE);
   touch(top - 3 * PAGE, TLB_TOUCH_WRITE);
   assert_int_equal(m.counts[TLB_VIEW_WARM].faults, 5);
   end();
   /* The strings come alone, whatever folios there are: the page below takes its own fault. */
   always.thp = TLB_THP_NEVER;
   always.mthp_always = 1 << 2;
   begin(&always);
   tlb_fault_map(&m, &stack);
   tlb_fault_settle(&m, top - PAGE, TLB_TOUCH_WRITE);
   touch(top - 2 * PAGE, TLB_TOUCH_WRITE);
   touch(top - 5 * PAGE, TLB_TOUCH_WRITE);
   touch(top - 8 * PAGE, TLB_TOUCH_WRITE);
   assert_int_equal(m.counts[TLB_VIEW_WARM].faults, 2);
   end();
}

/* --- No fault at all --- */

USUAL(test_outside)
{
   map_file(BASE, 16, RX, 0, DISK, 0);
   assert_int_equal(touch(BASE - PAGE, TLB_TOUCH_READ), TLB_NO_FAULT);
   assert_int_equal(touch(BASE, TLB_TOUCH_WRITE), TLB_NO_FAULT);
   assert_int_equal(m.counts[TLB_VIEW_4K].faults, 0);
   assert_true(!is_present(BASE));
   assert_true(is_present(BASE + PAGE));
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("a read of a file's page maps the aligned 64K around it",
            test_around),
      CLAIM("the window of fault-around is clamped to the mapping, and its end counts"
            " from the clamped start",
            test_around_clamped_to_mapping),
      CLAIM("the window of fault-around is clamped to the page table",
            test_around_clamped_to_page_table),
      CLAIM("the window of fault-around is clamped to the end of the file",
            test_around_ends_with_file),
      CLAIM("a private write copies one page, and fault-around leaves present pages as they are",
            test_around_leaves_what_is_there),
      CLAIM("mprotect splits a mapping, and the window of fault-around with it", test_relro),
      CLAIM("a mapping that was writable does not merge with one that never was",
            test_relro_beside_rodata),
      CLAIM("pages that are owned do not fault again after mprotect there and back",
            test_protect_keeps_pages),
      CLAIM("each page of a shared file faults when it is first written to",
            test_shared_file),
      CLAIM("each page of a shared file faults at its first write, also after MAP_POPULATE",
            test_shared_file_populated),
      CLAIM("shared memory is mapped writable at once", test_shared_memory),
      CLAIM("there is no fault-around where the kernel has none",
            test_no_around),
      CLAIM("fault-around may be as large as a page table", test_large_around),
      CLAIM("64M that are written are 16,384 faults, and as many again after MADV_DONTNEED",
            test_write),
      CLAIM("64M that are read and then written are 16,384 zero pages and as many copies",
            test_read_then_write),
      CLAIM("MAP_POPULATE and mlock leave no faults, MADV_POPULATE_READ leaves one for each write",
            test_populate),
      CLAIM("64M in huge pages are 32 faults, each of which brings 511 pages more", test_thp),
      CLAIM("8M are 4 huge pages if they are aligned, and 515 faults one page off",
            test_thp_off_by_a_page),
      CLAIM("a block that has a page table gets no huge page", test_thp_where_a_page_table_is),
      CLAIM("MADV_DONTNEED of a whole block makes room for a huge page, as its page table goes",
            test_thp_where_a_page_table_was),
      CLAIM("MADV_PAGEOUT takes pages of files away, no private copies and no anonymous memory",
            test_page_out),
      CLAIM("a page table that is freed lengthens what is flushed to its beginning",
            test_tables_that_are_freed),
      CLAIM("reads map the huge zero page", test_thp_zero),
      CLAIM("memory without MADV_HUGEPAGE, or with MADV_NOHUGEPAGE, gets no huge pages",
            test_no_thp),
      CLAIM("MADV_COLLAPSE makes the rest of a block present", test_collapse),
      CLAIM("a folio is the largest that fits, is aligned and all empty", test_folios),
      CLAIM("a trial counts what the warm view does with its folios", test_trials),
      CLAIM("pages of hugetlbfs come whole", test_hugetlb),
      CLAIM("memory that was unmapped faults again", test_unmap),
      CLAIM("a terabyte is unmapped without a look at each page", test_unmap_of_much),
      CLAIM("mremap takes the pages along", test_move),
      CLAIM("fork write-protects private pages in the parent",
            test_fork_parent),
      CLAIM("a child faults text again, and copies what it writes",
            test_fork_child),
      CLAIM("a major fault reads around, and maps what fault-around finds",
            test_cold),
      CLAIM("code is read from the page on, up to its mapping's end",
            test_cold_code),
      CLAIM("MADV_RANDOM and MADV_SEQUENTIAL say how much is read",
            test_cold_advice),
      CLAIM("a stream is read ahead in windows of larger and larger folios",
            test_cold_stream),
      CLAIM("two streams in turn are read as Linux reads them", test_cold_streams),
      CLAIM("a hundred misses end read-ahead, and a page that is found takes one back",
            test_cold_misses),
      CLAIM("the read of a file's header begins a window of read-ahead", test_cold_header),
      CLAIM("without read-ahead each page is read by itself", test_cold_without),
      CLAIM("a private write of a page on the disk is major", test_cold_write),
      CLAIM("each phase moves the windows of fault-around by a page against the mappings",
            test_phases),
      CLAIM("base pages of 16K and 64K: a fault each, and fault-around of the same 64K",
            test_large_base_pages),
      CLAIM("a page table of POWER maps 2M or 16M, and so much is a huge page", test_small_tables),
      CLAIM("the stack is mapped as far as it has grown, and so much can be huge pages",
            test_thp_of_the_stack),
      CLAIM("a touch of nothing, or of forbidden memory, is no fault", test_outside),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
