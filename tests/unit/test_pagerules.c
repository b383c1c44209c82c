/* The text of --pages= and --huge-pool=, and which rule decides.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/machine/builtin.h"
#include "sim/machine/machine_file.h"
#include "sim/pages/code_blocks.h"
#include "sim/pages/pagerules.h"

typedef struct {
   const char *text;
   const char *expected;
} pair;

static tlb_page_policy empty(void)
{
   tlb_page_policy p;
   memset(&p, 0, sizeof p);
   p.thp = TLB_THP_MADVISE;
   return p;
}

static void read_as(const char *text, char separator, const char *expected)
{
   tlb_page_policy p = empty();
   tlb_reason why;
   char out[512];
   char *const copy = strdup(text);
   assert_non_null(copy);
   if (!tlb_page_rules_parse(copy, separator, 12, &p, &why))
      fail_msg("%s: %s", text, why.text);
   free(copy);
   tlb_page_rules_print(&p, separator, out, sizeof out);
   assert_string_equal(out, expected);
}

TEST(valid)
{
   static const pair forms[] = {
      { "heap:2M", "heap:2M" },
      { "all:4K", "all:4K" },
      { "thp", "all:thp" },
      { "64K", "all:64K" },
      { "contig,stack:4K", "all:contig,stack:4K" },
      { "all:16G,anon:16K,heap:64K,stack:4M,text:256M,data:1G,file:16M",
        "all:16G,anon:16K,heap:64K,stack:4M,text:256M,data:1G,file:16M" },
      { "libc.so*:2M", "libc.so*:2M" },
      { "/usr/lib/*:64K", "/usr/lib/*:64K" },
      { "text=libc.so*:2M,data=/usr/lib/*:64K", "text=libc.so*:2M,data=/usr/lib/*:64K" },
      { "heap:4096", "heap:4K" },
      { "anon#1:2M,text#2+:2M,data#99:2M,file#03:2M", "anon#1:2M,text#2+:2M,data#99:2M,file#3:2M" },
      { "heap#1.db:2M,anon#1*:2M", "heap#1.db:2M,anon#1*:2M" },
      /* A word of ours in a name is no word of ours. */
      { "heap*:2M", "heap*:2M" },
   };
   for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
      read_as(forms[i].text, ',', forms[i].expected);
   read_as("thp+stack:4K", '+', "all:thp+stack:4K");
   read_as("all:2M+stack:4K", '+', "all:2M+stack:4K");
   read_as("anon#4+:2M+text#1:64K", '+', "anon#4+:2M+text#1:64K");
   read_as("libstdc++.so*:2M+thp", '+', "libstdc++.so*:2M+all:thp");
}

#define RULE " is no rule for pages; expected WHAT:SIZE, such as heap:2M"
#define SIZE                                                              \
   " is no page size; allowed are powers of two from 4K to 16G, thp and " \
   "contig"
#define WHAT                                                           \
   " is no memory; allowed are all, anon, heap, stack, text, data, file " \
   "and patterns such as *.so"
#define POOL " is no pool of pages; expected SIZE:PAGES, such as 16M:65"

TEST(refused)
{
   static const pair forms[] = {
      { "text=:2M", "'text='" WHAT },
      { "text=libc:2M", "'text=libc'" WHAT },
      { "heap#1:2M", "'heap#1'" WHAT },
      { "anon#0:2M", "'anon#0'" WHAT },
      { "anon#100:2M", "'anon#100'" WHAT },
      { "anon#1++:2M", "'anon#1++'" WHAT },
      { "anon#:2M", "'anon#'" WHAT },
      { "heap=libc:2M", "'heap=libc'" WHAT },
      { "", "''" RULE },
      { "heap", "'heap'" RULE },
      { ",", "''" RULE },
      { "heap:2M,", "''" RULE },
      { "heap:", "''" SIZE },
      { "heap:3M", "'3M'" SIZE },
      { "heap:32G", "'32G'" SIZE },
      { "heap:2K", "'2K'" SIZE },
      { "heap:2M:4K", "'2M:4K'" SIZE },
      { "heap:THP", "'THP'" SIZE },
      { "haep:2M", "'haep'" WHAT },
      { ":2M", "''" WHAT },
      { "heap:2M,nap:4K", "'nap'" WHAT },
      { "heap:000000000000000000000000000004096",
        "'000000000000000000000000000004096'" SIZE },
   };
   for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
      tlb_page_policy p = empty();
      tlb_reason why;
      char *const text = strdup(forms[i].text);
      assert_non_null(text);
      p.n_rules = 3;
      if (tlb_page_rules_parse(text, ',', 12, &p, &why))
         fail_msg("'%s' is taken", text);
      assert_string_equal(why.text, forms[i].expected);
      assert_int_equal(p.n_rules, 3);
      free(text);
   }
}

