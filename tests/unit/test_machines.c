/* The machine files that are built in, and how names find them.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/machine/builtin.h"
#include "sim/tlb/hierarchy.h"
#include "sim/machine/machine_file.h"

static tlb_machine machine, again;
static char printed[TLB_MACHINE_TEXT_SIZE];

static void parse(const char *name, const char *text, size_t length,
                  tlb_machine *out)
{
   uint32_t line;
   tlb_reason why;
   memset(out, 0, sizeof *out);
   if (!tlb_machine_parse(text, length, out, &line, &why))
      fail_msg("%s.machine:%u: %s", name, line, why.text);
}

TEST(all_are_read)
{
   assert_true(tlb_n_builtins() >= 106);
   for (unsigned i = 0; i < tlb_n_builtins(); i++) {
      const tlb_builtin *const b = tlb_builtin_at(i);
      parse(b->name, b->text, b->length, &machine);
      assert_string_equal(machine.name, b->name);
      assert_int_equal(strlen(b->text), b->length);
      if (i > 0)
         assert_true(strcmp(tlb_builtin_at(i - 1)->name, b->name) < 0);
   }
}

TEST(all_come_back)
{
   for (unsigned i = 0; i < tlb_n_builtins(); i++) {
      const tlb_builtin *const b = tlb_builtin_at(i);
      parse(b->name, b->text, b->length, &machine);
      tlb_machine_print(&machine, printed, sizeof printed);
      parse(b->name, printed, strlen(printed), &again);
      assert_memory_equal(&machine, &again, sizeof machine);
   }
}

TEST(all_name_sources)
{
   for (unsigned i = 0; i < tlb_n_builtins(); i++) {
      const tlb_builtin *const b = tlb_builtin_at(i);
      parse(b->name, b->text, b->length, &machine);
      assert_true(machine.source[0] != '\0');
      for (unsigned j = 0; j < machine.n_arrays; j++) {
         if (machine.array[j].source[0] == '\0')
            fail_msg("%s: %s has no source", b->name, machine.array[j].name);
      }
   }
}

/* The confidence of a machine is that of the least certain array that base
   pages use. */
TEST(confidence)
{
   for (unsigned i = 0; i < tlb_n_builtins(); i++) {
      const tlb_builtin *const b = tlb_builtin_at(i);
      char least = 'A';
      parse(b->name, b->text, b->length, &machine);
      for (unsigned j = 0; j < machine.n_arrays; j++) {
         const tlb_machine_array *const a = &machine.array[j];
         const char c = a->confidence ? a->confidence : machine.confidence;
         const uint64_t base = UINT64_C(1) << machine.base_page_shift;
         if ((a->g.page_sizes & (2 * base - 1)) != 0 && c > least)
            least = c;
      }
      if (least != machine.confidence)
         fail_msg("%s is %c, its arrays %c", b->name, machine.confidence,
                  least);
   }
}

/* What nothing but memory tells is no fact: all its figures are assumed. */
TEST(no_memories)
{
   for (unsigned i = 0; i < tlb_n_builtins(); i++) {
      const tlb_builtin *const b = tlb_builtin_at(i);
      parse(b->name, b->text, b->length, &machine);
      for (unsigned j = 0; j < machine.n_arrays; j++) {
         const tlb_machine_array *const a = &machine.array[j];
         const char c = a->confidence ? a->confidence : machine.confidence;
         if (c == 'C' && !(a->entries_unknown && a->ways_unknown))
            fail_msg("%s: %s is of confidence C", b->name, a->name);
      }
   }
}

TEST(found)
{
   const tlb_builtin *const b = tlb_builtin_machine("power8");
   assert_non_null(b);
   assert_string_equal(b->name, "power8");
   assert_null(tlb_builtin_machine("power"));
   assert_null(tlb_builtin_machine("POWER8"));
   assert_null(tlb_builtin_machine("power8 "));
   assert_null(tlb_builtin_machine(""));
}

static void refused(const char *name, const char *words)
{
   tlb_reason why;
   tlb_builtin_refuse(name, &why);
   assert_string_equal(why.text, words);
}

