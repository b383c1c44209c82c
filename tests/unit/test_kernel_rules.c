/* What versions of Linux do otherwise with files that are not in the page cache.
   tests/clients/fault_cold was run under each of them: docs/internals/validation.md has the tables.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "cold_reads.h"
#include "cold_reads_arm64.h"
#include "faultmodel_support.h"

enum { RO = TLB_MAY_READ, RWX = RX | RW, DISK = 5 };

static const tlb_fault *const cold_out = &out[TLB_VIEW_COLD];

static uint64_t file_at; /* where it is mapped */

static void begin_with(const tlb_fault_settings *settings, const char *kernel, uint64_t pages,
                       unsigned prot, unsigned flags)
{
   tlb_fault_settings s = *settings;
   const uint64_t page = (uint64_t)1 << s.page_shift;
   s.kernel = tlb_kernel_named(kernel);
   assert_non_null(s.kernel);
   begin(&s);
   file_at = BASE;
   tlb_fault_file_is(&m, 1, DISK, pages * page, 0);
   const tlb_mapping v = { .start = BASE, .end = BASE + pages * page, .device = 1, .inode = DISK,
                           .prot = (uint8_t)prot, .flags = (uint16_t)flags };
   tlb_fault_map(&m, &v);
}

static void begin_file(const char *kernel, uint64_t pages, unsigned prot, unsigned flags)
{
   begin_with(&usual, kernel, pages, prot, flags);
}

static void touch_page(uint64_t n, tlb_touch how)
{
   touch(file_at + (n << m.settings.page_shift), how);
}

/* A touch of page n that waits for the disk, which gives the pages [n + from, n + to]. */
static void reads(uint64_t n, tlb_touch how, int64_t from, int64_t to)
{
   touch_page(n, how);
   assert_int_equal(cold_out->major, 1);
   assert_int_equal(cold_out->read.from, from);
   assert_int_equal(cold_out->read.to, to);
}

/* A touch of page n that is a fault, but does not wait. */
static void finds(uint64_t n, tlb_touch how)
{
   touch_page(n, how);
   assert_int_not_equal(cold_out->kind, TLB_NO_FAULT);
   assert_int_equal(cold_out->major, 0);
}

static void is_there(uint64_t n)
{
   assert_int_equal(tlb_fault_is_present(&m, BASE + (n << m.settings.page_shift), TLB_VIEW_COLD),
                    1);
}

static void is_not_there(uint64_t n)
{
   assert_int_equal(tlb_fault_is_present(&m, BASE + (n << m.settings.page_shift), TLB_VIEW_COLD),
                    0);
}

TEST(test_versions)
{
   static const struct {
      unsigned major, minor;
      const char *name;
   } known[] = {
      { 5, 10, "6.1" }, { 6, 1, "6.1" }, { 6, 11, "6.1" }, { 6, 12, "6.12" }, { 6, 15, "6.12" },
      { 6, 16, "6.16" }, { 6, 17, "6.17" }, { 6, 18, "6.18" }, { 6, 19, "6.18" }, { 7, 1, "6.18" },
      { 7, 2, "7.2" }, { 7, 10, "7.2" }, { 8, 0, "7.2" },
   };
   for (size_t i = 0; i < sizeof known / sizeof *known; i++)
      assert_string_equal(tlb_kernel_of(known[i].major, known[i].minor)->name, known[i].name);
   for (size_t i = 0; i < TLB_N_KERNELS; i++)
      assert_ptr_equal(tlb_kernel_named(tlb_kernels[i].name), &tlb_kernels[i]);
   assert_null(tlb_kernel_named("6.2"));
   assert_string_equal(tlb_kernel_usual()->name, "6.18");
}

/* A model that is not told has 6.18. */
TEST(test_default)
{
   begin(&usual);
   assert_ptr_equal(m.settings.kernel, tlb_kernel_usual());
   end();
}