TEST(too_small)
{
   tlb_page_policy p = empty();
   tlb_reason why;
   assert_false(tlb_page_rules_parse("thp,heap:16K", ',', 16, &p, &why));
   assert_string_equal(why.text,
                       "'heap:16K' has a page smaller than the base page; "
                       "allowed are 64K and larger");
   assert_true(tlb_page_rules_parse("heap:64K", ',', 16, &p, &why));
}

TEST(too_many)
{
   tlb_page_policy p = empty();
   tlb_reason why;
   char pattern[300];
   for (unsigned i = 0; i < TLB_MAX_PAGE_RULES; i++)
      assert_true(tlb_page_rules_parse("heap:2M", ',', 12, &p, &why));
   assert_false(tlb_page_rules_parse("heap:2M", ',', 12, &p, &why));
   assert_string_equal(why.text, "'heap:2M' is one rule too many; allowed "
                                 "are 32");
   p = empty();
   memset(pattern, '*', sizeof pattern);
   strcpy(pattern + TLB_PATTERN_SIZE - 1, ":2M");
   assert_true(tlb_page_rules_parse(pattern, ',', 12, &p, &why));
   memset(pattern, '*', sizeof pattern);
   strcpy(pattern + TLB_PATTERN_SIZE, ":2M");
   assert_false(tlb_page_rules_parse(pattern, ',', 12, &p, &why));
}

TEST(pools)
{
   static const pair forms[] = {
      { "16M", "'16M'" POOL },
      { "", "''" POOL },
      { "16M:", "'16M:'" POOL },
      { "16M:-1", "'16M:-1'" POOL },
      { "16M:6x", "'16M:6x'" POOL },
      { "3M:65", "'3M:65'" POOL },
      { "16M:99999999999999", "'16M:99999999999999'" POOL },
      { "16M:65,", "''" POOL },
      { "4K:65", "'4K:65' is a pool of base pages; allowed are larger ones" },
      { "16M:65,16M:1",
        "'16M:1' is a second pool of that size; allowed is one" },
   };
   tlb_page_policy p = empty();
   tlb_reason why;
   for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
      if (tlb_page_pools_parse(forms[i].text, 12, &p, &why))
         fail_msg("'%s' is taken", forms[i].text);
      assert_string_equal(why.text, forms[i].expected);
      assert_int_equal(p.n_pools, 0);
   }
   assert_true(tlb_page_pools_parse("16M:65,2M:0", 12, &p, &why));
   assert_true(tlb_page_pools_parse("1G:1", 12, &p, &why));
   assert_int_equal(p.n_pools, 3);
   assert_int_equal(p.pool[0].shift, 24);
   assert_int_equal(p.pool[0].pages, 65);
   assert_int_equal(p.pool[1].pages, 0);
   assert_int_equal(p.pool[2].shift, 30);
}

