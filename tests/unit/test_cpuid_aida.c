/* Dumps of AIDA64: what is read, what is refused and where.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "dump_support.h"

/* With sub-leaves where AIDA64 gives them, and what it adds in brackets. */
static void add_aida_answers(dump *d, const processor *p, const char *end)
{
   for (const answer *a = p->a; a < p->a + p->n; a++) {
      add(d, "CPUID %08X: %08X-%08X-%08X-%08X", a->leaf, a->r[0], a->r[1], a->r[2], a->r[3]);
      if (a->leaf == 0x18 || a->leaf == 7)
         add(d, " [SL %02X]", a->subleaf);
      add(d, "%s%s", a->leaf == 0 ? " [GenuineIntel]" : "", end);
   }
}

static const char *const headers[] = {
   "------[ Logical CPU #%u ]------", "------[ CPUID Registers / Logical CPU #%u ]------",
   "CPU#%03u AffMask: 0x0000000000000001",
};

static void add_aida_cpu(dump *d, const char *header, unsigned cpu, const processor *p,
                         const char *end)
{
   char line[100];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
   snprintf(line, sizeof line, header, cpu);
#pragma GCC diagnostic pop
   add(d, "%s%s%sallcpu: Package 0 / Core %u / Thread 0: Valid%s%s", line, end, end, cpu, end, end);
   add_aida_answers(d, p, end);
   add(d, "%sL1    Data Cache:    32 KB,  8-way Associative, 64-byte Line%s%s", end, end, end);
}

/* Both formats give equal processors. */
static void same_as_raw(const char *name, const processor *p)
{
   dump raw = { .n = 0 }, aida;
   add_cpu(&raw, 5, p);
   tlb_cpuid_dump expected = reads(&raw);
   for (unsigned i = 0; i < N(headers); i++) {
      static const char *const ends[] = { "\n", "\r\n" };
      aida.n = 0;
      add(&aida, "------[ Versions ]------\n\nProgram Version : AIDA64\n"
                 "CPUID Revision     : 000005D0h\nCPUID Manufacturer : x\n\n");
      add_aida_cpu(&aida, headers[i], 5, p, ends[i % 2]);
      tlb_cpuid_dump out = reads(&aida);
      assert_int_equal(out.n, 1);
      assert_int_equal(out.processor[0].cpu, 5);
      assert_int_equal(out.processor[0].line, 7);
      tlb_machine a, b;
      const int good = tlb_cpuid_machine(tlb_cpuid_dump_ask, &expected.processor[0], &a);
      assert_int_equal(tlb_cpuid_machine(tlb_cpuid_dump_ask, &out.processor[0], &b), good);
      if (a.n_arrays != b.n_arrays || memcmp(a.array, b.array, sizeof a.array) != 0
          || strcmp(a.title, b.title) != 0)
         fail_msg("%s differs", name);
   }
}

TEST(all_processors)
{
   for_each_processor(same_as_raw);
}

/* Without a section, in columns as a report has them, in small letters,
   behind the mark of UTF-8. */
TEST(variants)
{
   const processor skylake = read_processor("skylake");
   dump d = { .n = 0 };
   tlb_cpuid_dump out;
   add_aida_answers(&d, &skylake, "\r\n");
   out = reads(&d);
   assert_int_equal(out.n, 1);
   assert_int_equal(out.processor[0].cpu, 0);
   d.n = 0;
   add(&d, "\xef\xbb\xbf" "CPUID 00000000: 00000016-756e6547-6c65746e-49656e69\n");
   for (const answer *a = skylake.a + 1; a < skylake.a + skylake.n; a++)
      add(&d, "      CPUID %08x    %08x-%08x-%08x-%08x  [x]\n", a->leaf, a->r[0], a->r[1], a->r[2],
          a->r[3]);
   out = reads(&d);
   assert_int_equal(out.n, 1);
   assert_int_equal(out.processor[0].line, 1);
   assert_false(out.processor[0].lacks);
}

/* What the processor's machine is as dumps of other programs give it: one processor after the
   other, without a line between or with "CPU N:", sub-leaves by their order. */
