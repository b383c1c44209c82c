/* Machine files: what is read, what is refused and where, what is printed.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/machine/machine_file.h"

static tlb_machine machine, again;
static char printed[TLB_MACHINE_TEXT_SIZE];

/* One file that says all there is to say. Tests take it apart by lines. */
static const char full[] =
   "# A comment, then the version.\n"
   "tlbgrind-machine 1\n"
   "\n"
   "name            odd-one\n"
   "title           A processor that has everything\n"
   "isa             x86-64\n"
   "year            1999\n"
   "confidence      B\n"
   "base-page       4K\n"
   "source          the first\n"
   "source          the second\n"
   "note            built for this test\n"
   "\n"
   "array           ITLB\n"
   "   level        1\n"
   "   users        fetches\n"
   "   entries      unknown, assume 48\n"
   "   ways         unknown, assume full\n"
   "   pages        unknown, assume 4K+2M\n"
   "   larger-pages unknown, assume split\n"
   "   policy       unknown, assume random:7\n"
   "   threads      2 partitioned\n"
   "   confidence   C\n"
   "   source       nobody\n"
   "array           DTLB-loads\n"
   "   level        1\n"
   "   users        loads\n"
   "   entries      64\n"
   "   ways         4\n"
   "   pages        4K\n"
   "   larger-pages split\n"
   "   policy       plru\n"
   "   coalesces    16K\n"
   "   threads      4 shared\n"
   "array           DTLB-stores\n"
   "   level        1\n"
   "   users        stores\n"
   "   entries      17\n"
   "   ways         full\n"
   "   pages        4K+2M\n"
   "   larger-pages bypass\n"
   "   policy       nru\n"
   "   threads      1\n"
   "array           L2-A\n"
   "   level        2\n"
   "   users        all\n"
   "   entries      1536\n"
   "   ways         6\n"
   "   index        xor 8\n"
   "   pages        4K+2M\n"
   "   larger-pages bypass\n"
   "   policy       unknown, assume lru\n"
   "   hit-cycles   7\n"
   "   threads      2 copied\n"
   "array           L2-B\n"
   "   level        2\n"
   "   users        loads+stores\n"
   "   entries      1024\n"
   "   ways         8\n"
   "   pages        4K+1G\n"
   "   larger-pages bypass\n"
   "   policy       fifo\n"
   "   hit-cycles   unknown\n"
   "   threads      unknown\n"
   "array           L3\n"
   "   level        3\n"
   "   users        all\n"
   "   entries      2048\n"
   "   ways         4\n"
   "   pages        4K+64K+16M+16G\n"
   "   larger-pages bypass\n"
   "   policy       lru\n"
   "   hit-cycles   unknown, assume 15..20\n"
   "   threads      8 unknown\n"
   "walk            hardware\n"
   "   cycles       563\n"
   "   source       measured\n"
   "step            256T\n"
   "   cache        unknown, assume none\n"
   "step            512G\n"
   "   cache        own\n"
   "   entries      64\n"
   "   ways         unknown, assume full\n"
   "   policy       unknown, assume lru\n"
   "   source       a guide\n"
   "step            1G\n"
   "   cache        joined\n"
   "step            2M\n"
   "   cache        in-last-level\n"
   "step            4K\n"
   "   cache        none\n"
   "end\n";

static int parse(const char *text, size_t length, tlb_machine *out,
                 uint32_t *line, tlb_reason *why)
{
   /* In memory of exactly its size, so that the sanitizers see each byte that
      is read behind it. */
   char *const copy = malloc(length + 1);
   assert_non_null(copy);
   memcpy(copy + 1, text, length);
   memset(out, 0, sizeof *out);
   const int good = tlb_machine_parse(copy + 1, length, out, line, why);
   free(copy);
   return good;
}

static void accept(const char *text)
{
   uint32_t line;
   tlb_reason why;
   if (!parse(text, strlen(text), &machine, &line, &why))
      fail_msg("line %u: %s", line, why.text);
}

static void refuse_n(const char *text, size_t length, uint32_t where,
                     const char *words)
{
   tlb_machine_error error[TLB_MACHINE_ERRORS];
   const unsigned n = tlb_machine_parse_all(text, length, &again, error);
   if (n == 0)
      fail_msg("accepted, but: %s", words);
   for (unsigned i = 0; i < n && i < TLB_MACHINE_ERRORS; i++) {
      if (error[i].line == where && strcmp(error[i].why.text, words) == 0)
         return;
   }
   fail_msg("%u errors, but not %u: %s; first %u: %s", n, where, words, error[0].line,
            error[0].why.text);
}

static void refuse(const char *text, uint32_t where, const char *words)
{
   refuse_n(text, strlen(text), where, words);
}

/* Line n, from 1, of a text. */
static const char *line_at(const char *text, unsigned n)
{
   while (--n > 0)
      text = strchr(text, '\n') + 1;
   return text;
}

/* `full` with other text in the place of lines `from` to `to`. */
static const char *edited(unsigned from, unsigned to, const char *with)
{
   static char text[sizeof full + 4096];
   const char *const begin = line_at(full, from);
   snprintf(text, sizeof text, "%.*s%s%s", (int)(begin - full), full, with,
            line_at(full, to + 1));
   return text;
}

/* The first line that begins with these words. */
static unsigned line_of(const char *words)
{
   for (unsigned n = 1;; n++) {
      if (strncmp(line_at(full, n), words, strlen(words)) == 0)
         return n;
   }
}

TEST(reads_everything)
{
   const tlb_machine_array *a = machine.array;
   accept(full);
   assert_string_equal(machine.name, "odd-one");
   assert_string_equal(machine.title, "A processor that has everything");
   assert_string_equal(machine.isa, "x86-64");
   assert_int_equal(machine.year, 1999);
   assert_int_equal(machine.confidence, 'B');
   assert_int_equal(machine.base_page_shift, 12);
   assert_string_equal(machine.source, "the first; the second");
   assert_int_equal(machine.n_arrays, 6);
   assert_int_equal(tlb_machine_levels(&machine), 3);

   assert_string_equal(a->name, "ITLB");
   assert_int_equal(a->level, 1);
   assert_int_equal(a->users, TLB_FETCHES);
   assert_int_equal(a->g.entries, 48);
   assert_int_equal(a->g.ways, 48);
   assert_true(a->g.page_sizes == (1 << 12 | 1 << 21));
   assert_int_equal(a->g.policy, TLB_RANDOM);
   assert_true(a->g.seed == 7);
   assert_true(a->entries_unknown && a->ways_unknown && a->sizes_unknown
               && a->policy_unknown && a->splits && a->splits_unknown);
   assert_int_equal(a->coalesce_shift, 0);
   assert_int_equal(a->hit_cycles, 0);
   assert_int_equal(a->threads, 2);
   assert_int_equal(a->sharing, TLB_PARTITIONED);
   assert_int_equal(a->confidence, 'C');
   assert_string_equal(a->source, "nobody");

   a++;
   assert_int_equal(a->users, TLB_LOADS);
   assert_int_equal(a->g.ways, 4);
   assert_int_equal(a->g.policy, TLB_PLRU);
   assert_false(a->entries_unknown || a->ways_unknown || a->sizes_unknown
                || a->policy_unknown || a->splits_unknown);
   assert_true(a->splits);
   assert_int_equal(a->coalesce_shift, 14);
   assert_int_equal(a->sharing, TLB_SHARED);
   assert_int_equal(a->confidence, 0);

   a++;
   assert_int_equal(a->users, TLB_STORES);
   assert_int_equal(a->g.policy, TLB_NRU);
   assert_false(a->splits);
   assert_int_equal(a->threads, 1);
   assert_int_equal(a->sharing, TLB_SHARING_UNKNOWN);

   a++;
   assert_int_equal(a->level, 2);
   assert_int_equal(a->users, TLB_FETCHES | TLB_LOADS | TLB_STORES);
   assert_int_equal(a->g.entries, 1536);
   assert_int_equal(a->g.ways, 6);
   assert_int_equal(a->g.index_xor, 8);
   assert_int_equal(a->hit_cycles, 7);
   assert_int_equal(a->sharing, TLB_COPIED);

   a++;
   assert_int_equal(a->users, TLB_LOADS | TLB_STORES);
   assert_int_equal(a->g.policy, TLB_FIFO);
   assert_true(a->hit_cycles == TLB_UNKNOWN);
   assert_int_equal(a->threads, 0);

   a++;
   assert_int_equal(a->level, 3);
   assert_int_equal(a->hit_cycles, 20);
   assert_int_equal(a->hit_spread, 5);
   assert_true(a->hit_cycles_unknown);
   assert_true(a->g.page_sizes
               == (UINT64_C(1) << 34 | 1 << 24 | 1 << 16 | 1 << 12));
   assert_int_equal(a->threads, 8);

   assert_false(machine.software_walk);
   assert_int_equal(machine.walk_cycles, 563);
   assert_int_equal(machine.walk_spread, 0);
   assert_false(machine.walk_cycles_unknown);
   assert_string_equal(machine.walk_source, "measured");
   assert_int_equal(machine.n_walk_steps, 5);
   const tlb_walk_step *const s = machine.walk;
   assert_true(s[0].shift == 48 && s[1].shift == 39 && s[2].shift == 30
               && s[3].shift == 21 && s[4].shift == 12);
   assert_true(!s[0].cached && s[0].cache_unknown);
   assert_true(s[1].cached && !s[1].joined && !s[1].in_last_level);
   assert_int_equal(s[1].g.entries, 64);
   assert_int_equal(s[1].g.ways, 64);
   assert_true(s[1].g.page_sizes == UINT64_C(1) << 39);
   assert_true(s[1].ways_unknown && s[1].policy_unknown);
   assert_string_equal(s[1].source, "a guide");
   assert_true(s[2].cached && s[2].joined && !s[2].in_last_level);
   assert_true(s[3].cached && !s[3].joined && s[3].in_last_level);
   assert_true(!s[4].cached && !s[4].cache_unknown);
}