TEST(near_names)
{
   char name[200];
   tlb_reason why;
   refused("skylak", "'skylak' is no machine; did you mean skylake?");
   refused("Sky-Lake", "'Sky-Lake' is no machine; did you mean skylake?");
   refused("skylkae", "'skylkae' is no machine; did you mean skylake?");
   refused("sykylake", "'sykylake' is no machine; did you mean skylake?");
   refused("zen",
           "'zen' is no machine; did you mean zen1, zen2, zen3, zen4, zen5?");
   refused("neoversev2",
           "'neoversev2' is no machine; did you mean neoverse-v2, "
           "neoverse-n2, neoverse-v1, neoverse-v3, neoverse-n1, neoverse-n3?");
   refused("pdp11", "'pdp11' is no machine; --list-machines tells their names");
   refused("", "'' is no machine; --list-machines tells their names");
   refused("\n", "'?' is no machine; --list-machines tells their names");
   memset(name, 'z', sizeof name);
   name[sizeof name - 1] = '\0';
   tlb_builtin_refuse(name, &why);
   assert_non_null(strstr(why.text, "zz' is no machine; --list-machines"));
}

/* Titles and products, in any spelling. */
TEST(called_otherwise)
{
   refused("graviton4", "'graviton4' is no machine; did you mean neoverse-v2?");
   refused("Graviton_4", "'Graviton_4' is no machine; did you mean neoverse-v2?");
   refused("epyc", "'epyc' is no machine; did you mean zen1, zen2, zen3, zen4, zen5?");
   refused("EPYC-7742", "'EPYC-7742' is no machine; did you mean zen1, zen2, zen3, zen4, zen5?");
   refused("epyc9004", "'epyc9004' is no machine; did you mean zen4?");
   refused("sapphire rapids", "'sapphire rapids' is no machine; did you mean goldencove?");
   refused("coffee-lake", "'coffee-lake' is no machine; did you mean kabylake?");
   refused("graviton", "'graviton' is no machine; did you mean cortex-a72, neoverse-n1, "
                       "neoverse-v1, neoverse-v2?");
   refused("kunpeng", "'kunpeng' is no machine; did you mean taishan-v110?");
   refused("fugaku", "'fugaku' is no machine; did you mean a64fx?");
   refused("3A6000", "'3A6000' is no machine; did you mean la664?");
   refused("turion", "'turion' is no machine; did you mean k8?");
   /* A name of two letters is a whole word. */
   refused("m1", "'m1' is no machine; did you mean apple-m1, apple-m1-e?");
   refused("m3", "'m3' is no machine; did you mean apple-m3, apple-m3-e?");
   refused("ro", "'ro' is no machine; --list-machines tells their names");
   refused("rom", "'rom' is no machine; did you mean zen2?");
   /* From the beginning of a word on. */
   refused("aviton4", "'aviton4' is no machine; --list-machines tells their names");
}

/* POWER's pages of 64K: 2M with the radix tables of POWER9, 16M with hashed ones. */
TEST(transparent_huge_pages)
{
   static const struct { const char *name; unsigned shift; } wanted[] = {
      { "power7", 24 }, { "power8", 24 }, { "power9", 21 }, { "power11", 21 }, { "skylake", 21 },
      { "neoverse-v2", 21 },
   };
   for (unsigned i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
      const tlb_builtin *const b = tlb_builtin_machine(wanted[i].name);
      parse(b->name, b->text, b->length, &machine);
      assert_int_equal(tlb_machine_thp_shift(&machine, machine.isa), wanted[i].shift);
   }
   machine.base_page_shift = 16;
   assert_int_equal(tlb_machine_thp_shift(&machine, machine.isa), 29);
   assert_int_equal(tlb_machine_thp_shift(&machine, "ppc64"), 21);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("at least 106 machine files are built in, in order, and all are "
            "read",
            all_are_read),
      CLAIM("printed and read again, each is the same machine", all_come_back),
      CLAIM("each machine and each of its arrays says where it is from",
            all_name_sources),
      CLAIM("a machine's confidence is that of its least certain array for base pages", confidence),
      CLAIM("an array without a source has its entries and ways marked as assumed", no_memories),
      CLAIM("a machine is found by the whole of its name only", found),
      CLAIM("a name that is refused comes with those close to it", near_names),
      CLAIM("and with those whose title or products have it", called_otherwise),
      CLAIM("a transparent huge page is what a page table covers", transparent_huge_pages),
   };
   return cmocka_run_group_tests_name("machines", tests, NULL, NULL);
}