static void as_other_programs(const char *name, const processor *p)
{
   static const char *const forms[] = {
      "CPUID %08X: %08X-%08X-%08X-%08X\n", "CPUID %08X: %08X %08X %08X %08X\n",
      "CPUID %08X : %08X-%08X-%08X-%08X\n", "CPUID %08X: %08X  %08X  %08X  %08X  Text\n",
   };
   dump raw = { .n = 0 };
   uint32_t next = 0; /* the sub-leaf of leaf 18H whose turn it is */
   for (const answer *a = p->a; a < p->a + p->n; a++) {
      if (a->leaf == 0x18 && a->subleaf != next++)
         return;
   }
   add_cpu(&raw, 0, p);
   tlb_cpuid_dump expected = reads(&raw);
   for (unsigned form = 0; form < 2 * N(forms); form++) {
      dump d = { .n = 0 };
      for (unsigned cpu = 0; cpu < 2; cpu++) {
         if (form % 2 != 0)
            add(&d, "CPU %u:\n", cpu);
         for (const answer *a = p->a; a < p->a + p->n; a++) {
            char line[100];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(line, sizeof line, forms[form / 2], a->leaf, a->r[0], a->r[1], a->r[2],
                     a->r[3]);
#pragma GCC diagnostic pop
            add(&d, "%s", line);
         }
      }
      tlb_cpuid_dump out = reads(&d);
      assert_int_equal(out.n, 1);
      assert_int_equal(out.processor[0].cpus, 2);
      tlb_machine a, b;
      const int good = tlb_cpuid_machine(tlb_cpuid_dump_ask, &expected.processor[0], &a);
      assert_int_equal(tlb_cpuid_machine(tlb_cpuid_dump_ask, &out.processor[0], &b), good);
      if (a.n_arrays != b.n_arrays || memcmp(a.array, b.array, sizeof a.array) != 0)
         fail_msg("%s differs in form %u", name, form);
   }
}

TEST(other_programs)
{
   for_each_processor(as_other_programs);
}

TEST(hybrid)
{
   const processor big = read_processor("golden-cove"), small = read_processor("gracemont");
   dump d = { .n = 0 };
   for (unsigned cpu = 0; cpu < 4; cpu++)
      add_aida_cpu(&d, headers[1], cpu, cpu < 3 ? &big : &small, "\n");
   /* Sections without a leaf are no processors. */
   add(&d, "------[ All CPUs ]------\n\nCPU   0: APICID    0 / Package 0\n\n"
           "------[ MSR Registers / Logical CPU #0 ]------\n\nMSR 0000001B: 0000-0000-FEE0-0900\n"
           "------[ MSR Registers / Logical CPU #1 ]------\n\n");
   tlb_cpuid_dump out = reads(&d);
   assert_int_equal(out.n, 2);
   assert_int_equal(out.processor[0].cpus, 3);
   assert_int_equal(out.processor[1].cpu, 3);
   assert_int_equal(out.processor[1].cpus, 1);
}

/* A sub-leaf is a number of two hexadecimal digits. */
TEST(sub_leaves)
{
   dump d = { .n = 0 };
   add(&d, "CPUID 00000000: 00000018-756E6547-6C65746E-49656E69\nCPUID 00000001: 00000000-0-\n");
   refuses(&d, "2: '0-' is no value of a register; expected 8 hexadecimal digits");
   d.n = 0;
   add(&d, "CPUID 00000000: 00000018-756E6547-6C65746E-49656E69\n"
           "CPUID 00000001: 000306A9-00000000-00000000-00000000\n"
           "CPUID 00000018: 00000001-00000002-00000003-00000004 [SL 1F] [x]\n");
   tlb_cpuid_dump out = reads(&d);
   assert_int_equal(tlb_cpuid_dump_ask(&out.processor[0], 0x18, 0x1f).ecx, 3);
   assert_int_equal(tlb_cpuid_dump_ask(&out.processor[0], 0x18, 0).ecx, 0);
}

static void broken_line(const char *line, const char *expected)
{
   dump d = { .n = 0 };
   add(&d, "------[ Logical CPU #0 ]------\n%s\n", line);
   refuses(&d, expected);
}