TEST(test_code_is_read_from_the_page_on)
{
   begin_file("6.12", 400, RX, 0);
   reads(100, TLB_TOUCH_FETCH, -16, 15);
   finds(108, TLB_TOUCH_FETCH); /* it makes the window go on: 116 to 147 */
   finds(140, TLB_TOUCH_FETCH);
   end();
   begin_file("6.18", 400, RX, 0);
   reads(100, TLB_TOUCH_FETCH, 0, 31);
   reads(99, TLB_TOUCH_FETCH, 0, 31);
   end();
}

TEST(test_code_is_never_read_at_random)
{
   begin_file("6.12", 400, RX, TLB_MAP_RANDOM);
   reads(100, TLB_TOUCH_FETCH, 0, 0);
   end();
   begin_file("6.18", 400, RX, TLB_MAP_RANDOM);
   reads(100, TLB_TOUCH_FETCH, 0, 31);
   end();
}

/* In folios of 64K, from such a boundary to such a one, but within the mapping. */
TEST(test_code_folios)
{
   tlb_fault_settings s = usual;
   s.code_folio_shift = 16;
   begin_with(&s, "6.18", 400, RX, 0);
   reads(100, TLB_TOUCH_FETCH, -4, 27);
   is_there(111);
   is_not_there(112);
   reads(390, TLB_TOUCH_FETCH, -6, 9); /* the file's end */
   end();
   /* A mapping that begins in a folio. */
   s.kernel = tlb_kernel_named("7.2");
   begin(&s);
   file_at = BASE;
   tlb_fault_file_is(&m, 1, DISK, 400 * PAGE, 0);
   map_file(BASE, 200, RX, 0, DISK, 90);
   reads(3, TLB_TOUCH_FETCH, -3, 34); /* pages 90 to 127 of the file */
   end();
   /* Others know nothing of it, and with base pages of 64K nothing is left of it. */
   begin_with(&s, "6.12", 400, RX, 0);
   reads(100, TLB_TOUCH_FETCH, -16, 15);
   end();
   s.page_shift = 16;
   begin_with(&s, "6.18", 400, RX, 0);
   reads(100, TLB_TOUCH_FETCH, 0, 1);
   end();
}

/* Reads that each wait: the pages that fault-around finds take back the miss,
   or, in 7.2, do not. */
TEST(test_misses_of_reads)
{
   static const char *const kernels[] = { "6.1", "6.12", "6.18" };
   for (size_t k = 0; k < 3; k++) {
      begin_file(kernels[k], 8000, RO, 0);
      for (uint64_t i = 0; i < 120; i++)
         reads(64 * i + 20, TLB_TOUCH_READ, -16, 15);
      end();
   }
   begin_file("7.2", 8000, RO, 0);
   for (uint64_t i = 0; i < 100; i++)
      reads(64 * i + 20, TLB_TOUCH_READ, -16, 15);
   reads(7000, TLB_TOUCH_READ, 0, 0);
   /* One is taken back for each fault-around, whatever it finds. */
   finds(5, TLB_TOUCH_READ);
   reads(7100, TLB_TOUCH_READ, 0, 0);
   for (uint64_t i = 1; i < 3; i++)
      finds(64 * i + 5, TLB_TOUCH_READ);
   reads(7201, TLB_TOUCH_READ, -16, 15);
   end();
}

/* Writes to private memory of a mapping that may be executed, too:
   nothing comes along with them. */
TEST(test_misses_of_code)
{
   begin_file("6.18", 8000, RWX, 0);
   for (uint64_t i = 0; i < 100; i++)
      reads(64 * i, TLB_TOUCH_WRITE, 0, 31);
   reads(7000, TLB_TOUCH_WRITE, 0, 0);
   end();
   begin_file("7.2", 8000, RWX, 0);
   for (uint64_t i = 0; i < 120; i++)
      reads(64 * i, TLB_TOUCH_WRITE, 0, 31);
   end();
}