TEST(cycles_are_ranges)
{
   const unsigned n = line_of("   cycles");
   accept(edited(n, n, "cycles 20..35\n"));
   assert_int_equal(machine.walk_cycles, 35);
   assert_int_equal(machine.walk_spread, 15);
   assert_false(machine.walk_cycles_unknown);
   assert_true(strcmp(machine.note[machine.n_notes - 1].text,
                      "cycles of a walk unknown, 20 to 35 assumed") != 0);
   accept(edited(n, n, "cycles unknown, assume 20..35\n"));
   assert_int_equal(machine.walk_cycles, 35);
   assert_int_equal(machine.walk_spread, 15);
   assert_true(machine.walk_cycles_unknown);
   assert_string_equal(machine.note[machine.n_notes - 1].text,
                       "cycles of a walk unknown, 20 to 35 assumed");
   accept(edited(n, n, "cycles unknown, assume 20..20\n"));
   assert_int_equal(machine.walk_cycles, 20);
   assert_int_equal(machine.walk_spread, 0);
   assert_string_equal(machine.note[machine.n_notes - 1].text,
                       "cycles of a walk unknown, 20 assumed");
}

TEST(notes)
{
   static const char *const expected[] = {
      "built for this test",
      "entries unknown, 48 assumed (ITLB)",
      "ways unknown, full associativity assumed (ITLB, walk step 512G)",
      "page sizes unknown, 4K+2M assumed (ITLB)",
      "replacement policy unknown, random:7 assumed (ITLB)",
      "replacement policy unknown, lru assumed (L2-A, walk step 512G)",
      "unknown what becomes of larger pages, assumed to be split (ITLB)",
      "aligned blocks of 16K in one mapping assumed contiguous in memory "
      "(DTLB-loads)",
      "cycles of a hit unknown, 15 to 20 assumed (L3)",
      "page-walk caches unknown, none assumed (walk step 256T)",
   };
   enum { N = sizeof expected / sizeof expected[0] };
   accept(full);
   assert_int_equal(machine.n_notes, N);
   for (unsigned i = 0; i < N; i++) {
      assert_string_equal(machine.note[i].text, expected[i]);
      assert_int_equal(tlb_machine_note_follows(&machine, expected[i]), i > 0);
   }
   tlb_machine_note_unknowns(&machine);
   assert_int_equal(machine.n_notes, N);
}

TEST(comes_back)
{
   uint32_t line;
   tlb_reason why;
   accept(full);
   tlb_machine_print(&machine, printed, sizeof printed);
   if (!parse(printed, strlen(printed), &again, &line, &why))
      fail_msg("line %u: %s\n%s", line, why.text, printed);
   assert_memory_equal(&machine, &again, sizeof machine);
}

TEST(print_is_cut)
{
   accept(full);
   tlb_machine_print(&machine, printed, sizeof printed);
   const size_t length = strlen(printed);
   for (size_t size = 1; size <= length; size += 7) {
      char *const out = malloc(size);
      assert_non_null(out);
      tlb_machine_print(&machine, out, size);
      assert_int_equal(strlen(out), size - 1);
      assert_memory_equal(out, printed, size - 1);
      free(out);
   }
}

/* Every beginning of the file is refused, and none is read beyond its end. */
TEST(truncated)
{
   uint32_t line;
   tlb_reason why;
   for (size_t n = 0; n < sizeof full - 1; n++) {
      why.text[0] = '\0';
      assert_false(parse(full, n, &again, &line, &why));
      assert_true(why.text[0] != '\0' && line >= 1);
   }
   refuse("", 1,
          "no machine file: it does not begin with 'tlbgrind-machine 1'");
   refuse_n(full, (size_t)(line_at(full, 20) - full), 19,
            "the file ends without the line 'end'; is it cut short?");
   refuse_n(full, sizeof full - 2, line_of("end"),
            "the file ends in the middle of a line");
}

TEST(other_files)
{
   static char line[10 << 20];
   refuse("CPU 0:\n", 1,
          "no machine file: it does not begin with 'tlbgrind-machine 1'");
   refuse("tlbgrind-machine 2\nend\n", 1,
          "tlbgrind-machine '2' is not allowed; it is 1");
   refuse_n("\x7f" "ELF\2\1\1\0", 8, 1,
            "byte 127 is not allowed; a machine file is plain ASCII text");
   refuse_n("tlbgrind-machine 1\n\0\nend\n", 25, 2,
            "byte 0 is not allowed; a machine file is plain ASCII text");
   refuse("tlbgrind-machine 1\nname \xc3\xa4\n", 2,
          "byte 195 is not allowed; a machine file is plain ASCII text");
   refuse("tlbgrind-machine 1\r\nname x\r\n", 1,
          "a carriage return; lines end in a line feed alone, as Unix writes "
          "them");
   memset(line, 'x', sizeof line);
   refuse_n(line, sizeof line, 1, "the file is larger than 1048576 bytes");
   refuse_n(line, 1 << 20, 1, "the line is longer than 400 bytes");
   memset(line, '\n', sizeof line);
   refuse_n(line, 1 << 20, 1,
            "no machine file: it does not begin with 'tlbgrind-machine 1'");
}

/* Each line of `full` left out, given twice, or with a value of rubbish. */
TEST(each_line)
{
   uint32_t where;
   tlb_reason why;
   for (unsigned n = 1; n < line_of("end"); n++) {
      const char *const line = line_at(full, n);
      const int length = (int)(strchr(line, '\n') + 1 - line);
      char key[40] = "";
      if (length > 1)
         sscanf(line, " %39s", key);
      if (key[0] == '\0' || key[0] == '#')
         continue;
      const int block = strcmp(key, "array") == 0 || strcmp(key, "walk") == 0
                        || strcmp(key, "step") == 0;
      const int words = strcmp(key, "source") == 0 || strcmp(key, "note") == 0;
      const int in_step = n > line_of("step");
      static const char *const spares[] = { "coalesces", "confidence", "year", "index",
                                            "larger-pages", "policy", "threads",
                                            "hit-cycles", "cycles" };
      int spare = words;
      for (unsigned i = 0; i < sizeof spares / sizeof spares[0]; i++)
         spare |= !in_step && strcmp(key, spares[i]) == 0;

      const char *text = edited(n, n, "");
      const int good = parse(text, strlen(text), &again, &where, &why);
      if (good != spare)
         fail_msg("without line %u: %s", n, good ? "accepted" : why.text);

      char twice[160];
      snprintf(twice, sizeof twice, "%.*s%.*s", length, line, length, line);
      text = edited(n, n, twice);
      if (parse(text, strlen(text), &again, &where, &why) != words)
         fail_msg("line %u twice: %s", n, words ? why.text : "accepted");
      if (!words && !block && n > 2)
         assert_int_equal(where, n + 1);

      char bad[80];
      snprintf(bad, sizeof bad, "%s @!\n", key);
      text = edited(n, n, bad);
      const int free_words = words || strcmp(key, "title") == 0;
      if (parse(text, strlen(text), &again, &where, &why) != free_words)
         fail_msg("rubbish in line %u: %s", n,
                  free_words ? why.text : "accepted");

      if (n == line_of("tlbgrind-machine"))
         continue;
      snprintf(bad, sizeof bad, "%s\n", key);
      text = edited(n, n, bad);
      assert_false(parse(text, strlen(text), &again, &where, &why));
      assert_int_equal(where, n);
      snprintf(bad, sizeof bad, "'%s' has no value", key);
      assert_string_equal(why.text, bad);
   }
}

