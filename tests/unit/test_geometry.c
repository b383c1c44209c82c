/* Geometries: the text form of an array's shape, and which shapes are refused.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

typedef struct {
   const char *text;
   const char *expected;
} pair;

#define ENTRIES " is no number of entries; allowed are 1 to 1048576"
#define WAYS " is no number of ways; allowed are 1 to the entries, or full"
#define SIZE                                                                  \
   " is no page size; allowed are powers of two from 4K to 16G, such as 4K, " \
   "64K, 2M or 1G"
#define POLICY                                                              \
   " is no replacement policy; allowed are lru, plru, fifo, nru, "          \
   "(mru+1)%3-plru4, random and random:SEED"
#define DIVIDE " entries; ways must divide the entries, or be full"

static void refused_with(const pair *p, size_t n)
{
   for (size_t i = 0; i < n; i++) {
      /* On the heap, so that reading too far is seen. */
      char *const text = strdup(p[i].text);
      tlb_geometry g;
      tlb_reason why;
      memset(&why, 'x', sizeof why);
      assert_non_null(text);
      if (tlb_geometry_parse(text, 12, &g, &why))
         fail_msg("'%s' is taken", text);
      assert_string_equal(why.text, p[i].expected);
      free(text);
   }
}

static void printed_as(const pair *p, size_t n)
{
   for (size_t i = 0; i < n; i++) {
      const tlb_geometry g = unit_geometry(p[i].text);
      char out[128];
      tlb_reason why;
      tlb_geometry_print(&g, out, sizeof out);
      assert_string_equal(out, p[i].expected);
      assert_true(tlb_geometry_check(&g, &why));
   }
}

#define EACH(table) table, sizeof table / sizeof table[0]

TEST(valid)
{
   static const pair forms[] = {
      { "64,4", "64 entries, 4-way, 16 sets, pages 4K, lru" },
      { "64,4,4K", "64 entries, 4-way, 16 sets, pages 4K, lru" },
      { "64,4,4096", "64 entries, 4-way, 16 sets, pages 4K, lru" },
      { "72,full", "72 entries, fully associative, pages 4K, lru" },
      { "72,72", "72 entries, fully associative, pages 4K, lru" },
      { "72,6,8K", "72 entries, 6-way, 12 sets, pages 8K, lru" },
      { "96,6", "96 entries, 6-way, 16 sets, pages 4K, lru" },
      { "1536,12,4K+2M", "1536 entries, 12-way, 128 sets, pages 4K+2M, lru" },
      { "1536,12,2M+4K", "1536 entries, 12-way, 128 sets, pages 4K+2M, lru" },
      { "1280,5", "1280 entries, 5-way, 256 sets, pages 4K, lru" },
      { "3072,12", "3072 entries, 12-way, 256 sets, pages 4K, lru" },
      { "12,4,4K,plru", "12 entries, 4-way, 3 sets, pages 4K, plru" },
      { "64,1,64K,fifo", "64 entries, direct-mapped, pages 64K, fifo" },
      { "1,1", "1 entry, fully associative, pages 4K, lru" },
      { "1,full,16G,plru", "1 entry, fully associative, pages 16G, plru" },
      { "64,full,8K,nru", "64 entries, fully associative, pages 8K, nru" },
      { "8,2,4K,random", "8 entries, 2-way, 4 sets, pages 4K, random:0" },
      { "8,2,4K,random:7", "8 entries, 2-way, 4 sets, pages 4K, random:7" },
      { "8,2,4K,random:18446744073709551615",
        "8 entries, 2-way, 4 sets, pages 4K, random:18446744073709551615" },
      { "1048576,full",
        "1048576 entries, fully associative, pages 4K, lru" },
      { "1048576,1", "1048576 entries, direct-mapped, pages 4K, lru" },
      { "4,2,4K+8K+16K+64K+2M+4M+1G+16G",
        "4 entries, 2-way, 2 sets, pages 4K+8K+16K+64K+2M+4M+1G+16G, lru" },
   };
   printed_as(EACH(forms));
}

TEST(base_page)
{
   tlb_geometry g;
   tlb_reason why;
   assert_true(tlb_geometry_parse("64,4", 16, &g, &why));
   assert_true(g.page_sizes == UINT64_C(1) << 16);
   assert_true(tlb_geometry_parse("64,4,2M", 16, &g, &why));
   assert_true(g.page_sizes == UINT64_C(1) << 21);
}