/* They take no miss back, either: of the file's other mappings. */
TEST(test_hits_of_code)
{
   for (int is_new = 0; is_new < 2; is_new++) {
      begin_file(is_new ? "7.2" : "6.18", 8000, RW, 0);
      map_file(BASE + 10000 * PAGE, 8000, RX, 0, DISK, 0);
      for (uint64_t i = 0; i < 100; i++)
         reads(64 * i + 20, TLB_TOUCH_WRITE, -16, 15);
      reads(7000, TLB_TOUCH_WRITE, 0, 0);
      for (uint64_t i = 0; i < 3; i++)
         finds(10000 + 64 * i + 10, TLB_TOUCH_FETCH);
      if (is_new)
         reads(7100, TLB_TOUCH_WRITE, 0, 0);
      else
         reads(7100, TLB_TOUCH_WRITE, -16, 15);
      end();
   }
}

/* MADV_HUGEPAGE: two folios, of what a page table maps or of 2M. */
TEST(test_huge_folios)
{
   static const struct {
      unsigned page_shift;
      int64_t before, since_7_2; /* pages of a folio; 0: it has no effect */
   } sizes[] = { { 12, 512, 512 }, { 14, 2048, 128 }, { 16, 0, 32 } };
   for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      for (size_t k = 0; k < TLB_N_KERNELS; k++) {
         tlb_fault_settings s = usual;
         s.page_shift = sizes[i].page_shift;
         const int is_new = strcmp(tlb_kernels[k].name, "7.2") == 0;
         const int64_t folio = is_new ? sizes[i].since_7_2 : sizes[i].before;
         begin_with(&s, tlb_kernels[k].name, 20000, RO, TLB_MAP_HUGEPAGE);
         if (folio == 0)
            reads(10000, TLB_TOUCH_READ, -1, 0);
         else
            reads(10000, TLB_TOUCH_READ, -(10000 % folio), 2 * folio - 10000 % folio - 1);
         end();
         begin_with(&s, tlb_kernels[k].name, 20000, RO, TLB_MAP_HUGEPAGE | TLB_MAP_RANDOM);
         if (folio == 0)
            reads(10000, TLB_TOUCH_READ, 0, 0);
         else
            reads(10000, TLB_TOUCH_READ, -(10000 % folio), folio - 10000 % folio - 1);
         end();
      }
   }
}

/* Where the files have large folios, one fills a page table, and is mapped by one entry. */
TEST(test_huge_folios_are_mapped_whole)
{
   static const char *const kernels[] = { "6.16", "6.17", "6.18", "7.2" };
   for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
      begin_file(kernels[k], 3000, RO, TLB_MAP_HUGEPAGE);
      reads(700, TLB_TOUCH_READ, -188, 835);
      is_there(512);
      is_there(1023);
      is_not_there(1024);
      finds(1100, TLB_TOUCH_READ); /* marked, so that fault-around leaves it alone */
      is_there(1024);
      is_there(1535);
      is_not_there(1536);
      end();
   }
   begin_file("6.12", 3000, RO, TLB_MAP_HUGEPAGE);
   reads(700, TLB_TOUCH_READ, -188, 835);
   is_there(703);
   is_not_there(704);
   end();
}

/* 7.2 counts misses for it as well, and gives up. */
TEST(test_huge_folios_are_given_up)
{
   begin_file("7.2", 200000, RW, TLB_MAP_HUGEPAGE);
   for (uint64_t i = 0; i < 100; i++)
      reads(1024 * i, TLB_TOUCH_WRITE, 0, 1023);
   reads(150000, TLB_TOUCH_WRITE, 0, 0);
   end();
   begin_file("6.18", 200000, RW, TLB_MAP_HUGEPAGE);
   for (uint64_t i = 0; i < 150; i++)
      reads(1024 * i, TLB_TOUCH_WRITE, 0, 1023);
   end();
}

/* Window after window is read in larger folios. One that reaches out of the window of fault-around
   is mapped all the same, but for the file's last. */