#define BLOCKS(value) "coalesces '" value "' is not allowed; it is no, 8K and up for base pages, " \
                      "or by page size, such as 4K:64K+2M:32M; a block has 2 to 128 pages"

/* What stands behind the value in more than one of them. */
#define NO_NAME " is no name; allowed are letters, digits and, behind the first, - _ ."
#define BASE_PAGES " is not allowed; it is a power of two from 4K to 1G"
#define LEVELS " is not allowed; it is a number from 1 to 3"
#define USERS " is not allowed; it is all, or some of fetches, loads and stores, joined by +"
#define ENTRIES " is not allowed; it is a number from 1 to 1048576"
#define ASSUMED " is not allowed; it is a value, or 'unknown, assume VALUE'"
#define SIZES \
   " is no page size; allowed are powers of two from 4K to 16G, such as 4K, 64K, 2M or 1G"
#define UNITS " has no unit; sizes are 4K, 64K, 2M, 1G and so on"
#define THREADS \
   " is not allowed; it is unknown, 1, or a number up to 1024 and shared, partitioned, copied " \
   "or unknown"
#define INDEXES " is not allowed; it is modulo, or xor and a number from 1 to 20, such as xor 7"
#define CYCLES \
   " is not allowed; it is a number from 0 to 1000000, a range such as 20..35, or unknown"
#define STEPS " is not allowed; it is a power of two from 4K to 8E, such as 4K, 2M, 1G or 512G"
#define NO_KEY \
   " is no key of the array: level users entries ways index pages larger-pages policy threads " \
   "hit-cycles overlap coalesces paired wired inclusion confidence source"

TEST(bad_values)
{
   static const struct {
      const char *key;  /* the first line that begins so is replaced */
      const char *with;
      const char *words;
   } bad[] = {
      { "name", "name a,b\n", "name 'a,b'" NO_NAME },
      { "name", "name .hidden\n", "name '.hidden'" NO_NAME },
      { "isa", "isa x86-64-with-a-tail\n",
        "isa 'x86-64-with-a-tail' is too long; allowed are 15 bytes" },
      { "year", "year 20222\n",
        "year '20222' is not allowed; it is a number from 1960 to 2100, or unknown" },
      { "confidence", "confidence D\n",
        "confidence 'D' is not allowed; it is A, B, C or measured" },
      { "base-page", "base-page 3K\n", "base-page '3K'" BASE_PAGES },
      { "base-page", "base-page 2G\n", "base-page '2G'" BASE_PAGES },
      { "   level", "level 0\n", "level '0'" LEVELS },
      { "   level", "level 4\n", "level '4'" LEVELS },
      { "   users", "users loads+all\n", "users 'loads+all'" USERS },
      { "   users", "users fetches+\n", "users 'fetches+'" USERS },
      { "   entries", "entries 0\n", "entries '0'" ENTRIES },
      { "   entries", "entries 99999999999999999999999999\n",
        "entries '99999999999999999999999999'" ENTRIES },
      { "   entries", "entries unknown\n", "entries 'unknown'" ASSUMED },
      { "   entries", "entries unknown,assume 64\n", "entries 'unknown,assume 64'" ASSUMED },
      { "   entries", "END\n", "'END' is no key; keys are in lower case" },
      { "   entries", "ends\n", "'ends'" NO_KEY },
      { "   entries", "entries -4\n", "entries '-4'" ENTRIES },
      { "   ways", "ways 0\n",
        "ways '0' is not allowed; it is a number from 1 to 1048576, or full" },
      { "   pages", "pages 4K+\n", "''" SIZES },
      { "   pages", "pages 4K+2M+4K\n", "'4K' is there already; allowed is each page size once" },
      { "   pages", "pages 4K+32G\n", "'32G'" SIZES },
      { "   pages", "pages 16384\n", "pages '16384'" UNITS },
      { "   pages", "pages 4K+16384\n", "pages '4K+16384'" UNITS },
      { "base-page", "base-page 4096\n", "base-page '4096'" BASE_PAGES },
      { "   pages", "level 1\n", "level '1' is a second line of this key" },
      { "   larger-pages", "larger-pages yes\n",
        "larger-pages 'yes' is not allowed; they split or bypass" },
      { "   policy", "policy mru\n",
        "'mru' is no replacement policy; allowed are lru, plru, fifo, nru, (mru+1)%3-plru4, "
        "random and random:SEED" },
      { "   threads", "threads 0\n", "threads '0'" THREADS },
      { "   threads", "threads 2\n", "threads '2'" THREADS },
      { "   threads", "threads 1 shared\n", "threads '1 shared'" THREADS },
      { "   index", "index xor\n", "index 'xor'" INDEXES },
      { "   index", "index xor 21\n", "index 'xor 21'" INDEXES },
      { "   index", "index xor 0\n", "index 'xor 0'" INDEXES },
      { "   coalesces", "coalesces yes\n", BLOCKS("yes") },
      { "   coalesces", "coalesces 4K\n", BLOCKS("4K") },
      { "   coalesces", "coalesces 64\n", BLOCKS("64") },
      { "   coalesces", "coalesces 4K:64K+\n", BLOCKS("4K:64K+") },
      { "   coalesces", "coalesces 4K:64\n", BLOCKS("4K:64") },
      { "   coalesces", "coalesces 2M:64K\n", BLOCKS("2M:64K") },
      { "   coalesces", "coalesces 4K:1M\n", BLOCKS("4K:1M") },
      { "   coalesces", "coalesces 4K:64K+4K:32K\n", BLOCKS("4K:64K+4K:32K") },
      { "   coalesces", "coalesces 4K:64K,2M:32M\n", BLOCKS("4K:64K,2M:32M") },
      { "   coalesces", "coalesces :64K\n", BLOCKS(":64K") },
      { "   coalesces", "paired both\n", "paired 'both' is not allowed; it is yes or no" },
      { "   coalesces", "wired full\n",
        "wired 'full' is not allowed; it is a number from 0 to 1048575" },
      { "   hit-cycles", "hit-cycles 1000001\n", "hit-cycles '1000001'" CYCLES },
      { "   cycles", "cycles 20..1000001\n", "cycles '20..1000001'" CYCLES },
      { "   cycles", "cycles 20..19\n", "cycles '20..19'" CYCLES },
      { "   cycles", "cycles 20..\n", "cycles '20..'" CYCLES },
      { "   cycles", "cycles unknown, assume ..\n", "cycles '..'" CYCLES },
      { "walk", "walk magic\n", "walk 'magic' is not allowed; it is hardware or software" },
      { "step", "step 512\n", "step '512'" STEPS },
      { "step", "step 16E\n", "step '16E'" STEPS },
      { "step", "step 3M\n", "step '3M'" STEPS },
      { "   cache", "cache maybe\n",
        "cache 'maybe' is not allowed; it is none, own, joined, in-last-level or unknown, "
        "assume none" },
      { "   cache", "cache unknown, assume own\n",
        "cache 'own' is not allowed; what is unknown is assumed to be none" },
      { "   cache", "cache none\nentries 4\n", "only behind 'cache own' a step has entries" },
      { "   source       nobody", "sauce nobody\n", "'sauce'" NO_KEY },
      { "walk", "walk hardware\nentries 4\n",
        "'entries' is no key of the walk: cycles overlap window entry-bytes nested source" },
      { "walk", "walk hardware\ncycles 1\nwalk hardware\n",
        "walk 'hardware' is a second walk; a machine has one" },
      { "array           L3", "step 4K\n",
        "step '4K' stands before the walk that it is a step of" },
      { "end", "array X\n", "array 'X' stands behind the walk; arrays come first" },
      { "end", "end of it\n", "end 'of it' is too much; 'end' stands alone" },
      { "end", "end\nname x\n", "nothing may follow the line 'end'" },
   };
   for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
      const unsigned n = line_of(bad[i].key);
      unsigned extra = 0;
      for (const char *s = strchr(bad[i].with, '\n'); s[1] != '\0';
           s = strchr(s + 1, '\n'))
         extra++;
      refuse(edited(n, n, bad[i].with), n + extra, bad[i].words);
   }
   accept(edited(17, 18, "ways 4\nentries 64\n"));
   accept(edited(17, 18, "ways full\nentries 64\n"));
   assert_int_equal(machine.array[0].g.ways, 64);
}