TEST(broken_lines)
{
   broken_line("CPUID 00000000:", "2: 'CPUID 00000000:' ends too early; the dump is cut off");
   broken_line("CPUID 00000000: 00000016-756E6547-6C65746E",
               "2: 'CPUID 00000000: 00000016-756E654' ends too early; the dump is cut off");
   broken_line("CPUID 00000000: 00000016-756E6547-6C65746E-",
               "2: 'CPUID 00000000: 00000016-756E654' ends too early; the dump is cut off");
   broken_line("CPUID 00000000: 00000016-756E6547-6C65746E-49656E6",
               "2: '49656E6' is no value of a register; expected 8 hexadecimal digits");
   broken_line("CPUID 00000000: 00000016-756E6547-6C65746E-49656E690",
               "2: '49656E690' is no value of a register; expected 8 hexadecimal digits");
   broken_line("CPUID 00000000: 00000016 756E6547",
               "2: 'CPUID 00000000: 00000016 756E654' ends too early; the dump is cut off");
   broken_line("CPUID 00000000: 00000016 756E654",
               "2: '756E654' where '-' and the next register are expected");
   broken_line("CPUID 00000000: 00000016-0000000x", "2: '0000000x' is no value of a register; "
                                                     "expected 8 hexadecimal digits");
   broken_line("CPUID 00000018: 00000000-00000000-00000000-00000000 [SL 0G]",
               "2: 'G]' is no sub-leaf; expected hexadecimal digits and ']'");
   broken_line("CPUID 00000018: 00000000-00000000-00000000-00000000 [SL ",
               "2: '' is no sub-leaf; expected hexadecimal digits and ']'");
   broken_line("CPUID 00000018: 00000000-00000000-00000000-00000000x",
               "2: 'x' follows the registers without a space");
   broken_line("CPUID 00000001: 000306A9-00000000-00000000-00000000",
               "1: CPU 0 has no line for leaf 0x00000000, sub-leaf 0; the dump is cut off or lines "
               "were taken out");
   broken_line("CPUID 00000001: 000306A9-00000000-00000000-00000000\n"
               "CPUID 00000001: 000306A8-00000000-00000000-00000000",
               "3: leaf 0x00000001, sub-leaf 0 stands here again for CPU 0, with other values than "
               "before");
}

/* Lines that look nearly like leaves do not make a dump of any text. */
TEST(looks)
{
   static const struct {
      const char *text;
      int dump;
   } cases[] = {
      { "CPUID 00000000: ", 1 },
      { "anything\n\n   CPUID 00000000 0\n", 1 },
      { "CPUID 0000000: 00000016\n", 0 },
      { "CPUID 000000000: 00000016\n", 0 },
      { "CPUID Revision     : 00100F62h\n", 0 },
      { "CPUID 00000000x\n", 0 },
      { "------[ Logical CPU #0 ]------\n", 0 },
      { "CPU#000 AffMask: 0x0000000000000001\n", 0 },
   };
   for (size_t i = 0; i < N(cases); i++)
      assert_int_equal(tlb_cpuid_is_dump(cases[i].text, strlen(cases[i].text)), cases[i].dump);
}

/* Cut off anywhere behind the first leaf it is refused, or what it lacks is noted. */
TEST(cut)
{
   const processor zen_5 = read_processor("zen-5");
   dump d = { .n = 0 };
   add(&d, "------[ Logical CPU #0 ]------\n");
   add_aida_answers(&d, &zen_5, "\n");
   const size_t whole = d.n;
   const char *const extended = strstr(d.text, "CPUID 80000000");
   assert_non_null(extended);
   for (d.n = 0; d.n < whole - 1; d.n++) {
      tlb_cpuid_dump out;
      char error[256];
      if (read_bytes(d.text, d.n, &out, error, sizeof error) && d.text + d.n > extended + 20
          && !out.processor[0].lacks)
         fail_msg("it is read from %zu of %zu bytes", d.n, whole);
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("each processor is the same in AIDA64's format as in that of cpuid -r", all_processors),
      CLAIM("a dump without sections, a report in columns and a mark of UTF-8 are read", variants),
      CLAIM("lines with blanks, \"CPU N:\" or nothing between processors, and sub-leaves by their "
            "order", other_programs),
      CLAIM("sections of CPUs that differ are several machines, those of other registers none",
            hybrid),
      CLAIM("sub-leaves are hexadecimal", sub_leaves),
      CLAIM("a broken line is refused with its number and what is wrong", broken_lines),
      CLAIM("a dump is known by any line with a leaf, and by no other", looks),
      CLAIM("a dump that is cut off is refused, or a note says what it lacks", cut),
   };
   return cmocka_run_group_tests_name("cpuid_aida", tests, NULL, NULL);
}