TEST(no_array)
{
   static const pair bad[] = {
      { "", "'' is no array; expected ENTRIES,WAYS[,SIZES[,POLICY]]" },
      { "64", "'64' is no array; expected ENTRIES,WAYS[,SIZES[,POLICY]]" },
      { "full", "'full' is no array; expected ENTRIES,WAYS[,SIZES[,POLICY]]" },
      { "64;4", "'64;4' is no array; expected ENTRIES,WAYS[,SIZES[,POLICY]]" },
   };
   refused_with(EACH(bad));
}

TEST(bad_entries)
{
   static const pair bad[] = {
      { ",4", "''" ENTRIES },
      { "0,1", "'0'" ENTRIES },
      { "1048577,1", "'1048577'" ENTRIES },
      { "4294967296,1", "'4294967296'" ENTRIES },
      { "4294967360,4", "'4294967360'" ENTRIES },
      { "18446744073709551616,4", "'18446744073709551616'" ENTRIES },
      { "18446744073709551680,4", "'18446744073709551680'" ENTRIES },
      { "-64,4", "'-64'" ENTRIES },
      { "+64,4", "'+64'" ENTRIES },
      { " 64,4", "' 64'" ENTRIES },
      { "64 ,4", "'64 '" ENTRIES },
      { "0x40,4", "'0x40'" ENTRIES },
      { "64K,4", "'64K'" ENTRIES },
      { "full,4", "'full'" ENTRIES },
      { "6\n4,4", "'6?4'" ENTRIES },
      { "\x1b[31m,4", "'?[31m'" ENTRIES },
   };
   refused_with(EACH(bad));
}

TEST(bad_ways)
{
   static const pair bad[] = {
      { "64,", "''" WAYS },
      { "64,,4K", "''" WAYS },
      { "64,0", "'0'" WAYS },
      { "64,-4", "'-4'" WAYS },
      { "64, 4", "' 4'" WAYS },
      { "64,4 ", "'4 '" WAYS },
      { "64,4way", "'4way'" WAYS },
      { "64,Full", "'Full'" WAYS },
      { "64,fully", "'fully'" WAYS },
      { "64,ful", "'ful'" WAYS },
      { "64,1048577", "'1048577'" WAYS },
      { "64,4294967300", "'4294967300'" WAYS },
      { "64,18446744073709551620", "'18446744073709551620'" WAYS },
      { "64,4:16", "'4:16'" WAYS },
   };
   refused_with(EACH(bad));
}

TEST(not_dividing)
{
   static const pair bad[] = {
      { "64,5", "5 ways do not divide 64" DIVIDE },
      { "64,65", "65 ways do not divide 64" DIVIDE },
      { "64,128", "128 ways do not divide 64" DIVIDE },
      { "1,2", "2 ways do not divide 1" DIVIDE },
      { "1536,7,4K,fifo", "7 ways do not divide 1536" DIVIDE },
   };
   refused_with(EACH(bad));
}

TEST(bad_sizes)
{
   static const pair bad[] = {
      { "64,4,", "''" SIZE },
      { "64,4,,lru", "''" SIZE },
      { "64,4,lru", "'lru'" SIZE },
      { "64,4,+4K", "''" SIZE },
      { "64,4,4K+", "''" SIZE },
      { "64,4,4K+,lru", "''" SIZE },
      { "64,4,4K++2M", "''" SIZE },
      { "64,4,4K+2M+3M", "'3M'" SIZE },
      { "64,4,4K+4K", "'4K' is there already; allowed is each page size once" },
      { "64,4,4K+2M+4096",
        "'4096' is there already; allowed is each page size once" },
      { "64,4,4K 2M", "'4K 2M'" SIZE },
      { "64,4,2K", "'2K'" SIZE },
      { "64,4,32G", "'32G'" SIZE },
   };
   refused_with(EACH(bad));
}