/* What only the whole machine shows. The line is that of the block. */
TEST(impossible)
{
   const unsigned itlb = line_of("array           ITLB");
   const unsigned loads = line_of("array           DTLB-loads");
   const unsigned second = line_of("array           L2-A");
   const unsigned third = line_of("array           L3");
   const unsigned isa = line_of("isa");
   const unsigned walk = line_of("walk");
   refuse(edited(loads, loads, "array ITLB\n"), loads,
          "two arrays are called 'ITLB'; each needs a name of its own");
   refuse(edited(itlb + 3, itlb + 4, "entries 48\nways 5\n"), itlb + 4,
          "5 ways do not divide 48 entries; ways must divide the entries, or "
          "be full");
   refuse(edited(itlb + 4, itlb + 4, "ways 16\nindex xor 2\n"), itlb + 5,
          "index xor needs a power of two of sets, at least 2, not 3");
   refuse(edited(itlb + 4, itlb + 4, "ways full\nindex xor 2\n"), itlb + 5,
          "index xor needs a power of two of sets, at least 2, not 1");
   refuse(edited(itlb + 7, itlb + 7, "policy (mru+1)%3-plru4\n"), itlb + 7,
          "(mru+1)%3-plru4 needs 12 ways, not 48");
   refuse(edited(itlb + 7, itlb + 7, "policy plru\n"), itlb + 7,
          "plru needs a power of two of ways, not 48");
   refuse("tlbgrind-machine 1\nname x\ntitle x\nisa x\nyear unknown\n"
          "confidence A\nbase-page 4K\narray TLB\nlevel 1\nusers loads+stores\n"
          "entries 8\nways 8\npages 4K\nlarger-pages split\npolicy lru\n"
          "threads 1\nend\n",
          1, "no array is asked by fetches");
   refuse(edited(itlb + 5, itlb + 5, "pages 2M\n"), 2,
          "no array is asked by fetches first (level 1) that takes the base "
          "page of 4K");
   /* No page is cut to pieces smaller than the base page. */
   refuse("tlbgrind-machine 1\nname x\ntitle x\nisa x\nyear unknown\n"
          "confidence A\nbase-page 16K\narray TLB\nlevel 1\nusers all\n"
          "entries 8\nways 8\npages 4K\nlarger-pages split\npolicy lru\n"
          "threads 1\nend\n",
          8, "all pages of array 'TLB' are smaller than the base page of 16K");
   refuse(edited(second, third - 1, ""), second + 1,
          "array 'L3' has level 3, but no array has level 2; levels follow "
          "each other from 1 on");
   refuse(edited(walk, walk, "array L2-C\nlevel 2\nusers loads\nentries 8\n"
                             "ways 8\npages 4K\nlarger-pages bypass\n"
                             "policy lru\nhit-cycles 1\nthreads 1\n"
                             "walk hardware\n"),
          walk + 5,
          "more than two arrays of level 2 take pages of 4K for the same kind "
          "of reference");
   refuse(edited(loads + 5, loads + 5, "pages 64K+2M\n"), loads + 8,
          "array 'DTLB-loads' holds no pages smaller than the blocks of 16K that it "
          "coalesces");
   refuse(edited(walk + 3, walk + 3, "step 128G\n"), walk + 5,
          "steps of a walk go down from at most 8E to at least 4K, each "
          "smaller than the one above");
   refuse(edited(walk + 5, walk + 5, "step 32G\n"), walk + 5,
          "no page table of x86 has entries of 32G; allowed are 256T, 512G, 1G, 4M, 2M and 4K");
   accept(edited(isa, isa, "isa x86-32\n"));
   refuse(edited(walk + 5, walk + 10, ""), walk + 5,
          "no step above has a cache that this one can join");
   refuse(edited(walk + 16, walk + 16, "cache joined\n"), walk + 15,
          "the last step has no page-walk cache: its entries are the "
          "translations themselves");
   refuse(edited(walk + 15, walk + 16, ""), walk + 13,
          "no step of the walk is the base page of 4K");
   refuse(edited(walk + 15, walk + 15, "step 8K\n"), walk + 15,
          "no step of the walk is the base page of 4K");
   refuse(edited(second, walk - 1, ""), line_of("step            2M") - (walk - second),
          "the last level can not hold entries of the walk: array 'DTLB-loads' "
          "is asked before all others");
   refuse(edited(third + 2, third + 2, "users fetches\n"),
          line_of("step            2M"),
          "the last level can not hold entries of the walk: no array there is "
          "for loads");
}

TEST(steps_of_other_processors)
{
   char text[sizeof full + 4096];
   const unsigned walk = line_of("walk");
   strcpy(text, edited(walk + 5, walk + 5, "step 32G\n"));
   memcpy(strstr(text, "x86-64"), "mips64", strlen("mips64"));
   accept(text);
   assert_int_equal(machine.walk[1].shift, 35);
}

/* --- All at once, and what is left out --- */

TEST(all_errors)
{
   static const char text[] = "tlbgrind-machine 1\n"
                              "name a,b\n"
                              "title x\n"
                              "isa x\n"
                              "array A\n"
                              "   level 9\n"
                              "   levle 1\n"
                              "   users all\n"
                              "   entries 8\n"
                              "   ways 4\n"
                              "array B\n"
                              "   level 1\n"
                              "   users all\n"
                              "   entries 48\n"
                              "   ways 5\n"
                              "   pages 4K\n"
                              "array C D\n"
                              "   level what is not looked at\n"
                              "walk hardware\n"
                              "step 4K\n"
                              "   cache own\n"
                              "end\n";
   static const tlb_machine_error expected[] = {
      { 1, { "the machine has no line 'base-page'" } },
      { 2, { "name 'a,b' is no name; allowed are letters, digits and, behind the first, - "
             "_ ." } },
      { 5, { "array 'A' has no line 'pages'" } },
      { 6, { "level '9' is not allowed; it is a number from 1 to 3" } },
      { 7, { "'levle' is no key of the array: level users entries ways index pages "
             "larger-pages policy threads hit-cycles overlap coalesces paired wired inclusion "
             "confidence source" } },
      { 17, { "array 'C D' is no name; allowed are letters, digits and, behind the first, "
              "- _ ." } },
      { 20, { "step 4K has no line 'entries'" } },
      { 20, { "step 4K has no line 'ways'" } },
      { 20, { "step 4K has no line 'policy'" } },
   };
   enum { N = sizeof expected / sizeof expected[0] };
   tlb_machine_error error[TLB_MACHINE_ERRORS];
   assert_int_equal(tlb_machine_parse_all(text, sizeof text - 1, &again, error), N);
   for (unsigned i = 0; i < N; i++) {
      assert_int_equal(error[i].line, expected[i].line);
      assert_string_equal(error[i].why.text, expected[i].why.text);
   }
   /* With its base page, arrays are judged, too. */
   const unsigned loads = line_of("array           DTLB-loads");
   char two[sizeof full + 64];
   snprintf(two, sizeof two, "%s", edited(loads + 4, loads + 4, "ways 5\n"));
   char *const first = strstr(two, "title");
   memcpy(first, "tilte", 5);
   assert_int_equal(tlb_machine_parse_all(two, strlen(two), &again, error), 3);
   assert_int_equal(error[0].line, 2);
   assert_int_equal(error[1].line, 5);
   assert_int_equal(error[2].line, loads + 4);
   assert_string_equal(error[2].why.text, "5 ways do not divide 64 entries; ways must "
                                          "divide the entries, or be full");
}

