/* Machines that the command line changes: overrides, ranges, and the list of machines.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/machine/builtin.h"
#include "sim/machine/machine_argument.h"
#include "sim/machine/machine_file.h"
#include "sim/machine/machine_list.h"
#include "sim/machine/override.h"

static tlb_machine machine, other;
static char room[TLB_OVERRIDE_ROOM], text[TLB_MACHINE_TEXT_SIZE];
static tlb_reason blame, why;

static void load(const char *name)
{
   uint32_t line;
   const tlb_builtin *const b = tlb_builtin_machine(name);
   assert_non_null(b);
   assert_true(tlb_machine_parse(b->text, b->length, &machine, &line, &why));
}

static void change(const char *overrides)
{
   if (!tlb_override(&machine, overrides, room, &blame, &why))
      fail_msg("%s: %s", blame.text, why.text);
   assert_true(tlb_machine_check(&machine, &why));
   /* What is printed is the same machine. */
   uint32_t line;
   tlb_machine_print(&machine, text, sizeof text);
   assert_true(tlb_machine_parse(text, strlen(text), &other, &line, &why));
   assert_memory_equal(&machine, &other, sizeof machine);
}

static void refuses(const char *overrides, const char *blamed, const char *words)
{
   load("skylake");
   assert_false(tlb_override(&machine, overrides, room, &blame, &why));
   assert_string_equal(blame.text, blamed);
   assert_string_equal(why.text, words);
}

/* --- Overrides --- */

TEST(lines_of_arrays)
{
   load("skylake");
   const tlb_machine before = machine;
   change("stlb.entries=2048,stlb.ways=16");
   assert_int_equal(unit_array_of(&machine, "STLB")->g.entries, 2048);
   assert_int_equal(unit_array_of(&machine, "STLB")->g.ways, 16);
   assert_string_equal(machine.name, "skylake-stlb.entries-2048-stlb.ways-16");
   assert_string_equal(machine.note[0].text, "changed by the user: stlb.entries=2048,stlb.ways=16");
   assert_int_equal(machine.n_notes, before.n_notes + 1);
   machine = before;
   change("stlb.entries=2048,stlb.ways=16 ");
   assert_string_equal(machine.note[0].text, "changed by the user: stlb.entries=2048,stlb.ways=16");
   /* Everything else is as it was. */
   for (unsigned i = 0; i < before.n_arrays; i++) {
      tlb_machine_array a = machine.array[i];
      a.g.entries = before.array[i].g.entries;
      a.g.ways = before.array[i].g.ways;
      assert_memory_equal(&a, &before.array[i], sizeof a);
   }
   assert_memory_equal(machine.walk, before.walk, sizeof machine.walk);
   assert_string_equal(machine.title, before.title);
}

TEST(an_unknown_line_is_known_then)
{
   load("skylake");
   assert_true(unit_array_of(&machine, "STLB")->policy_unknown);
   change("STLB.policy=random:7,stlb.hit-cycles=20,DTLB-4k.coalesces=16K,stlb.threads=1");
   assert_false(unit_array_of(&machine, "STLB")->policy_unknown);
   assert_int_equal(unit_array_of(&machine, "STLB")->g.policy, TLB_RANDOM);
   assert_int_equal(unit_array_of(&machine, "STLB")->g.seed, 7);
   assert_int_equal(unit_array_of(&machine, "STLB")->hit_cycles, 20);
   assert_int_equal(unit_array_of(&machine, "STLB")->threads, 1);
   assert_int_equal(unit_array_of(&machine, "DTLB-4K")->coalesce_shift, 14);
   assert_int_equal(unit_array_of(&machine, "DTLB-2M")->coalesce_shift, 0);
}