TEST(bad_policies)
{
   static const pair bad[] = {
      { "64,4,4K,", "''" POLICY },
      { "64,4,4K,LRU", "'LRU'" POLICY },
      { "64,4,4K,lru ", "'lru '" POLICY },
      { "64,4,4K,lr", "'lr'" POLICY },
      { "64,4,4K,lruu", "'lruu'" POLICY },
      { "64,4,4K,lru,4K", "'lru,4K'" POLICY },
      { "64,4,4K,lru:1", "'lru:1'" POLICY },
      { "64,4,4K,random:", "'random:'" POLICY },
      { "64,4,4K,random:x", "'random:x'" POLICY },
      { "64,4,4K,random:-1", "'random:-1'" POLICY },
      { "64,4,4K,random:1:2", "'random:1:2'" POLICY },
      { "64,4,4K,random:18446744073709551616",
        "'random:18446744073709551616'" POLICY },
   };
   refused_with(EACH(bad));
}

TEST(plru_ways)
{
   static const pair bad[] = {
      { "1536,12,4K,plru", "plru needs a power of two of ways, not 12" },
      { "72,full,4K,plru", "plru needs a power of two of ways, not 72" },
      { "9,3,4K,plru", "plru needs a power of two of ways, not 3" },
   };
   refused_with(EACH(bad));
}

TEST(checked)
{
   tlb_geometry g = { .entries = 0, .ways = 1, .page_sizes = 1 << 12 };
   tlb_reason why;
   assert_false(tlb_geometry_check(&g, &why));
   assert_string_equal(why.text, "0 entries; allowed are 1 to 1048576");
   g.entries = TLB_MAX_ENTRIES + 1;
   assert_false(tlb_geometry_check(&g, &why));
   assert_string_equal(why.text, "1048577 entries; allowed are 1 to 1048576");
   g.entries = UINT32_MAX;
   assert_false(tlb_geometry_check(&g, &why));
   g.entries = 64;
   g.ways = 0;
   assert_false(tlb_geometry_check(&g, &why));
   assert_string_equal(why.text, "0 ways do not divide 64" DIVIDE);
   g.ways = 4;
   g.page_sizes = 0;
   assert_false(tlb_geometry_check(&g, &why));
   assert_string_equal(why.text,
                       "an array must hold pages of at least one size");
   g.page_sizes = 1 << 12;
   assert_true(tlb_geometry_check(&g, &why));
}

TEST(page_size)
{
   char text[32];
   tlb_reason why;
   for (unsigned shift = 0; shift < 64; shift++) {
      const unsigned expected = shift >= 12 && shift <= 34 ? shift : 0;
      snprintf(text, sizeof text, "%llu", 1ull << shift);
      assert_int_equal(tlb_page_size_parse(text, &why), expected);
      if (shift >= 10) {
         snprintf(text, sizeof text, "%lluK", 1ull << (shift - 10));
         assert_int_equal(tlb_page_size_parse(text, &why), expected);
      }
      if (shift >= 20) {
         snprintf(text, sizeof text, "%lluM", 1ull << (shift - 20));
         assert_int_equal(tlb_page_size_parse(text, &why), expected);
      }
      if (shift >= 30) {
         snprintf(text, sizeof text, "%lluG", 1ull << (shift - 30));
         assert_int_equal(tlb_page_size_parse(text, &why), expected);
      }
   }
}

TEST(no_page_size)
{
   static const pair bad[] = {
      { "", "''" SIZE },          { "4", "'4'" SIZE },
      { "K", "'K'" SIZE },        { "4k", "'4k'" SIZE },
      { "4KB", "'4KB'" SIZE },    { "4KiB", "'4KiB'" SIZE },
      { "4T", "'4T'" SIZE },      { "4 K", "'4 K'" SIZE },
      { " 4K", "' 4K'" SIZE },    { "4K ", "'4K '" SIZE },
      { "-4K", "'-4K'" SIZE },    { "+4K", "'+4K'" SIZE },
      { "0", "'0'" SIZE },        { "0K", "'0K'" SIZE },
      { "6K", "'6K'" SIZE },      { "4097", "'4097'" SIZE },
      { "4K+2M", "'4K+2M'" SIZE }, { "4KK", "'4KK'" SIZE },
      { "18446744073709551616", "'18446744073709551616'" SIZE },
      { "18446744073709551616K", "'18446744073709551616K'" SIZE },
      { "9223372036854775808G", "'9223372036854775808G'" SIZE },
      { "4\n", "'4?'" SIZE },
   };
   tlb_reason why;
   for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
      assert_int_equal(tlb_page_size_parse(bad[i].text, &why), 0);
      assert_string_equal(why.text, bad[i].expected);
   }
}