/* More errors than there is room for: the first are kept. */
TEST(many_errors)
{
   static char text[4000];
   tlb_machine_error error[TLB_MACHINE_ERRORS];
   strcpy(text, "tlbgrind-machine 1\n");
   for (unsigned i = 0; i < 100; i++)
      strcat(text, "what is it\n");
   strcat(text, "end\n");
   assert_true(tlb_machine_parse_all(text, strlen(text), &again, error) > 100);
   for (unsigned i = 4; i < TLB_MACHINE_ERRORS; i++)
      assert_int_equal(error[i].line, i - 2);
}

TEST(defaults)
{
   static const char text[] = "tlbgrind-machine 1\nname x\ntitle x\nisa x\nbase-page 4K\n"
                              "array A\nlevel 1\nusers all\nentries 8\nways 4\npages 4K\n"
                              "array B\nlevel 2\nusers all\nentries 9\nways full\npages 4K\n"
                              "walk hardware\nend\n";
   static const char *const expected[] = {
      "left out of the machine file: year, confidence (taken for C), larger-pages, policy, "
      "threads, hit-cycles, cycles",
      "replacement policy unknown, lru assumed (all arrays)",
      "unknown what becomes of larger pages, assumed to be split (all arrays)",
   };
   accept(text);
   assert_int_equal(machine.year, 0);
   assert_int_equal(machine.confidence, 'C');
   for (unsigned i = 0; i < 2; i++) {
      const tlb_machine_array *const a = &machine.array[i];
      assert_true(a->splits && a->splits_unknown && a->policy_unknown);
      assert_int_equal(a->g.policy, TLB_LRU);
      assert_int_equal(a->threads, 0);
      assert_int_equal(a->confidence, 0);
      assert_true(a->hit_cycles == (i == 0 ? 0 : TLB_UNKNOWN));
   }
   assert_int_equal(machine.array[1].g.ways, 9);
   assert_true(machine.walk_cycles == TLB_UNKNOWN);
   assert_int_equal(machine.n_notes, 3);
   for (unsigned i = 0; i < 3; i++)
      assert_string_equal(machine.note[i].text, expected[i]);
   uint32_t line;
   tlb_reason why;
   tlb_machine_print(&machine, printed, sizeof printed);
   assert_true(parse(printed, strlen(printed), &again, &line, &why));
   assert_memory_equal(&machine, &again, sizeof machine);
}

/* --- Machines by chance --- */

static uint64_t chance = 1;

static unsigned below(unsigned n)
{
   return (unsigned)(unit_random(&chance) >> 33) % n;
}

static void some_text(char *out, size_t size)
{
   const size_t n = 1 + below((unsigned)size - 1);
   for (size_t i = 0; i < n; i++)
      out[i] = (char)(i == 0 || i + 1 == n ? '!' + below(94) : ' ' + below(95));
}

/* The kernel's entries are not the program's. */
TEST(wired)
{
   const unsigned itlb = line_of("array           ITLB");
   accept(edited(itlb + 4, itlb + 4, "ways full\nwired 8\n"));
   assert_int_equal(machine.array[0].g.entries, 40);
   assert_int_equal(machine.array[0].g.ways, 40);
   assert_int_equal(machine.array[0].wired, 8);
   accept(edited(itlb + 4, itlb + 4, "wired 47\nways 48\n"));
   assert_int_equal(machine.array[0].g.entries, 1);
   accept(edited(itlb + 4, itlb + 4, "ways full\nwired 0\n"));
   assert_int_equal(machine.array[0].g.entries, 48);
   refuse(edited(itlb + 4, itlb + 4, "ways full\nwired 48\n"), itlb + 5,
          "48 wired entries leave none of 48");
   refuse(edited(itlb + 4, itlb + 4, "ways 12\nwired 8\n"), itlb + 5,
          "array 'ITLB' has sets; only an array with ways full has wired entries");
}

TEST(blocks_by_size)
{
   const unsigned loads = line_of("array           DTLB-loads");
   const unsigned line = loads + 8;
   accept(edited(loads + 5, loads + 8, "pages 4K+2M+1G\nlarger-pages split\npolicy plru\n"
                                       "coalesces 1G:16G+4K:512K\n"));
   assert_int_equal(machine.array[1].coalesce_shift, 0);
   assert_int_equal(tlb_array_block(&machine.array[1], 12, 12), 19);
   assert_int_equal(tlb_array_block(&machine.array[1], 21, 12), 0);
   assert_int_equal(tlb_array_block(&machine.array[1], 30, 12), 34);
   accept(edited(line, line, "coalesces 512K\n"));
   assert_int_equal(tlb_array_block(&machine.array[1], 12, 12), 19);
   assert_int_equal(tlb_array_block(&machine.array[1], 14, 12), 0);
   refuse(edited(line, line, "coalesces 1M\n"), line,
          "blocks of array 'DTLB-loads' have more than 128 base pages");
   refuse(edited(line, line, "coalesces 2M:32M\n"), line,
          "array 'DTLB-loads' does not hold the pages of 2M that it coalesces");
   refuse(edited(loads + 5, loads + 8, "pages 4K+16K\nlarger-pages split\npolicy plru\n"
                                       "coalesces 4K:64K+16K:64K\n"), line,
          "array 'DTLB-loads' coalesces pages of two sizes to blocks of 64K");
}

TEST(paired)
{
   const unsigned itlb = line_of("array           ITLB");
   const unsigned third = line_of("array           L3");
   accept(edited(itlb + 4, itlb + 4, "ways full\npaired yes\n"));
   assert_true(machine.array[0].g.paired);
   assert_false(machine.array[1].g.paired);
   accept(edited(itlb + 4, itlb + 4, "ways full\npaired no\n"));
   assert_false(machine.array[0].g.paired);
   refuse(edited(third + 8, third + 8, "hit-cycles 20\npaired yes\n"),
          line_of("step            2M") + 1,
          "the last level can not hold entries of the walk: array 'L3' holds pairs of pages");
}

TEST(inclusion)
{
   const unsigned itlb = line_of("array           ITLB");
   const unsigned stores = line_of("array           DTLB-stores");
   const unsigned b = line_of("array           L2-B");
   const unsigned third = line_of("array           L3");
   accept(edited(third + 8, third + 8, "hit-cycles 20\ninclusion inclusive\n"));
   assert_int_equal(machine.array[5].inclusion, TLB_INCLUSIVE);
   assert_int_equal(machine.array[4].inclusion, TLB_NEITHER);
   accept(edited(third + 8, third + 8, "hit-cycles 20\ninclusion exclusive\n"));
   assert_int_equal(machine.array[5].inclusion, TLB_EXCLUSIVE);
   accept(edited(third + 8, third + 8, "hit-cycles 20\ninclusion neither\n"));
   assert_int_equal(machine.array[5].inclusion, TLB_NEITHER);
   refuse(edited(third + 8, third + 8, "inclusion both\n"), third + 8,
          "inclusion 'both' is not allowed; it is neither, inclusive or exclusive");
   refuse(edited(itlb + 4, itlb + 4, "ways full\ninclusion inclusive\n"), itlb + 5,
          "array 'ITLB' has no level in front of it that it could include or exclude");
   refuse(edited(b + 8, b + 8, "hit-cycles 9\ninclusion inclusive\n"), b + 9,
          "array 'L2-B' has another inclusion than one beside it for the same pages and "
          "references");
   refuse(edited(third + 8, third + 8, "hit-cycles 20\npaired yes\ninclusion exclusive\n"),
          third + 10, "array 'L3' holds pairs of pages, and cannot be exclusive");
   refuse(edited(stores, b + 8, "array L2-A\nlevel 2\nusers all\nentries 8\nways 8\npages 4K+2M\n"
                                "hit-cycles 7\ninclusion exclusive\n"), stores + 7,
          "array 'L2-A' is asked before all others by some reference, and cannot be exclusive");
}