TEST(test_folios_come_whole)
{
   for (int is_new = 0; is_new < 2; is_new++) {
      begin_file(is_new ? "6.18" : "6.17", 400, RO, 0);
      reads(0, TLB_TOUCH_READ, 0, 31); /* marked: 24 */
      finds(24, TLB_TOUCH_READ);       /* 32 to 63, marked from 32 on */
      finds(32, TLB_TOUCH_READ);       /* 64 to 95, marked from 64 on */
      finds(64, TLB_TOUCH_READ);       /* 96 to 127 */
      finds(96, TLB_TOUCH_READ);       /* 128 to 159, marked, in one folio */
      finds(128, TLB_TOUCH_READ);
      is_there(143);
      if (is_new)
         is_there(159);
      else
         is_not_there(144);
      end();
   }
}

TEST(test_the_last_folio_does_not_come_whole)
{
   begin_file("6.18", 160, RO, 0);
   for (uint64_t page = 0; page < 128; page++)
      touch_page(page, TLB_TOUCH_READ);
   finds(130, TLB_TOUCH_READ);
   is_there(143);
   is_not_there(144);
   end();
}

/* Before 6.18, the last page of the file could be one that makes a window go on: it did not come
   along. */
TEST(test_marks_at_the_end)
{
   begin_file("6.12", 32, RO, 0);
   reads(16, TLB_TOUCH_READ, -16, 15);
   is_not_there(24);
   end();
   begin_file("6.18", 32, RO, 0);
   reads(16, TLB_TOUCH_READ, -16, 15);
   is_there(24);
   end();
}

/* The window of pages 32 to 39 follows another. */
TEST(test_marks_at_the_end_of_the_next_window)
{
   for (int is_new = 0; is_new < 2; is_new++) {
      begin_file(is_new ? "7.2" : "6.18", 40, RO, 0);
      reads(0, TLB_TOUCH_READ, 0, 31);
      finds(24, TLB_TOUCH_READ);
      finds(39, TLB_TOUCH_READ);
      if (is_new)
         is_there(32);
      else
         is_not_there(32);
      is_there(36);
      end();
   }
}

/* Page 24, at the begin of a 64K block, makes the kernel read pages 32 to 63. The disk has not
   brought them yet when what is around it is mapped. */
TEST(test_what_is_read_on_comes_with_the_next_fault)
{
   static const char *const kernels[] = { "6.1", "6.12", "6.17", "7.2" };
   for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
      begin_file(kernels[k], 400, RO, 0);
      map_file(BASE + 8 * PAGE, 392, RO, 0, DISK, 0);
      file_at = BASE + 8 * PAGE;
      reads(0, TLB_TOUCH_READ, 0, 31);
      touch_page(24, TLB_TOUCH_READ);
      is_there(8 + 31);
      is_not_there(8 + 36);
      finds(36, TLB_TOUCH_READ);
      is_there(8 + 37);
      end();
   }
}

/* 6.1 counts a fault as major that waits for nothing, but makes the window go on. */
TEST(test_reading_on_is_major_in_6_1)
{
   begin_file("6.1", 400, RO, 0);
   reads(40, TLB_TOUCH_READ, -16, 15);
   reads(48, TLB_TOUCH_READ, 8, 39); /* 56 to 87 */
   finds(87, TLB_TOUCH_READ);
   end();
   begin_file("6.12", 400, RO, 0);
   reads(40, TLB_TOUCH_READ, -16, 15);
   finds(48, TLB_TOUCH_READ);
   finds(87, TLB_TOUCH_READ);
   end();
}

/* Read in sequence, from the page right behind the last window on: in 6.1 that goes on. */
TEST(test_a_page_behind_the_window)
{
   begin_file("6.1", 400, RO, TLB_MAP_SEQUENTIAL);
   reads(0, TLB_TOUCH_READ, 0, 31);
   reads(32, TLB_TOUCH_READ, 0, 31);
   touch_page(48, TLB_TOUCH_READ); /* its mark is in the middle */
   assert_int_equal(cold_out->major, 1);
   finds(95, TLB_TOUCH_READ);
   end();
   begin_file("6.12", 400, RO, TLB_MAP_SEQUENTIAL);
   reads(0, TLB_TOUCH_READ, 0, 31);
   reads(32, TLB_TOUCH_READ, 0, 31);
   finds(48, TLB_TOUCH_READ);
   reads(95, TLB_TOUCH_READ, 0, 31);
   end();
}