/* A megabyte in each place where text can stand. */
TEST(long_text)
{
   static const char *const form[] = { "%s", "%s,4", "64,%s", "64,4,%s",
                                       "64,4,4K+%s", "64,4,4K,%s",
                                       "64,4,4K,random:%s" };
   enum { LENGTH = 1 << 20 };
   char *const filling = malloc(LENGTH + 1);
   char *const text = malloc(LENGTH + 64);
   assert_non_null(filling);
   assert_non_null(text);
   for (int c = 0; c < 3; c++) {
      memset(filling, "9\x01,"[c], LENGTH);
      filling[LENGTH] = '\0';
      for (size_t i = 0; i < sizeof form / sizeof form[0]; i++) {
         tlb_geometry g;
         tlb_reason why;
         memset(&why, 'x', sizeof why);
         const char *const hole = strchr(form[i], '%');
         snprintf(text, LENGTH + 64, "%.*s%s%s", (int)(hole - form[i]),
                  form[i], filling, hole + 2);
         assert_false(tlb_geometry_parse(text, 12, &g, &why));
         assert_true(strlen(why.text) < sizeof why.text - 1);
         for (const char *p = why.text; *p != '\0'; p++)
            assert_true(*p >= ' ');
      }
   }
   free(text);
   free(filling);
}

TEST(rubbish)
{
   static const char *const piece[] = {
      "64",  "1536", "12", "4", "1",    "full", ",",    ",",  ",",
      ",4K", ",4K",  "+",  "+", "2M",   ",lru", "plru", ":7", ",random",
      "0",   "-",    " ",  "K", "\x01", "fifo", "18446744073709551616",
   };
   uint64_t seed = 1;
   unsigned taken = 0;
   for (unsigned i = 0; i < 200000; i++) {
      char text[256];
      tlb_geometry g;
      tlb_reason why;
      size_t at = 0;
      /* Half of them begin well. */
      for (const char *p = i % 2 ? "64,4" : ""; *p != '\0'; p++)
         text[at++] = *p;
      for (uint64_t n = unit_random(&seed) % 7; n > 0; n--) {
         const char *p = piece[(unit_random(&seed) >> 8)
                               % (sizeof piece / sizeof piece[0])];
         while (*p != '\0')
            text[at++] = *p++;
      }
      text[at] = '\0';
      if (tlb_geometry_parse(text, 12, &g, &why)) {
         assert_true(tlb_geometry_check(&g, &why));
         taken++;
      } else {
         assert_true(strlen(why.text) > 10);
      }
   }
   assert_true(taken > 5000);
}

TEST(print_cut)
{
   const tlb_geometry g = unit_geometry("1536,12,4K+2M,random:99");
   static const char whole[] =
      "1536 entries, 12-way, 128 sets, pages 4K+2M, random:99";
   for (size_t size = 1; size <= sizeof whole; size++) {
      char *const out = malloc(size);
      assert_non_null(out);
      tlb_geometry_print(&g, out, size);
      assert_int_equal(strlen(out), size - 1);
      assert_memory_equal(out, whole, size - 1);
      free(out);
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("every valid form is printed back", valid),
      CLAIM("an array without sizes holds the base page", base_page),
      CLAIM("a geometry without ways is refused", no_array),
      CLAIM("entries must be a number from 1 to 1048576", bad_entries),
      CLAIM("ways must be a number or full", bad_ways),
      CLAIM("ways that do not divide the entries are refused", not_dividing),
      CLAIM("a list of sizes must have a page size in each place", bad_sizes),
      CLAIM("a policy must be one of five, with a seed only for random",
            bad_policies),
      CLAIM("plru is refused where the ways are no power of two", plru_ways),
      CLAIM("a geometry that was not parsed is checked as well", checked),
      CLAIM("page sizes are the powers of two from 4K to 16G, in any unit",
            page_size),
      CLAIM("everything but the powers of two from 4K to 16G is no page size", no_page_size),
      CLAIM("a megabyte of text is refused in one printable line", long_text),
      CLAIM("random text is refused or gives a geometry that can be", rubbish),
      CLAIM("a printed geometry is cut to the buffer", print_cut),
   };
   return cmocka_run_group_tests_name("geometry", tests, NULL, NULL);
}