/* --- Overlaps, caches of tables, and the memory --- */

static const char l1[] = "cache L1D\nsize 32K\nways 8\nshare 50%\n";
static const char l2[] = "cache L2\nsize 1M\nline 128\nshare unknown, assume 25%\ncycles 10\n"
                         "source a curve\n";
static const char l3[] = "cache L3\nsize unknown, assume 33554432\nways unknown, assume 8\n"
                         "share 100%\ncycles unknown, assume 36..50\nconfidence A\n";
static const char memory[] = "memory\ncycles 200..300\nsource another\n";

/* `full` with these blocks behind its steps. */
static const char *with_caches(const char *a, const char *b, const char *c, const char *d)
{
   static char blocks[2000];
   const unsigned end = line_of("end");
   snprintf(blocks, sizeof blocks, "%s%s%s%send\n", a, b, c, d);
   return edited(end, end, blocks);
}

TEST(measured_is_a_confidence)
{
   const unsigned line = line_of("confidence");
   accept(edited(line, line, "confidence measured\n"));
   assert_int_equal(machine.confidence, TLB_MEASURED);
   assert_string_equal(tlb_confidence_word(machine.confidence), "measured");
}

TEST(caches)
{
   accept(with_caches(l1, l2, l3, memory));
   const tlb_table_cache *const c = machine.cache;
   assert_int_equal(machine.n_caches, 3);
   assert_string_equal(c[0].name, "L1D");
   assert_int_equal(c[0].size, 32 << 10);
   assert_int_equal(c[0].line, 64);
   assert_int_equal(c[0].ways, 8);
   assert_int_equal(c[0].share, 50);
   assert_int_equal(c[0].cycles, 0);
   assert_false(c[0].size_unknown || c[0].ways_unknown || c[0].share_unknown
                || c[0].cycles_unknown);
   assert_int_equal(tlb_table_cache_sets(&c[0]), 32);
   assert_int_equal(c[1].size, 1 << 20);
   assert_int_equal(c[1].line, 128);
   assert_int_equal(c[1].ways, 16);
   assert_true(c[1].ways_unknown && c[1].share_unknown && !c[1].cycles_unknown);
   assert_int_equal(c[1].share, 25);
   assert_int_equal(c[1].cycles, 10);
   assert_string_equal(c[1].source, "a curve");
   assert_int_equal(c[2].size, 32 << 20);
   assert_true(c[2].size_unknown && c[2].ways_unknown && !c[2].share_unknown
               && c[2].cycles_unknown);
   assert_int_equal(c[2].cycles, 50);
   assert_int_equal(c[2].spread, 14);
   assert_int_equal(c[2].confidence, 'A');
   assert_int_equal(machine.memory.cycles, 300);
   assert_int_equal(machine.memory.spread, 100);
   assert_string_equal(machine.memory.source, "another");
   assert_true(tlb_tables_are_cached(&machine));
   static const char *const notes[] = {
      "bytes unknown, 33554432 assumed (cache L3)",
      "ways unknown, 16 assumed (cache L2)",
      "ways unknown, 8 assumed (cache L3)",
      "share of page tables unknown, 25% assumed (cache L2)",
      "cycles of a table entry unknown, 36 to 50 assumed (cache L3)",
   };
   for (unsigned i = 0; i < 5; i++) {
      assert_string_equal(machine.note[machine.n_notes - 5 + i].text, notes[i]);
      assert_true(tlb_machine_note_is_of_walk(&machine, notes[i]));
   }
   assert_false(tlb_machine_note_is_of_walk(&machine, "built for this test"));
   assert_false(tlb_machine_note_is_of_walk(&machine, "entries unknown, 48 assumed (ITLB)"));
   tlb_machine_print(&machine, printed, sizeof printed);
   uint32_t line;
   tlb_reason why;
   if (!parse(printed, strlen(printed), &again, &line, &why))
      fail_msg("line %u: %s\n%s", line, why.text, printed);
   assert_memory_equal(&machine, &again, sizeof machine);
   /* Between the walk and its steps they are the same. */
   const unsigned step = line_of("step");
   char blocks[1000];
   snprintf(blocks, sizeof blocks, "%s%sstep 256T\n", l1, memory);
   accept(edited(step, step, blocks));
   assert_int_equal(machine.n_caches, 1);
   assert_int_equal(machine.n_walk_steps, 5);
   /* A cache with less than a set of room for tables has one. */
   accept(with_caches("cache A\nsize 1024\nways 16\nshare 1%\n", memory, "", ""));
   assert_int_equal(tlb_table_cache_sets(&machine.cache[0]), 1);
}

TEST(bad_caches)
{
   static const struct {
      const char *blocks;
      unsigned line; /* from that of the first block, 0 */
      const char *words;
   } bad[] = {
      { "cache A\nsize 32K\n", 0,
        "no block 'memory' says what a table entry costs that no cache has" },
      { "memory\ncycles 5\n", 0, "the memory stands behind caches of tables, and there is none" },
      { "cache A\nsize 32K\nmemory\n", 2, "the memory has no line 'cycles'" },
      { "cache A\nsize 32K\nmemory 5\ncycles 5\n", 2,
        "memory '5' is too much; 'memory' stands alone" },
      { "cache A\nsize 32K\nmemory\ncycles 5\nmemory\ncycles 5\n", 4,
        "a second memory; a machine has one" },
      { "cache A\nsize 32K\nmemory\ncycles 5\ncache B\nsize 64K\ncycles 3\n", 4,
        "cache 'B' stands behind the memory; the nearest cache comes first" },
      { "cache A\nmemory\ncycles 5\n", 0, "cache 'A' has no line 'size'" },
      { "cache A\nsize 32K\ncache B\nsize 64K\nmemory\ncycles 5\n", 2,
        "cache 'B' has no line 'cycles'" },
      { "cache A\nsize 32K\ncycles 1\nmemory\ncycles 5\n", 2,
        "the first cache has no cycles: it is the yardstick of the others" },
      { "cache A\nsize 32K\ncache A\nsize 64K\ncycles 4\nmemory\ncycles 5\n", 2,
        "two caches are called 'A'; each needs a name of its own" },
      { "cache own\n", 0, "cache 'own' is a second line of this key" },
      { "cache A\nsize 32K\ncache none\n", 2,
        "cache 'none' is no name of a cache; it is what a step says of its own, behind the line "
        "'step'" },
      { "cache A\nsize 0\n", 1,
        "size '0' is not allowed; it is a size up to 1024M, such as 32K or 1M, or bytes" },
      { "cache A\nsize 1025M\n", 1,
        "size '1025M' is not allowed; it is a size up to 1024M, such as 32K or 1M, or bytes" },
      { "cache A\nsize 1G\n", 1,
        "size '1G' is not allowed; it is a size up to 1024M, such as 32K or 1M, or bytes" },
      { "cache A\nsize 32K\nline 48\n", 2,
        "line '48' is not allowed; it is a power of two from 16 to 4096" },
      { "cache A\nsize 32K\nways full\n", 2,
        "ways 'full' is not allowed; it is a number from 1 to 1024" },
      { "cache A\nsize 32K\nshare 50\n", 2, "share '50' is not allowed; it is 1% to 100%" },
      { "cache A\nsize 32K\nshare 101%\n", 2, "share '101%' is not allowed; it is 1% to 100%" },
      { "cache A\nsize 32K\nmemory\ncycles unknown\n", 3,
        "cycles 'unknown' is not allowed; it is a value, or 'unknown, assume VALUE'" },
      { "cache A\nsize 512\nmemory\ncycles 5\n", 1,
        "512 bytes have no set of 16 ways with lines of 64, or are more than 1024M" },
      { "cache A\nsize 4K\ncache B\nsize 4K\ncycles 1\ncache C\nsize 4K\ncycles 1\ncache D\n"
        "size 4K\ncycles 1\ncache E\nsize 4K\n", 11,
        "cache 'E' is one too many; 4 caches are allowed" },
   };
   const unsigned end = line_of("end");
   for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
      refuse(with_caches(bad[i].blocks, "", "", ""), end + bad[i].line, bad[i].words);
   const unsigned walk = line_of("walk");
   refuse(edited(walk, walk, "cache A\nsize 32K\nwalk hardware\n"), walk,
          "cache 'A' stands before the walk whose tables it has");
   refuse(edited(walk, walk, "memory\ncycles 5\nwalk hardware\n"), walk,
          "the memory stands before the walk whose tables it has");
   static char text[sizeof full + 4096];
   snprintf(text, sizeof text, "%s", with_caches(l1, memory, "", ""));
   memcpy(strstr(text, "hardware"), "software", 8);
   refuse(text, end, "a software walk reads no tables through caches");
   char few[1000];
   snprintf(few, sizeof few, "walk hardware\n%s%send\n", l1, memory);
   refuse(edited(walk, end, few), walk + 1, "without steps a walk has no references for caches");
   snprintf(few, sizeof few, "walk hardware\nentry-bytes 64\ncache A\nsize 4K\nline 32\n%s%s",
            memory, "step 4K\ncache none\nend\n");
   refuse(edited(walk, end, few), walk + 4, "lines of 32 bytes are not a power of two from 16 to "
                                            "4096, or smaller than an entry of 64");
}