TEST(patterns)
{
   static const struct {
      const char *pattern;
      const char *name;
      int matches;
   } cases[] = {
      { "libc.so.6", "/usr/lib/x86_64-linux-gnu/libc.so.6", 1 },
      { "libc.so", "/usr/lib/x86_64-linux-gnu/libc.so.6", 0 },
      { "libc.*", "/usr/lib/x86_64-linux-gnu/libc.so.6", 1 },
      { "*.so", "/opt/liba.so", 1 },
      { "*.so", "/opt/liba.so.1", 0 },
      { "*.so*", "/opt/liba.so.1", 1 },
      { "lib?.so", "/opt/liba.so", 1 },
      { "lib?.so", "/opt/lib.so", 0 },
      { "lib?.so", "/opt/libab.so", 0 },
      { "/opt/*", "/opt/a/b", 1 },
      { "/opt/*", "/usr/opt/b", 0 },
      { "*/opt/*", "/usr/opt/b", 1 },
      { "*", "/x", 1 },
      { "*a*a*a*a*a*b", "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0 },
      { "a*b*c", "/axxbyybzzc", 1 },
      { "a*b*c", "/axxbyybzz", 0 },
   };
   for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      if (tlb_pattern_matches(cases[i].pattern, cases[i].name)
          != cases[i].matches)
         fail_msg("%s, %s", cases[i].pattern, cases[i].name);
   }
}

/* --- Which rule counts --- */

static tlb_page_wish wish(const char *rules, const tlb_mapping *m,
                          unsigned base)
{
   tlb_page_policy p = empty();
   tlb_reason why;
   if (rules[0] != '\0' && !tlb_page_rules_parse(rules, ',', base, &p, &why))
      fail_msg("%s: %s", rules, why.text);
   return tlb_page_wish_for(&p, m, base);
}

/* The size that is wished for, 0 for thp. */
static unsigned size(const char *rules, tlb_kind kind, unsigned prot,
                     unsigned flags)
{
   const tlb_mapping m = { .kind = (uint8_t)kind, .prot = (uint8_t)prot,
                           .flags = (uint16_t)flags, .name = "/lib/libx.so",
                           .huge_shift = flags & TLB_MAP_HUGETLB ? 30 : 0 };
   const tlb_page_wish w = wish(rules, &m, 12);
   return w.how == TLB_THP ? 0 : w.shift;
}

enum { RW = TLB_MAY_READ | TLB_MAY_WRITE, RX = TLB_MAY_READ | TLB_MAY_EXECUTE };

TEST(words)
{
   static const char each[] = "anon:8K,heap:16K,stack:32K,text:64K,"
                              "data:128K,file:256K";
   assert_int_equal(size(each, TLB_ANON, RW, 0), 13);
   assert_int_equal(size(each, TLB_ANON, RX, TLB_MAP_SHARED), 13);
   assert_int_equal(size(each, TLB_SHM, RW, TLB_MAP_SHARED), 13);
   assert_int_equal(size(each, TLB_HEAP, RW, 0), 14);
   assert_int_equal(size(each, TLB_STACK, RW, 0), 15);
   assert_int_equal(size(each, TLB_THREAD_STACK, RW, 0), 15);
   assert_int_equal(size(each, TLB_IMAGE, RX, 0), 16);
   assert_int_equal(size(each, TLB_IMAGE, RW, 0), 17);
   assert_int_equal(size(each, TLB_BSS, RW, 0), 17);
   assert_int_equal(size(each, TLB_FILE, RW, 0), 18);
   assert_int_equal(size(each, TLB_FILE, RX, 0), 18);
   for (unsigned kind = 0; kind < TLB_N_KINDS; kind++)
      assert_int_equal(size("all:1G", (tlb_kind)kind, RW, 0), 30);
   assert_int_equal(size("*x.so:2M", TLB_IMAGE, RX, 0), 21);
   assert_int_equal(size("*y.so:2M", TLB_IMAGE, RX, 0), 12);
}

TEST(later_overrides)
{
   assert_int_equal(size("all:2M,heap:4K", TLB_HEAP, RW, 0), 12);
   assert_int_equal(size("heap:4K,all:2M", TLB_HEAP, RW, 0), 21);
   assert_int_equal(size("all:2M,heap:thp", TLB_HEAP, RW, 0), 0);
   /* Where thp can not be it is the base page, not the rule before. */
   assert_int_equal(size("all:2M,all:thp", TLB_FILE, RW, 0), 12);
}