TEST(pairs_wired_entries_and_blocks)
{
   load("zen4");
   change("dtlb.coalesces=4K:64K+2M:32M,l2-itlb.paired=yes,itlb.wired=8");
   assert_int_equal(unit_array_of(&machine, "DTLB")->block_shift[12], 16);
   assert_int_equal(unit_array_of(&machine, "DTLB")->block_shift[21], 25);
   assert_int_equal(unit_array_of(&machine, "DTLB")->block_shift[30], 0);
   assert_true(unit_array_of(&machine, "L2-ITLB")->g.paired);
   assert_false(unit_array_of(&machine, "DTLB")->g.paired);
   /* `entries` is the whole, of which the program has the rest. */
   assert_int_equal(unit_array_of(&machine, "ITLB")->wired, 8);
   assert_int_equal(unit_array_of(&machine, "ITLB")->g.entries, 56);
   assert_int_equal(unit_array_of(&machine, "ITLB")->g.ways, 56);
   load("zen4");
   assert_false(tlb_override(&machine, "l2-dtlb.wired=8", room, &blame, &why));
   assert_string_equal(why.text,
                       "array 'L2-DTLB' has sets; only an array with ways full has wired entries");
   load("la464");
   change("stlb.paired=no");
   assert_false(unit_array_of(&machine, "STLB")->g.paired);
}

TEST(a_full_array_stays_so)
{
   load("zen4");
   change("dtlb.entries=96");
   assert_int_equal(unit_array_of(&machine, "DTLB")->g.ways, 96);
}

TEST(walks_and_the_head)
{
   load("skylake");
   change("walk.cycles=30,2m.cache=own,2m.policy=fifo,2m.ways=4,2m.entries=32,name=mine,year=2001");
   assert_int_equal(machine.walk_cycles, 30);
   assert_int_equal(machine.walk[2].g.entries, 32);
   assert_int_equal(machine.walk[2].g.ways, 4);
   assert_int_equal(machine.walk[2].g.policy, TLB_FIFO);
   assert_int_equal(machine.walk[1].cached, 0);
   assert_string_equal(machine.name, "mine");
   assert_int_equal(machine.year, 2001);
   /* Without its cache a step has no entries, ways and policy. */
   change("2M.cache=none");
   assert_int_equal(machine.walk[2].cached, 0);
}

TEST(all_machines)
{
   for (unsigned i = 0; i < tlb_n_builtins(); i++) {
      char overrides[100];
      load(tlb_builtin_at(i)->name);
      tlb_machine_array *const a = &machine.array[machine.n_arrays - 1];
      snprintf(overrides, sizeof overrides, "%s.entries=%u", a->name, 2 * a->g.entries);
      const unsigned entries = 2 * a->g.entries;
      change(overrides);
      assert_int_equal(machine.array[machine.n_arrays - 1].g.entries, entries);
   }
}

