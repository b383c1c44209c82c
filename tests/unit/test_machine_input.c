/* Machines from machine files, CPUID dumps and the names of both.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "cpuid_support.h"

#include "sim/machine/builtin.h"
#include "sim/machine/machine_file.h"
#include "sim/machine/machine_input.h"

static dump file_text;
static tlb_machine machine, other;

static void begin(const char *text)
{
   file_text.n = 0;
   add(&file_text, "%s", text);
}

static void reads(const char *file, unsigned which)
{
   uint64_t line;
   tlb_reason why;
   const tlb_machine_file_name name = { .which = which, .numbered = which > 0 };
   memset(&machine, 0xA5, sizeof machine);
   if (!tlb_machine_read(file_text.text, file_text.n, file, name, &machine, &line, &why))
      fail_msg("%s:%llu: %s", file, (unsigned long long)line, why.text);
   if (!tlb_machine_check(&machine, &why))
      fail_msg("%s", why.text);
}

static void refuses(unsigned which, const char *expected)
{
   uint64_t line = UINT64_MAX;
   tlb_reason why;
   char error[256];
   const tlb_machine_file_name name = { .which = which, .numbered = which > 0 };
   assert_false(tlb_machine_read(file_text.text, file_text.n, "x", name, &machine,
                                 &line, &why));
   snprintf(error, sizeof error, "%llu: %s", (unsigned long long)line,
            why.text);
   assert_string_equal(error, expected);
}

static int has_note(const char *note)
{
   for (unsigned i = 0; i < machine.n_notes; i++) {
      if (strcmp(machine.note[i].text, note) == 0)
         return 1;
   }
   return 0;
}

/* A machine that is printed is read as the same machine. */
static void comes_back(void)
{
   static char printed[TLB_MACHINE_TEXT_SIZE];
   uint32_t line;
   tlb_reason why;
   tlb_machine_print(&machine, printed, sizeof printed);
   if (!tlb_machine_parse(printed, strlen(printed), &other, &line, &why))
      fail_msg("%u: %s\n%s", line, why.text, printed);
   assert_int_equal(other.n_arrays, machine.n_arrays);
   assert_memory_equal(other.array, machine.array, sizeof machine.array);
   assert_memory_equal(other.walk, machine.walk, sizeof machine.walk);
   assert_string_equal(other.name, machine.name);
   assert_string_equal(other.title, machine.title);
   assert_int_equal(other.n_notes, machine.n_notes);
   for (unsigned i = 0; i < machine.n_notes; i++)
      assert_string_equal(other.note[i].text, machine.note[i].text);
}

TEST(a_dump)
{
   const processor skylake = read_processor("skylake");
   begin("");
   add_cpu(&file_text, 0, &skylake);
   reads("/a/b.c/my laptop.at home.txt", 0);
   assert_string_equal(machine.name, "my-laptop.at-home");
   assert_int_equal(machine.n_arrays, 7);
   assert_int_equal(strncmp(machine.note[0].text, "of the instr", 12), 0);
   comes_back();
   refuses(1, "1: the dump has no machine number 1; allowed are 0 to 0");
}

TEST(a_hybrid_dump)
{
   const processor big = read_processor("golden-cove"), small = read_processor("gracemont");
   begin("");
   add_cpu(&file_text, 0, &big);
   add_cpu(&file_text, 1, &big);
   add_cpu(&file_text, 2, &small);
   reads("adl.txt", 0);
   assert_string_equal(machine.name, "adl");
   assert_string_equal(machine.note[0].text,
                       "the dump has 2 different processors; this is number "
                       "0, as CPU 0 and 1 more are; FILE:0 to FILE:1 name "
                       "them");
   assert_int_equal(machine.array[0].g.entries, 256);
   comes_back();
   reads("adl.txt", 1);
   assert_string_equal(machine.name, "adl-1");
   assert_string_equal(machine.note[0].text,
                       "the dump has 2 different processors; this is number "
                       "1, as CPU 2 and 0 more are; FILE:0 to FILE:1 name "
                       "them");
   assert_int_equal(machine.array[0].g.entries, 64);
   comes_back();
   refuses(2, "1: the dump has no machine number 2; allowed are 0 to 1");
}