TEST(transparent)
{
   for (unsigned kind = 0; kind < TLB_N_KINDS; kind++) {
      const int can = kind == TLB_ANON || kind == TLB_HEAP || kind == TLB_BSS
                      || kind == TLB_STACK || kind == TLB_THREAD_STACK;
      assert_int_equal(size("all:thp", (tlb_kind)kind, RW, 0), can ? 0 : 12);
      assert_int_equal(size("", (tlb_kind)kind, RW, TLB_MAP_HUGEPAGE),
                       can ? 0 : 12);
   }
   assert_int_equal(size("thp", TLB_ANON, RW, TLB_MAP_SHARED), 12);
   assert_int_equal(size("thp", TLB_ANON, RW, TLB_MAP_NOHUGEPAGE), 12);
   assert_int_equal(size("2M", TLB_ANON, RW, TLB_MAP_NOHUGEPAGE), 21);
   tlb_page_policy p = empty();
   assert_int_equal(tlb_thp_shift(&p, 12), 21);
   assert_int_equal(tlb_thp_shift(&p, 14), 25);
   assert_int_equal(tlb_thp_shift(&p, 16), 29);
   assert_int_equal(tlb_thp_shift(&p, 21), 0);
   p.thp_shift = 24;
   const tlb_mapping anon = { .start = 0, .end = 1 << 26, .prot = RW, .kind = TLB_ANON,
                              .flags = TLB_MAP_HUGEPAGE };
   const tlb_page_rule thp = { .how = TLB_THP };
   assert_int_equal(tlb_page_wish_for(&p, &anon, 16).shift, 24);
   assert_int_equal(tlb_page_rule_shift(&p, &thp, 16), 24);
}

/* How a kernel in that mode backs the mapping, under those rules: the size, 0 for thp. */
static unsigned size_in_mode(tlb_thp_mode mode, const char *rules, tlb_kind kind, unsigned flags)
{
   const tlb_mapping m = { .kind = (uint8_t)kind, .prot = RW, .flags = (uint16_t)flags };
   tlb_page_policy p = empty();
   tlb_reason why;
   p.thp = mode;
   if (rules[0] != '\0' && !tlb_page_rules_parse(rules, ',', 12, &p, &why))
      fail_msg("%s: %s", rules, why.text);
   const tlb_page_wish w = tlb_page_wish_for(&p, &m, 12);
   return w.how == TLB_THP ? 0 : w.shift;
}

TEST(modes)
{
   assert_int_equal(size_in_mode(TLB_THP_NEVER, "", TLB_HEAP, TLB_MAP_HUGEPAGE), 12);
   assert_int_equal(size_in_mode(TLB_THP_MADVISE, "", TLB_HEAP, TLB_MAP_HUGEPAGE), 0);
   assert_int_equal(size_in_mode(TLB_THP_MADVISE, "", TLB_HEAP, 0), 12);
   assert_int_equal(size_in_mode(TLB_THP_ALWAYS, "", TLB_HEAP, 0), 0);
   assert_int_equal(size_in_mode(TLB_THP_ALWAYS, "", TLB_HEAP, TLB_MAP_NOHUGEPAGE), 12);
   assert_int_equal(size_in_mode(TLB_THP_ALWAYS, "", TLB_FILE, 0), 12);
   assert_int_equal(size_in_mode(TLB_THP_ALWAYS, "", TLB_ANON, TLB_MAP_SHARED), 12);
   /* A rule says what differs. */
   assert_int_equal(size_in_mode(TLB_THP_ALWAYS, "heap:4K", TLB_HEAP, 0), 12);
   assert_int_equal(size_in_mode(TLB_THP_ALWAYS, "heap:4K", TLB_ANON, 0), 0);
   assert_int_equal(size_in_mode(TLB_THP_NEVER, "heap:thp", TLB_HEAP, 0), 0);
}

/* The size of a page of a mapping at 1M and `off`, from there on in the file, where the kernel maps
   code in blocks of 64K. */