/* A machine has caches of tables if its file has; skylake gets others here. */
TEST(lines_of_caches)
{
   load("skylake");
   memset(machine.cache, 0, sizeof machine.cache);
   machine.n_caches = 2;
   machine.cache[0] = (tlb_table_cache){ .name = "L1D", .size = 32 << 10, .line = 64, .ways = 8,
                                         .share = 50 };
   machine.cache[1] = (tlb_table_cache){ .name = "L2", .size = 1 << 20, .line = 64, .ways = 16,
                                         .share = 50, .cycles = 10 };
   machine.memory = (tlb_table_cache){ .cycles = 300, .spread = 100 };
   const tlb_machine before = machine;
   change("cache-l2.cycles=12,cache-L1d.share=25%,memory.cycles=250,walk.overlap=2.4,"
          "stlb.overlap=4,walk.window=192");
   assert_int_equal(machine.cache[1].cycles, 12);
   assert_int_equal(machine.cache[0].share, 25);
   assert_int_equal(machine.memory.cycles, 250);
   assert_int_equal(machine.memory.spread, 0);
   assert_int_equal(machine.walk_overlap, 24);
   assert_int_equal(machine.window, 192);
   assert_int_equal(unit_array_of(&machine, "STLB")->overlap, 40);
   assert_int_equal(machine.cache[1].size, 1 << 20);
   assert_string_equal(machine.name,
                       "skylake-cache-l2.cycles-12-cache-l1d.share-25--memory.cycles-25");
   machine = before;
   change("cache-l2.size=512K,cache-l2.ways=8,2m.cache=own,2m.entries=16,2m.ways=full,"
          "2m.policy=lru");
   assert_int_equal(machine.cache[1].size, 512 << 10);
   assert_int_equal(machine.cache[1].ways, 8);
   assert_int_equal(machine.walk[2].g.entries, 16);
   machine = before;
   assert_false(tlb_override(&machine, "cache-L3.size=1M", room, &blame, &why));
   assert_string_equal(why.text,
                       "'cache-L3' is no part of skylake; did you mean cache-L1D, cache-L2?");
   machine = before;
   assert_false(tlb_override(&machine, "cache-l1d.cycles=3", room, &blame, &why));
   assert_string_equal(blame.text, "cache-l1d.cycles=3");
   assert_string_equal(why.text,
                       "the first cache has no cycles: it is the yardstick of the others");
   machine = before;
   assert_false(tlb_override(&machine, "cache-l2.size=512", room, &blame, &why));
   assert_string_equal(blame.text, "cache-l2.size=512");
   assert_string_equal(why.text, "512 bytes have no set of 16 ways with lines of 64, or are more "
                                 "than 1024M");
   machine = before;
   machine.n_caches = 0;
   assert_false(tlb_override(&machine, "memory.cycles=5", room, &blame, &why));
   assert_string_equal(why.text,
                       "'memory' is no part of skylake; it has ITLB-4K, ITLB-2M, DTLB-4K, DTLB-2M, "
                       "DTLB-1G, STLB, STLB-1G, walk, 512G, 1G, 2M, 4K");
}

/* Ways that do not divide other entries follow them, as the sets stay. */
TEST(sets_stay)
{
   static const unsigned entries_ways[][2] = { { 512, 4 }, { 768, 12 }, { 1024, 8 }, { 4096, 32 } };
   for (unsigned i = 0; i < 4; i++) {
      char overrides[40];
      load("skylake");
      snprintf(overrides, sizeof overrides, "stlb.entries=%u", entries_ways[i][0]);
      assert_true(tlb_override(&machine, overrides, room, &blame, &why));
      assert_int_equal(unit_array_of(&machine, "STLB")->g.entries, entries_ways[i][0]);
      assert_int_equal(unit_array_of(&machine, "STLB")->g.ways, entries_ways[i][1]);
   }
}

TEST(refusals)
{
   refuses("stlb.entries=500", "stlb.entries=500", "the 12 ways of STLB do not divide 500 entries; "
                                                   "give the ways, too, such as STLB.ways=20");
   refuses("stlb.entries=7", "stlb.entries=7",
           "the 12 ways of STLB do not divide 7 entries; give the ways, too, such as "
           "STLB.ways=full");
   refuses("walk.cycles=7,stlb.entries=1000,stlb.ways=7", "stlb.entries=1000,stlb.ways=7",
           "7 ways do not divide 1000 entries; ways must divide the entries, or be full");
   refuses("walk.cycles=7,stlb.entries=0", "stlb.entries=0",
           "entries '0' is not allowed; it is a number from 1 to 1048576");
   refuses("dtlb.entries=32", "dtlb.entries=32",
           "'dtlb' is no part of skylake; did you mean DTLB-4K, DTLB-2M, DTLB-1G, STLB?");
   refuses("foo.entries=32", "foo.entries=32",
           "'foo' is no part of skylake; it has ITLB-4K, ITLB-2M, DTLB-4K, DTLB-2M, DTLB-1G, STLB, "
           "STLB-1G, walk, 512G, 1G, 2M, 4K, cache-L1D, cache-L2, cache-L3 and 1 more");
   refuses("stlb.entrys=32", "stlb.entrys=32",
           "'entrys' is no line of the array; did you mean entries?");
   refuses("walk.entries=32", "walk.entries=32", "'entries' is no line of the walk; it has cycles, "
                                                 "overlap, window, entry-bytes, nested, source");
   refuses("stlb.ways=4,STLB.ways=8", "STLB.ways=8", "the line is given twice");
   refuses("stlb.ways=", "stlb.ways=", "the value is missing");
   refuses("2M.entries=4", "2M.entries=4", "only behind 'cache own' a step has entries");
   refuses("dtlb-4k.pages=2M,stlb.ways=6", "dtlb-4k.pages=2M,stlb.ways=6",
           "no array is asked by loads first (level 1) that takes the base page of 4K");
}