/* The kernel's own pages, as those of the vDSO, are read from nowhere. */
TEST(test_pages_of_the_kernel)
{
   for (size_t k = 0; k < TLB_N_KERNELS; k++) {
      begin_file(tlb_kernels[k].name, 2, RX, TLB_MAP_NO_AROUND);
      finds(0, TLB_TOUCH_READ);
      is_not_there(1);
      finds(1, TLB_TOUCH_FETCH);
      end();
   }
}

/* --- What was recorded --- */

static recorded_reads found;
static int minor_too; /* the hash is of twice the page's number then,
                         and one more for a major fault */

static void recorded_touch(const recorded_case *c, uint64_t page)
{
   touch_page(page, strchr(c->mapping, 'w') != NULL ? TLB_TOUCH_WRITE : TLB_TOUCH_READ);
   if (cold_out->kind == TLB_NO_FAULT || (!cold_out->major && !minor_too))
      return;
   const uint64_t word = minor_too ? 2 * page + (cold_out->major != 0) : page;
   found.n++;
   for (unsigned shift = 0; shift < 32; shift += 8)
      found.hash = (found.hash ^ (uint32_t)((word >> shift) & 0xff)) * UINT32_C(0x01000193);
}

/* As touch_in_order() of the client. */
static void recorded_touches(const recorded_case *c)
{
   static const struct {
      const char *order;
      uint64_t first, step, laps;
   } strides[] = { { "up", 0, 1, 1 }, { "stride", 5, 13, 1 }, { "far", 3, 37, 1 },
                   { "again", 0, 29, 2 } };
   for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
      if (strcmp(c->order, strides[i].order) != 0)
         continue;
      for (uint64_t p = strides[i].first; p < c->pages * strides[i].laps; p += strides[i].step)
         recorded_touch(c, p % c->pages);
   }
   for (uint64_t p = c->pages; strcmp(c->order, "down") == 0 && p-- > 0;)
      recorded_touch(c, p);
   for (uint64_t p = 0; strcmp(c->order, "streams") == 0 && p < c->pages / 2; p++) {
      recorded_touch(c, p);
      recorded_touch(c, c->pages / 2 + p);
   }
   uint64_t state = 1;
   for (int i = 0; strcmp(c->order, "random") == 0 && i < 250; i++) {
      state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      recorded_touch(c, (state >> 33) % c->pages);
   }
}

/* Page 100 begins a folio of four pages, and the window up to 127 ends a node of the cache. What is
   read on from page 101 begins two pages behind that:
   as far as the search began behind the folio's begin. */
TEST(test_reading_on_from_within_a_folio)
{
   begin_file("6.18", 400, RO, 0);
   reads(52, TLB_TOUCH_READ, -16, 15);
   finds(60, TLB_TOUCH_READ);
   finds(68, TLB_TOUCH_READ);
   finds(101, TLB_TOUCH_READ);
   finds(144, TLB_TOUCH_READ);
   touch_page(129, TLB_TOUCH_READ);
   assert_int_equal(cold_out->major, 1);
   end();
}

/* The case, mapped at that many bytes behind an address that is a multiple of 2M. */
static void compare_recorded(const recorded_case *c, const tlb_fault_settings *settings,
                             uint64_t at, recorded_reads expected)
{
   const unsigned prot = RO | (strchr(c->mapping, 'w') != NULL ? TLB_MAY_WRITE : 0)
                         | (strchr(c->mapping, 'x') != NULL ? TLB_MAY_EXECUTE : 0);
   const unsigned flags = (strchr(c->mapping, 'R') != NULL ? TLB_MAP_RANDOM : 0)
                          | (strchr(c->mapping, 'S') != NULL ? TLB_MAP_SEQUENTIAL : 0)
                          | (strchr(c->mapping, 'H') != NULL ? TLB_MAP_HUGEPAGE : 0);
   tlb_fault_settings s = *settings;
   s.read_ahead = c->kb * 1024;
   begin(&s);
   tlb_fault_file_is(&m, 1, DISK, (uint64_t)c->pages * PAGE, 0);
   file_at = BASE + at;
   map_file(file_at, c->pages, prot, flags, DISK, 0);
   found = (recorded_reads){ 0, UINT32_C(0x811c9dc5) };
   recorded_touches(c);
   if (found.n != expected.n || found.hash != expected.hash)
      fail_msg("%s: %u pages, %uK, %s, %s: %u faults, not %u, or others", s.kernel->name,
               c->pages, c->kb, c->mapping, c->order, found.n, expected.n);
   end();
}