static unsigned size_of_code(const char *rules, tlb_mapping m, uint64_t off)
{
   tlb_page_policy p = empty();
   tlb_reason why;
   p.code_shift = 16;
   p.thp = TLB_THP_ALWAYS;
   if (rules[0] != '\0' && !tlb_page_rules_parse(rules, ',', 12, &p, &why))
      fail_msg("%s: %s", rules, why.text);
   m.start = (UINT64_C(1) << 20) + off;
   const tlb_page_wish w = tlb_page_wish_for(&p, &m, 12);
   assert_true(w.how != TLB_CONTIG || w.shift == 16);
   return w.how == TLB_THP ? 0 : w.shift;
}

TEST(code)
{
   const tlb_mapping is = { .kind = TLB_IMAGE, .prot = RX, .inode = 1, .name = "/lib/libx.so" };
   tlb_mapping m = is;
   assert_int_equal(size_of_code("", m, 0), 16);
   /* The mapping may begin in the middle of a block, if it does so in the file. */
   m.offset = 0x3000;
   assert_int_equal(size_of_code("", m, 0x3000), 16);
   assert_int_equal(size_of_code("", m, 0x13000), 16);
   assert_int_equal(size_of_code("", m, 0), 12);
   assert_int_equal(size_of_code("", m, 0x4000), 12);
   m.flags = TLB_MAP_MAIN;
   assert_int_equal(size_of_code("", m, 0x4000), 16);
   m = is;
   m.prot = TLB_MAY_READ;
   assert_int_equal(size_of_code("", m, 0), 12);
   m = is;
   m.kind = TLB_FILE;
   assert_int_equal(size_of_code("", m, 0), 12);
   m = is;
   m.inode = 0; /* the kernel's own, or of no file */
   assert_int_equal(size_of_code("", m, 0), 12);
   m = is;
   m.flags = TLB_MAP_HUGEPAGE;
   assert_int_equal(size_of_code("", m, 0), 16);
   m.flags = TLB_MAP_HUGETLB;
   m.huge_shift = 21;
   assert_int_equal(size_of_code("", m, 0), 21);
   m = (tlb_mapping){ .kind = TLB_HEAP, .prot = RW };
   assert_int_equal(size_of_code("", m, 0), 0);
   /* Rules override it. */
   assert_int_equal(size_of_code("text:4K", is, 0), 12);
   assert_int_equal(size_of_code("all:4K", is, 0), 12);
   assert_int_equal(size_of_code("libx.so:2M", is, 0), 21);
   assert_int_equal(size_of_code("liby.so:2M,heap:4K", is, 0), 16);
}

TEST(rules_for_all_code)
{
   static const char *const all[] = { "text:4K", "4K", "heap:2M,all:thp" };
   static const char *const some[] = { "heap:4K", "text#1:2M", "text=libc.so*:2M", "lib*:4K",
                                       "file:64K" };
   for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
      tlb_page_policy p = empty();
      tlb_reason why;
      assert_true(tlb_page_rules_parse(all[i], ',', 12, &p, &why));
      assert_true(tlb_page_rules_have_code(&p));
   }
   for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
      tlb_page_policy p = empty();
      tlb_reason why;
      assert_true(tlb_page_rules_parse(some[i], ',', 12, &p, &why));
      assert_false(tlb_page_rules_have_code(&p));
   }
}

static int is_in_blocks(const char *machine, const char *rules, char note[TLB_RULE_NOTE_SIZE])
{
   static const char text[] = "16 131072 aarch64 6.18";
   const tlb_builtin *const b = tlb_builtin_machine(machine);
   static tlb_machine m;
   tlb_page_policy p = empty();
   tlb_code_blocks c;
   tlb_reason why;
   uint32_t line;
   assert_non_null(b);
   assert_true(tlb_machine_parse(b->text, b->length, &m, &line, &why));
   assert_true(tlb_code_blocks_parse(text, strlen(text), &c));
   assert_true(rules[0] == '\0' || tlb_page_rules_parse(rules, ',', 12, &p, &why));
   const int is = tlb_code_blocks_take(&c, &m, &p, note) != 0;
   assert_int_equal(p.code_shift, is ? 16 : 0);
   assert_int_equal(p.code_from, is ? 131072 : 0);
   return is;
}