/* What a hypervisor hides is replaced, and both is said. */
TEST(stand_ins)
{
   processor p = read_processor("sapphire-rapids");
   begin("CPU 0:\n");
   p.a[1].r[2] |= 1u << 31;
   add_answers(&file_text, p.a, 4);
   add_answers(&file_text, p.a + p.n - 2, 2);
   reads("vm", 0);
   assert_string_equal(machine.name, "vm");
   assert_string_equal(machine.title,
                       "Intel Golden Cove, Raptor Cove (Alder Lake P, Sapphire Rapids), in place "
                       "of GenuineIntel family 6 model 143 stepping 8");
   assert_string_equal(machine.note[0].text,
                       "leaf 2 refers to leaf 18H, which the hypervisor (unnamed) "
                       "hides");
   assert_string_equal(machine.note[1].text,
                       "unknown: CPUID does not describe the first level for "
                       "instructions and data");
   assert_string_equal(machine.note[2].text,
                       "the machine file goldencove is used instead");
   const tlb_builtin *const b = tlb_builtin_machine("goldencove");
   uint32_t line;
   tlb_reason why;
   assert_true(tlb_machine_parse(b->text, b->length, &other, &line, &why));
   assert_int_equal(machine.n_arrays, other.n_arrays);
   assert_memory_equal(machine.array, other.array, sizeof other.array);
   assert_int_equal(machine.n_notes, other.n_notes + 3);
   comes_back();

   const answer unnamed[] = { { 0, 0, { 1, 0x61616161, 0x61616161, 0x61616161 } },
                              { 1, 0, { 0, 0, 0, 0 } },
                              { 0x80000000u, 0, { 0, 0, 0, 0 } } };
   begin("CPU 0:\n");
   add_answers(&file_text, unnamed, N(unnamed));
   reads("...", 0);
   assert_string_equal(machine.name, "x.");
   assert_true(has_note("the default machine is used instead"));
   tlb_machine_default(12, &other);
   assert_memory_equal(machine.array, other.array, sizeof other.array);
   comes_back();
}

/* Where the title of what stands in is too long, it is cut, in any place, and can be read again. */
TEST(long_titles)
{
   for (unsigned length = 0; length <= 48; length++) {
      processor p = read_processor("sapphire-rapids");
      const uint32_t highest = 0x80000004u;
      p.a[1].r[2] |= 1u << 31;
      for (unsigned i = 0; i < p.n; i++) {
         if (p.a[i].leaf == 0x80000000u)
            p.a[i].r[0] = highest;
      }
      begin("CPU 0:\n");
      for (const answer *a = p.a; a < p.a + p.n; a++) {
         if (a->leaf != 0x18 && (a->leaf < 0x80000002u || a->leaf > highest))
            add_answers(&file_text, a, 1);
      }
      for (unsigned i = 0; i < 3; i++) {
         answer brand = { 0x80000002u + i, 0, { 0, 0, 0, 0 } };
         char *const text = (char *)brand.r;
         for (unsigned k = 0; k < 16 && i * 16 + k < length; k++)
            text[k] = k % 3 == 2 ? ' ' : 'x';
         add_answers(&file_text, &brand, 1);
      }
      reads("vm", 0);
      comes_back();
   }
}

TEST(a_machine_file)
{
   const tlb_builtin *const b = tlb_builtin_machine("zen4");
   begin(b->text);
   reads("whatever", 0);
   assert_string_equal(machine.name, "zen4");
   refuses(1, "1: a machine file has one machine; a number behind a file is "
              "for CPUID dumps");
   begin("# mine\n\ntlbgrind-machine 1\nname x\n");
   refuses(0, "4: the file ends without the line 'end'; is it cut short?");
}