TEST(test_recorded)
{
   static const char *const kernels[] = { "6.1", "6.12", "6.18", "7.2" };
   tlb_fault_settings s = usual;
   minor_too = 0;
   for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
      for (unsigned k = 0; k < sizeof kernels / sizeof *kernels; k++) {
         /* Where these kernels placed it: files of 2M and more at multiples of 2M. */
         const uint64_t at = recorded[i].pages != 400 ? 0 : k < 2 ? 0x69000 : 0x67000;
         s.kernel = tlb_kernel_named(kernels[k]);
         compare_recorded(&recorded[i], &s, at, recorded[i].of[k]);
      }
   }
}

TEST(test_recorded_arm64)
{
   tlb_fault_settings s = usual;
   s.code_folio_shift = 16;
   minor_too = 1;
   for (size_t i = 0; i < sizeof recorded_arm64 / sizeof *recorded_arm64; i++) {
      const recorded_case *const c = &recorded_arm64[i];
      for (unsigned k = 0; k < N_ARM64_KERNELS; k++) {
         s.kernel = tlb_kernel_named(arm64_kernels[k]);
         compare_recorded(c, &s, c->pages != 400 ? 0 : 0xa000, c->of[k]);
      }
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("a version has the rules of the newest that is known and not newer", test_versions),
      CLAIM("a model that is not told follows Linux 6.18", test_default),
      CLAIM("code is read around the page up to 6.16, and from the page on since",
            test_code_is_read_from_the_page_on),
      CLAIM("MADV_RANDOM is for code, too, up to 6.16", test_code_is_never_read_at_random),
      CLAIM("on arm64 code is read in folios of 64K since 6.17", test_code_folios),
      CLAIM("7.2 takes one miss back for a fault-around, and none after a wait",
            test_misses_of_reads),
      CLAIM("7.2 never ends read-ahead where code may be executed", test_misses_of_code),
      CLAIM("nor does code take misses back there", test_hits_of_code),
      CLAIM("MADV_HUGEPAGE reads folios of a page table, and of 2M in 7.2", test_huge_folios),
      CLAIM("such a folio is mapped by one entry where files have large folios",
            test_huge_folios_are_mapped_whole),
      CLAIM("misses end it in 7.2 alone", test_huge_folios_are_given_up),
      CLAIM("fault-around maps large folios whole since 6.18", test_folios_come_whole),
      CLAIM("but the file's last", test_the_last_folio_does_not_come_whole),
      CLAIM("no page at the end of a file goes on since 6.18", test_marks_at_the_end),
      CLAIM("nor, since 7.2, if its window follows another",
            test_marks_at_the_end_of_the_next_window),
      CLAIM("pages that a fault reads on do not come along with itself",
            test_what_is_read_on_comes_with_the_next_fault),
      CLAIM("reading on is a major fault in 6.1", test_reading_on_is_major_in_6_1),
      CLAIM("a page behind the window goes on in 6.1", test_a_page_behind_the_window),
      CLAIM("a search for what is to be read on passes over pages behind a node's end",
            test_reading_on_from_within_a_folio),
      CLAIM("pages of the vDSO are never major", test_pages_of_the_kernel),
      CLAIM("of 114 walks through files, four kernels were seen to wait at these very touches",
            test_recorded),
      CLAIM("of 63 on arm64, four versions took these very faults, major and minor",
            test_recorded_arm64),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