TEST(windows)
{
   static const char *const bad[] = { "0", "65537", "unknown", "2.5", "-1", "" };
   const unsigned n = line_of("walk") + 1;
   accept(full);
   assert_int_equal(machine.window, 0);
   accept(edited(n, n, "window 224\n"));
   assert_int_equal(machine.window, 224);
   assert_false(machine.window_unknown);
   accept(edited(n, n, "window unknown, assume 65536\n"));
   assert_int_equal(machine.window, 65536);
   assert_true(machine.window_unknown);
   assert_string_equal(machine.note[machine.n_notes - 1].text,
                       "instructions under way unknown, 65536 assumed");
   assert_true(tlb_machine_note_follows(&machine, machine.note[machine.n_notes - 1].text));
   /* Hits have it, too: it stays where walks get a cost of their own. */
   assert_false(tlb_machine_note_is_of_walk(&machine, machine.note[machine.n_notes - 1].text));
   for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
      char line[60];
      tlb_reason why;
      uint32_t at;
      snprintf(line, sizeof line, "window %s\n", bad[i]);
      const char *const text = edited(n, n, line);
      assert_false(parse(text, strlen(text), &machine, &at, &why));
      assert_int_equal(at, n);
   }
}

/* Of `full` a walk costs 563 cycles, and its last step is of 4K. */
TEST(guests)
{
   const unsigned n = line_of("   cycles"), end = line_of("end");
   accept(full);
   assert_int_equal(machine.host_page_shift, 0);
   accept(edited(n, n, "cycles 47\nnested 4K\n"));
   assert_int_equal(machine.host_page_shift, 12);
   assert_int_equal(machine.walk_cycles, 47);
   refuse(edited(n, n, "nested 4096\n"), n,
          "nested '4096' is not allowed; it is the size of the hypervisor's pages, such as 4K");
   refuse(edited(n, n, "nested 2M\n"), 2,
          "the walk is nested in pages of 2M; only those of the last step are known, 4K");
   /* What a step costs is part of the walk. */
   accept(edited(end, end, "cycles 20\nend\n"));
   assert_int_equal(machine.walk[machine.n_walk_steps - 1].cycles, 20);
   assert_int_equal(tlb_machine_walk_cycles(&machine, 12), machine.walk_cycles);
   assert_int_equal(tlb_machine_walk_cycles(&machine, 21), machine.walk_cycles - 20);
   accept(edited(end, end, "cycles 563\nend\n"));
   refuse(edited(end, end, "cycles 564\nend\n"), line_of("step            4K"),
          "the steps up to 4K cost 564 cycles, and the whole walk 563");
   refuse(edited(end, end, "cycles 1..2\nend\n"), end,
          "cycles '1..2' is not allowed; it is a number from 0 to 1000000");
}

TEST(overlaps)
{
   const unsigned n = line_of("   cycles"), hit = line_of("   hit-cycles");
   accept(full);
   assert_int_equal(machine.walk_overlap, 0);
   assert_int_equal(tlb_known_overlap(machine.walk_overlap), 10);
   assert_int_equal(tlb_entry_bytes(&machine), 8);
   accept(edited(n, n, "overlap 2.4\nentry-bytes 4\n"));
   assert_int_equal(machine.walk_overlap, 24);
   assert_false(machine.walk_overlap_unknown);
   assert_int_equal(tlb_entry_bytes(&machine), 4);
   accept(edited(n, n, "overlap unknown\n"));
   assert_int_equal(machine.walk_overlap, 0);
   accept(edited(n, n, "overlap unknown, assume 64\n"));
   assert_int_equal(machine.walk_overlap, 640);
   assert_true(machine.walk_overlap_unknown);
   assert_string_equal(machine.note[machine.n_notes - 1].text,
                       "overlap of walks unknown, 64.0 assumed");
   assert_true(tlb_machine_note_is_of_walk(&machine, machine.note[machine.n_notes - 1].text));
   accept(edited(hit, hit, "overlap unknown, assume 1.0\n"));
   assert_int_equal(machine.array[3].overlap, 10);
   assert_true(machine.array[3].overlap_unknown);
   static const char *const bad[] = { "0.9", "64.1", "2.45", "2.", ".5", "two", "1..2" };
   for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
      char line[80], words[160];
      snprintf(line, sizeof line, "overlap %s\n", bad[i]);
      snprintf(words, sizeof words, "overlap '%s' is not allowed; it is a number from 1.0 to 64.0 "
                                    "with one decimal, or unknown", bad[i]);
      refuse(edited(n, n, line), n, words);
   }
   refuse(edited(n, n, "entry-bytes 12\n"), n,
          "entry-bytes '12' is not allowed; it is a power of two from 4 to 64");
}

static void some_name(char *out, size_t size)
{
   static const char letters[] = "abcXYZ0189-_.";
   const size_t n = 1 + below((unsigned)size - 1);
   for (size_t i = 0; i < n; i++)
      out[i] = letters[below(i == 0 ? 10 : 13)];
}

/* In the place of zeros: what lies between the members stays as it is. */
static void some_geometry(tlb_geometry *g)
{
   const uint32_t sets = 1 + below(300);
   g->policy = (tlb_policy)below(TLB_N_POLICIES);
   g->ways = g->policy == TLB_PLRU ? 1u << below(6)
             : g->policy == TLB_MRU_PLRU ? 12u : 1 + below(40);
   g->entries = g->ways * sets;
   g->seed = g->policy == TLB_RANDOM ? unit_random(&chance) : 0;
   for (unsigned n = 1 + below(3); n > 0; n--)
      g->page_sizes |= UINT64_C(1) << (12 + below(23));
}

static void some_cycles(uint32_t *most, uint32_t *spread, int *unknown)
{
   *most = below(3) == 0 ? TLB_UNKNOWN : below(1000001);
   if (*most == TLB_UNKNOWN)
      return;
   *spread = below(2) ? below(*most + 1) : 0;
   *unknown = below(4) == 0;
}

static void some_overlap(uint32_t *overlap, int *unknown)
{
   *overlap = below(3) == 0 ? 10 + below(631) : 0;
   *unknown = *overlap != 0 && below(2) == 0;
}

/* Mostly known: without, the machine cannot be. */
static void some_cycles_of_tables(tlb_table_cache *c)
{
   do
      some_cycles(&c->cycles, &c->spread, &c->cycles_unknown);
   while (c->cycles == TLB_UNKNOWN && below(50) != 0);
}

static void some_cache(tlb_table_cache *c, unsigned number)
{
   some_name(c->name, 8);
   c->line = 16u << below(4);
   c->ways = 1 + below(below(4) == 0 ? 1024 : 16);
   c->size = c->line * c->ways * (1 + below(1000)) + below(2) * below(1000);
   c->share = 1 + below(100);
   c->size_unknown = below(4) == 0;
   c->ways_unknown = below(4) == 0;
   c->share_unknown = below(4) == 0;
   if (number > 0)
      some_cycles_of_tables(c);
   c->confidence = below(2) ? 0 : (char)('A' + below(3));
   if (below(2))
      some_text(c->source, sizeof c->source);
}