/* --- The argument --- */

static void first_is(const char *list, const char *machine_name)
{
   const size_t n = tlb_argument_length(list);
   assert_int_equal(n, strlen(machine_name));
   assert_memory_equal(list, machine_name, n);
   assert_true(list[n] == '\0' || list[n] == ',');
}

static void overrides_are(const char *one, const char *name, const char *overrides)
{
   const tlb_argument_overrides o = tlb_argument_split(one);
   assert_int_equal(o.name, strlen(name));
   assert_int_equal(o.length, strlen(overrides));
   assert_memory_equal(one + o.from, overrides, o.length);
}

TEST(lists)
{
   first_is("zen4,skylake", "zen4");
   first_is("", "");
   first_is(",zen4", "");
   first_is("a:b.c=1,b.d=2,zen4", "a:b.c=1,b.d=2");
   first_is("a:b.c=1,b.d=2@thp,b.e=3", "a:b.c=1,b.d=2@thp");
   first_is("a:b.c=1,zen4@text=libm.so:2M", "a:b.c=1");
   first_is("a:b.c=1,./b.d=2", "a:b.c=1");
   first_is("a,b.c=1", "a");
   first_is("a@b:c=1,d=2", "a@b:c=1");
   first_is("f:1:name=x,y.z=3,q", "f:1:name=x,y.z=3");
   overrides_are("a", "a", "");
   overrides_are("a:b.c=1,b.d=2@thp", "a", "b.c=1,b.d=2");
   overrides_are("f:1:b.c=1", "f:1", "b.c=1");
   overrides_are("a@flush:all", "a", "");
   overrides_are("a:b", "a:b", "");
}

static void expands(const char *one, unsigned n, const char *const *machines)
{
   char out[100];
   assert_int_equal(tlb_argument_count(one, &why), n);
   for (unsigned i = 0; i < n; i++) {
      tlb_argument_write(one, i, out, strlen(one) + 1);
      assert_string_equal(out, machines[i]);
   }
}

TEST(ranges)
{
   expands("a@thp", 1, (const char *const[]){ "a@thp" });
   expands("a:b.c=5", 1, (const char *const[]){ "a:b.c=5" });
   expands("a:b.c=5..5", 1, (const char *const[]){ "a:b.c=5" });
   expands("a:b.c=512..2048", 3, (const char *const[]){ "a:b.c=512", "a:b.c=1024", "a:b.c=2048" });
   expands("a:b.c=6..10/2,d=1@x..y", 3,
           (const char *const[]){ "a:b.c=6,d=1@x..y", "a:b.c=8,d=1@x..y", "a:b.c=10,d=1@x..y" });
   expands("a:b.c=0..3/3,d=1,e.f=2..4", 4,
           (const char *const[]){ "a:b.c=0,d=1,e.f=2", "a:b.c=0,d=1,e.f=4", "a:b.c=3,d=1,e.f=2",
                                  "a:b.c=3,d=1,e.f=4" });
   assert_int_equal(tlb_argument_count("a:b.c=1..4294967295/1,d=1..4294967295/1", &why),
                    TLB_ARGUMENT_MOST);
}

static void is_no_range(const char *value, const char *words)
{
   char one[100], expected[200];
   snprintf(one, sizeof one, "a:b.c=%s,d=1", value);
   snprintf(expected, sizeof expected, "'%s' %s", value, words);
   assert_int_equal(tlb_argument_count(one, &why), 0);
   assert_string_equal(why.text, expected);
}