TEST(blocks)
{
   char note[TLB_RULE_NOTE_SIZE];
   assert_true(is_in_blocks("neoverse-n1", "heap:2M,libc.so.6:4K", note));
   assert_string_equal(note, "code of files from 128K on in blocks of 64K, as Linux 6.18 maps it; "
                             "--pages=text:4K for base pages, text:contig for all of it");
   assert_false(is_in_blocks("neoverse-n1", "text:4K", note));
   assert_false(is_in_blocks("neoverse-n1", "2M", note));
   assert_false(is_in_blocks("apple-m1", "", note)); /* base pages of 16K */
   assert_false(is_in_blocks("skylake", "", note));
}

TEST(no_blocks)
{
   static const char *const wrong[] = {
      "", "16", "16 131072", "16 131072 aarch64", "16 131072 aarch64 ", "16 131072 aarch64 6.18 ",
      "16 131072  6.18", "12 131072 aarch64 6.18", "99 131072 aarch64 6.18",
      "x 131072 aarch64 6.18", "16 131072 aarch64aarch64aa 6.18", "16 131072 aar\tch64 6.18",
   };
   for (unsigned i = 0; i < N(wrong); i++) {
      tlb_code_blocks c;
      assert_false(tlb_code_blocks_parse(wrong[i], strlen(wrong[i]), &c));
   }
}

TEST(which_rule)
{
   static const tlb_mapping heap = { .kind = TLB_HEAP, .prot = RW };
   assert_int_equal(wish("", &heap, 12).rule, 0);
   assert_int_equal(wish("stack:2M", &heap, 12).rule, 0);
   assert_int_equal(wish("stack:2M,all:4K", &heap, 12).rule, 2);
   assert_int_equal(wish("heap:2M,all:4K", &heap, 12).rule, 2);
   assert_int_equal(wish("heap:contig,stack:4K", &heap, 12).rule, 1);
   assert_int_equal(wish("contig", &heap, 12).shift, 16);
   assert_int_equal(wish("contig", &heap, 13).shift, 16);
   assert_int_equal(wish("contig", &heap, 14).shift, 21);
   assert_int_equal(wish("contig", &heap, 16).shift, 21);
}

TEST(program_first)
{
   assert_int_equal(size("", TLB_ANON, RW, TLB_MAP_HUGETLB), 30);
   assert_int_equal(size("thp", TLB_ANON, RW, TLB_MAP_HUGETLB), 30);
   assert_int_equal(size("contig", TLB_ANON, RW, TLB_MAP_HUGETLB), 30);
   assert_int_equal(size("4K", TLB_ANON, RW, TLB_MAP_HUGETLB), 12);
   assert_int_equal(size("4K", TLB_ANON, RW, TLB_MAP_HUGEPAGE), 12);
   assert_int_equal(size("contig", TLB_FILE, RW, 0), 16);
}

int main(void)
{
   static const struct CMUnitTest tests[] = {
      CLAIM("valid rules are read and printed back", valid),
      CLAIM("the kernel's mode of huge pages counts where no rule says otherwise", modes),
      CLAIM("code of files is in the kernel's blocks where it lies as in the file", code),
      CLAIM("a rule for all memory or all code leaves none to the kernel", rules_for_all_code),
      CLAIM("a kernel's blocks of code are for machines of its architecture that hold them",
            blocks),
      CLAIM("what a recording says of such blocks is refused if it can not be so", no_blocks),
      CLAIM("a page's size comes with the number of the rule that decided it", which_rule),
      CLAIM("what is no rule is refused in words, and nothing is changed",
            refused),
      CLAIM("a page smaller than the base page is refused", too_small),
      CLAIM("a 33rd rule and a pattern of 128 bytes are refused", too_many),
      CLAIM("pools are read, or refused in words", pools),
      CLAIM("patterns match a whole name or its last part", patterns),
      CLAIM("each kind of memory matches its word", words),
      CLAIM("a later rule overrides an earlier one", later_overrides),
      CLAIM("transparent huge pages back private anonymous memory",
            transparent),
      CLAIM("MAP_HUGETLB and MADV_HUGEPAGE count as a rule before all others", program_first),
   };
   return cmocka_run_group_tests_name("pagerules", tests, NULL, NULL);
}