static void some_caches(tlb_machine *m)
{
   m->n_caches = 1 + below(TLB_MAX_TABLE_CACHES);
   for (unsigned i = 0; i < m->n_caches; i++)
      some_cache(&m->cache[i], i);
   some_cycles_of_tables(&m->memory);
   if (below(2))
      some_text(m->memory.source, sizeof m->memory.source);
}

static void some_array(tlb_machine_array *a)
{
   some_name(a->name, sizeof a->name);
   a->level = 1 + below(3);
   a->users = 1 + below(7);
   some_geometry(&a->g);
   a->entries_unknown = below(4) == 0;
   a->ways_unknown = below(4) == 0;
   a->sizes_unknown = below(4) == 0;
   a->policy_unknown = below(2) == 0;
   a->splits = below(2) == 0;
   a->splits_unknown = below(4) == 0;
   a->coalesce_shift = below(4) == 0 ? 13 + below(5) : 0;
   for (unsigned page = 12; a->coalesce_shift == 0 && page < 34; page++) {
      if ((a->g.page_sizes >> page & 1) != 0 && below(4) == 0)
         a->block_shift[page] = (uint8_t)(page + 1 + below(34 - page < 7 ? 34 - page : 7));
   }
   some_cycles(&a->hit_cycles, &a->hit_spread, &a->hit_cycles_unknown);
   some_overlap(&a->overlap, &a->overlap_unknown);
   a->threads = below(9);
   a->sharing = a->threads > 1 ? (tlb_sharing)below(4) : TLB_SHARING_UNKNOWN;
   a->confidence = below(2) ? 0 : (char)('A' + below(3));
   a->g.index_xor = below(16) == 0 ? 1 + below(20) : 0;
   a->g.paired = below(8) == 0;
   a->wired = below(4) == 0 ? 1 + below(4) : 0;
   a->inclusion = below(6) == 0 ? (tlb_inclusion)below(3) : TLB_NEITHER;
   if (below(2))
      some_text(a->source, sizeof a->source);
}

static void some_step(tlb_walk_step *s, unsigned shift)
{
   s->shift = shift;
   s->cached = below(2) == 0;
   s->cache_unknown = !s->cached && below(2) == 0;
   if (s->cached) {
      s->joined = below(3) == 0;
      s->in_last_level = !s->joined && below(3) == 0;
   }
   if (s->cached && !s->joined && !s->in_last_level) {
      some_geometry(&s->g);
      s->g.page_sizes = UINT64_C(1) << shift;
      s->ways_unknown = below(3) == 0;
      s->policy_unknown = below(3) == 0;
   }
   if (below(2))
      some_text(s->source, sizeof s->source);
}

/* So many cycles of the walk that its steps still fit. */
static void some_step_cycles(tlb_machine *m)
{
   uint32_t left = tlb_known_cycles(m->walk_cycles);
   for (unsigned i = 0; i < m->n_walk_steps && left > 0; i++) {
      m->walk[i].cycles = below(2) ? below(left + 1) : 0;
      left -= m->walk[i].cycles;
   }
}

static void some_machine(tlb_machine *m)
{
   memset(m, 0, sizeof *m);
   some_name(m->name, sizeof m->name);
   some_text(m->title, sizeof m->title);
   some_name(m->isa, sizeof m->isa);
   m->year = below(2) ? 0 : 1960 + below(141);
   m->confidence = "ABCM"[below(4)];
   m->base_page_shift = 12 + below(3);
   if (below(2))
      some_text(m->source, sizeof m->source);
   m->n_arrays = 1 + below(below(8) == 0 ? TLB_MAX_ARRAYS : 5);
   for (unsigned i = 0; i < m->n_arrays; i++) {
      some_array(&m->array[i]);
      if (m->array[i].g.page_sizes >> m->base_page_shift == 0)
         m->array[i].g.page_sizes |= UINT64_C(1) << m->base_page_shift;
   }
   /* Else hardly any would be possible. */
   m->array[0].level = 1;
   m->array[0].users = TLB_FETCHES | TLB_LOADS | TLB_STORES;
   m->array[0].g.page_sizes |= UINT64_C(1) << m->base_page_shift;
   m->n_walk_steps = below(TLB_MAX_WALK_LEVELS + 1);
   for (unsigned i = 0; i < m->n_walk_steps; i++)
      some_step(&m->walk[i], 12 + 9 * (m->n_walk_steps - 1 - i));
   m->software_walk = below(2) == 0;
   some_cycles(&m->walk_cycles, &m->walk_spread, &m->walk_cycles_unknown);
   some_overlap(&m->walk_overlap, &m->walk_overlap_unknown);
   m->window = below(3) == 0 ? 1 + below(TLB_MOST_WINDOW) : 0;
   m->window_unknown = m->window != 0 && below(2) == 0;
   m->entry_bytes = below(2) ? 4u << below(4) : 0;
   some_step_cycles(m);
   if (m->n_walk_steps > 0 && !m->software_walk && below(2))
      m->host_page_shift = m->walk[m->n_walk_steps - 1].shift;
   if (below(m->n_walk_steps > 0 && !m->software_walk ? 2 : 20) == 0)
      some_caches(m);
   if (below(2))
      some_text(m->walk_source, sizeof m->walk_source);
   m->n_notes = below(TLB_MACHINE_NOTES + 1);
   for (unsigned i = 0; i < m->n_notes; i++)
      some_text(m->note[i].text, sizeof m->note[i].text);
   tlb_machine_note_unknowns(m);
}

TEST(all_come_back)
{
   unsigned possible = 0;
   uint32_t line;
   tlb_reason why;
   for (unsigned n = 0; n < 8000; n++) {
      some_machine(&machine);
      const int good = tlb_machine_check(&machine, &why);
      tlb_machine_print(&machine, printed, sizeof printed);
      assert_true(strlen(printed) < sizeof printed - 1);
      if (parse(printed, strlen(printed), &again, &line, &why) != good)
         fail_msg("%u: %s %u: %s\n%s", n, good ? "refused" : "accepted", line,
                  why.text, printed);
      if (!good)
         continue;
      possible++;
      if (memcmp(&machine, &again, sizeof machine) != 0)
         fail_msg("%u: another machine:\n%s", n, printed);
   }
   if (possible <= 300)
      fail_msg("only %u machines were possible", possible);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("each key of a machine file is read", reads_everything),
      CLAIM("cycles are a number or a range, and both can be assumed", cycles_are_ranges),
      CLAIM("each assumption becomes a note, once", notes),
      CLAIM("what is printed is read as the same machine", comes_back),
      CLAIM("a machine that does not fit is cut, whatever the size",
            print_is_cut),
      CLAIM("no beginning of a file is taken for the whole", truncated),
      CLAIM("files that are no machine files are refused", other_files),
      CLAIM("a line that is missing, doubled, empty or rubbish is refused",
            each_line),
      CLAIM("bad values are refused with what is allowed", bad_values),
      CLAIM("a machine that cannot be is refused at the line to blame", impossible),
      CLAIM("wired entries are taken off those of a fully associative array", wired),
      CLAIM("pages of each size coalesce to blocks of their own", blocks_by_size),
      CLAIM("what was measured is of a confidence of its own", measured_is_a_confidence),
      CLAIM("caches of tables, nearest first, and the memory are read, noted and printed", caches),
      CLAIM("caches of tables that cannot be are refused at the line to blame", bad_caches),
      CLAIM("walks can be a guest's, and a step have a part of their cycles", guests),
      CLAIM("an overlap has one decimal, and can be unknown or assumed", overlaps),
      CLAIM("a window is a number of instructions, which can be assumed", windows),
      CLAIM("an array has pairs if its file says so", paired),
      CLAIM("a level that is inclusive or exclusive has one in front of it", inclusion),
      CLAIM("steps are those of x86 where the processor is one, else any",
            steps_of_other_processors),
      CLAIM("all errors of a file are told at once, by line", all_errors),
      CLAIM("of many errors the first are told", many_errors),
      CLAIM("missing lines get defaults, which a note names", defaults),
      CLAIM("each random machine that can be is printed and read again, and no other is read",
            all_come_back),
   };
   return cmocka_run_group_tests_name("machine files", tests, NULL, NULL);
}