TEST(bad_ranges)
{
   static const char form[] =
      "is no range; it is FROM..TO, by doubling, or FROM..TO/STEP, all of them numbers";
   is_no_range("512..", form);
   is_no_range("512..x", form);
   is_no_range("512..1024x", form);
   is_no_range("512..1024/", form);
   is_no_range("512..1024/0", form);
   is_no_range("512..1024/8x", form);
   is_no_range("1..4294967296", form);
   is_no_range("8..4", "goes down; the smaller number comes first");
   is_no_range("0..4", "begins at 0, which doubled is 0; give a step, FROM..TO/STEP");
   is_no_range("512..3000", "does not come to its end by doubling; the last is 2048, or give a "
                            "step, FROM..TO/STEP");
   is_no_range("5..10/2", "does not come to its end in such steps; the last is 9");
}

/* --- The list --- */

static unsigned n_listed(const char *pattern, const char *first)
{
   char line[TLB_LIST_LINE_SIZE];
   unsigned n = 0;
   tlb_machine_list l = tlb_machine_list_begin(pattern);
   assert_true(tlb_machine_list_next(&l, line, sizeof line));
   assert_int_equal(strncmp(line, "name ", 5), 0);
   while (tlb_machine_list_next(&l, line, sizeof line)) {
      assert_true(strlen(line) < sizeof line - 1);
      if (n++ == 0 && first != NULL)
         assert_string_equal(line, first);
   }
   assert_int_equal(n, l.n);
   return n;
}

TEST(the_list)
{
   char tiny[8];
   assert_int_equal(n_listed(NULL, NULL), tlb_n_builtins());
   assert_int_equal(n_listed("", NULL), tlb_n_builtins());
   assert_int_equal(n_listed("power8",
                             "power8  ppc64  2014    64K  I 64/full D 48/full  "
                             "D 256/full, third 2048/4           A  IBM POWER8"), 1);
   assert_int_equal(n_listed("Graviton-4", NULL), 1);
   assert_int_equal(n_listed("EPYC", NULL), 5);
   assert_int_equal(n_listed("epyc*rome", NULL), 1);
   assert_int_equal(n_listed("rome*epyc", NULL), 0);
   assert_true(n_listed("sparc64", NULL) >= 5);
   assert_int_equal(n_listed("no such machine", NULL), 0);
   tlb_machine_list l = tlb_machine_list_begin(NULL);
   assert_true(tlb_machine_list_next(&l, tiny, sizeof tiny));
   assert_string_equal(tiny, "name   ");
   tlb_machine_list_refuse("vax", &why);
   assert_string_equal(why.text, "'vax' is in no machine's name, title or instruction set; "
                                 "--list-machines alone lists them all");
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("an override changes the line that it names, and nothing else", lines_of_arrays),
      CLAIM("what was unknown of an array is known when it is overridden",
            an_unknown_line_is_known_then),
      CLAIM("a fully associative array stays so with other entries", a_full_array_stays_so),
      CLAIM("pairs, wired entries and blocks by the size of pages are lines, too",
            pairs_wired_entries_and_blocks),
      CLAIM("the walk, its steps and the head have lines, too", walks_and_the_head),
      CLAIM("caches of tables, the memory and overlaps have lines, too", lines_of_caches),
      CLAIM("the last array of each built-in machine can be doubled", all_machines),
      CLAIM("ways that do not divide other entries follow them", sets_stay),
      CLAIM("what cannot be is refused with the overrides to blame", refusals),
      CLAIM("behind a machine with overrides, what begins as an override is one of them", lists),
      CLAIM("ranges make a machine for each value, several ranges each combination", ranges),
      CLAIM("a range that goes down, stands still or misses its end is refused", bad_ranges),
      CLAIM("the list has a line for each machine with the pattern", the_list),
   };
   return cmocka_run_group_tests_name("override", tests, NULL, NULL);
}