TEST(neither)
{
   static const char *const texts[] = { "", "\n", "hello", "CPU", "\x7f"
                                        "ELF\x02" };
   for (size_t i = 0; i < N(texts); i++) {
      begin(texts[i]);
      refuses(0, "1: neither a machine file, which begins with "
                 "'tlbgrind-machine 1', nor a CPUID dump of cpuid -r or AIDA64, nor "
                 "/proc/cpuinfo");
   }
}

TEST(the_default)
{
   tlb_reason why;
   for (unsigned shift = 12; shift <= 30; shift++) {
      tlb_machine_default(shift, &machine);
      if (!tlb_machine_check(&machine, &why))
         fail_msg("%s", why.text);
      assert_int_equal(machine.base_page_shift, shift);
      assert_int_equal(machine.array[2].g.page_sizes, 1ull << shift);
      comes_back();
   }
   assert_int_equal(machine.n_notes, 0);
   assert_int_equal(machine.array[0].g.entries, 128);
   assert_int_equal(machine.array[0].g.ways, 8);
   assert_int_equal(machine.array[1].g.entries, 64);
   assert_int_equal(machine.array[1].g.ways, 4);
   assert_int_equal(machine.array[2].g.entries, 1536);
   assert_int_equal(machine.array[2].g.ways, 6);
}

TEST(numbers)
{
   static const struct {
      const char *name;
      size_t length;
      unsigned which;
      int numbered;
   } cases[] = {
      { "a", 1, 0, 0 },      { "a:1", 1, 1, 1 },   { "a:0", 1, 0, 1 },
      { "a:b:12", 3, 12, 1 }, { "a:", 2, 0, 0 },    { ":1", 2, 0, 0 },
      { "1", 1, 0, 0 },      { "a:x1", 4, 0, 0 },  { "", 0, 0, 0 },
      { "a:9999", 1, 9999, 1 }, { "a:10000", 7, 0, 0 },
   };
   for (size_t i = 0; i < N(cases); i++) {
      const tlb_machine_file_name f = tlb_machine_split_name(cases[i].name);
      assert_int_equal(f.length, cases[i].length);
      assert_int_equal(f.which, cases[i].which);
      assert_int_equal(f.numbered, cases[i].numbered);
   }
}

/* Names of every length and of any bytes become names that can be given. */
TEST(names)
{
   const processor skylake = read_processor("skylake");
   static char file[300];
   begin("");
   add_cpu(&file_text, 0, &skylake);
   for (unsigned n = 0; n < 256; n++) {
      memset(file, 'y', sizeof file);
      file[n] = '\0';
      if (n > 0)
         file[n / 2] = (char)(n == 46 ? 1 : n);
      reads(file, 0);
      comes_back();
   }
   reads("", 0);
   assert_string_equal(machine.name, "cpuid");
   reads("a/", 0);
   assert_string_equal(machine.name, "cpuid");
   reads(".x", 0);
   assert_string_equal(machine.name, "xx");
   reads("-x.y.z", 0);
   assert_string_equal(machine.name, "xx.y");
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("a machine of a dump is named after the file", a_dump),
      CLAIM("a dump of a hybrid processor has two machines, which FILE:0 and FILE:1 name",
            a_hybrid_dump),
      CLAIM("where CPUID hides the arrays the machine file stands in, or the default machine",
            stand_ins),
      CLAIM("a title that is cut can be read again", long_titles),
      CLAIM("a machine file is recognised by its content, whatever its name", a_machine_file),
      CLAIM("a file that is neither a machine file nor a dump is refused", neither),
      CLAIM("the default machine can be for each base page", the_default),
      CLAIM("a number behind a file name is taken off, and nothing else is", numbers),
      CLAIM("each file name, whatever its length and bytes, becomes a machine name that can be",
            names),
   };
   return cmocka_run_group_tests_name("machine_input", tests, NULL, NULL);
}
