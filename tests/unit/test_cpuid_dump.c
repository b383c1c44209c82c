/* Dumps of CPUID: what is read, what is refused and where.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "dump_support.h"

static void same_machine(tlb_cpuid_processor *p, const char *title,
                         const char *last_array)
{
   tlb_machine m;
   assert_true(tlb_cpuid_machine(tlb_cpuid_dump_ask, p, &m));
   assert_string_equal(m.title, title);
   assert_string_equal(m.array[m.n_arrays - 1].name, last_array);
}

#define SKYLAKE_TITLE                          \
   "Intel(R) Xeon(R) Gold 6140 CPU @ 2.30GHz, " \
   "GenuineIntel family 6 model 85 stepping 4"

TEST(one_processor)
{
   const processor skylake = read_processor("skylake");
   dump d = { .n = 0 };
   add_cpu(&d, 0, &skylake);
   tlb_cpuid_dump out = reads(&d);
   assert_int_equal(out.n, 1);
   assert_int_equal(out.processor[0].cpu, 0);
   assert_int_equal(out.processor[0].cpus, 1);
   assert_int_equal(out.processor[0].line, 1);
   same_machine(&out.processor[0], SKYLAKE_TITLE, "L2-TLB-1G");
   assert_int_equal(tlb_cpuid_dump_ask(&out.processor[0], 2, 0).eax,
                    0x76036301);
   assert_int_equal(tlb_cpuid_dump_ask(&out.processor[0], 2, 1).eax, 0);
}

/* With -1 there is no number; a first line may be lost; spaces, capitals,
   carriage returns, empty lines, and a missing end of the last line. */
TEST(variants)
{
   const processor skylake = read_processor("skylake");
   dump d = { .n = 0 };
   add(&d, "\n  \t \r\nCPU:\r\n");
   add(&d, "\t0x00000000  0x0:  eax=0x00000016 ebx=0x756E6547\tecx=0x6c65746e "
           "edx=0x49656e69\n");
   add(&d, " \r\n\r\n");
   add_answers(&d, skylake.a + 1, skylake.n - 1);
   d.n--;
   tlb_cpuid_dump out = reads(&d);
   assert_int_equal(out.n, 1);
   assert_int_equal(out.processor[0].line, 3);
   same_machine(&out.processor[0], SKYLAKE_TITLE, "L2-TLB-1G");

   d.n = 0;
   add_answers(&d, skylake.a, skylake.n);
   out = reads(&d);
   assert_int_equal(out.n, 1);
   same_machine(&out.processor[0], SKYLAKE_TITLE, "L2-TLB-1G");
}

/* What does not matter may differ, and may stand there in another order. */
TEST(equal_processors)
{
   const processor skylake = read_processor("skylake");
   dump d = { .n = 0 };
   for (unsigned cpu = 0; cpu < 40; cpu++) {
      processor p = skylake;
      p.a[1].r[1] = cpu << 24; /* the APIC's number */
      const answer first = p.a[p.n - 1];
      memmove(p.a + 1, p.a, (p.n - 1) * sizeof p.a[0]);
      p.a[0] = first;
      add_cpu(&d, cpu, &p);
   }
   tlb_cpuid_dump out = reads(&d);
   assert_int_equal(out.n, 1);
   assert_int_equal(out.processor[0].cpus, 40);
   same_machine(&out.processor[0], SKYLAKE_TITLE, "L2-TLB-1G");
}

TEST(hybrid)
{
   const processor big = read_processor("golden-cove"), small = read_processor("gracemont");
   dump d = { .n = 0 };
   for (unsigned cpu = 0; cpu < 4; cpu++)
      add_cpu(&d, cpu, &big);
   for (unsigned cpu = 16; cpu < 24; cpu++)
      add_cpu(&d, cpu, &small);
   tlb_cpuid_dump out = reads(&d);
   assert_int_equal(out.n, 2);
   assert_int_equal(out.processor[0].cpu, 0);
   assert_int_equal(out.processor[0].cpus, 4);
   assert_int_equal(out.processor[1].cpu, 16);
   assert_int_equal(out.processor[1].cpus, 8);
   assert_int_equal(out.processor[1].line, 4 * (big.n + 1) + 1);
   same_machine(&out.processor[0],
                "GenuineIntel family 6 model 151 stepping 2 (Core)",
                "L2-TLB-4K-1G");
   same_machine(&out.processor[1],
                "GenuineIntel family 6 model 151 stepping 2 (Atom)",
                "L2-TLB-1G");
}

static void is_whole_or_refused(const char *name, const processor *p)
{
   dump d = { .n = 0 };
   tlb_machine m;
   add_cpu(&d, 0, p);
   tlb_cpuid_dump out = reads(&d);
   assert_int_equal(out.n, 1);
   assert_true(tlb_cpuid_machine(tlb_cpuid_dump_ask, &out.processor[0], &m));
   /* Cut off anywhere it is refused, or what it lacks is noted. Without the number of extended
      leaves it is a whole dump of a processor that has none. */
   for (size_t n = 0; n < d.n - 1; n++) {
      char error[256];
      if (!read_bytes(d.text, n, &out, error, sizeof error))
         continue;
      const char *const extended = strstr(d.text, "0x80000000 0x00: ");
      const int has_it = extended != NULL && (size_t)(extended - d.text) < n;
      if (has_it && !out.processor[0].lacks)
         fail_msg("%s is read from %zu of %zu bytes", name, n, d.n);
   }
}

TEST(all_processors)
{
   for_each_processor(is_whole_or_refused);
}

/* The dump, but for that sub-leaf of leaf 18H. */
enum { ALL_OF_18H = -1 };

static void without(dump *d, const processor *p, int subleaf)
{
   d->n = 0;
   add(d, "CPU 3:\n");
   for (const answer *a = p->a; a < p->a + p->n; a++) {
      const int all = subleaf == ALL_OF_18H;
      if (a->leaf != 0x18 || !(all || a->subleaf == (uint32_t)subleaf))
         add_answers(d, a, 1);
   }
}

static void lacks_sub_leaf_of_18h(const dump *d, uint32_t subleaf)
{
   const tlb_cpuid_dump out = reads(d);
   assert_int_equal(out.n, 1);
   assert_true(out.processor[0].lacks);
   assert_int_equal(out.processor[0].lacks_leaf, 0x18);
   assert_int_equal(out.processor[0].lacks_subleaf, subleaf);
}

/* Virtual machines may lack leaf 18H, and the hypervisor's own leaves. */
TEST(lacks)
{
   dump d = { .n = 0 };
   processor p = read_processor("sapphire-rapids");
   tlb_machine m;
   p.a[1].r[2] |= 1u << 31;
   without(&d, &p, ALL_OF_18H);
   tlb_cpuid_dump out = reads(&d);
   assert_false(tlb_cpuid_machine(tlb_cpuid_dump_ask, &out.processor[0], &m));
   assert_string_equal(m.note[0].text, "leaf 2 refers to leaf 18H, which the "
                                       "hypervisor (unnamed) hides");
   /* But not some of its sub-leaves. */
   assert_false(out.processor[0].lacks);
   without(&d, &p, 5);
   lacks_sub_leaf_of_18h(&d, 5);
   without(&d, &p, 0);
   lacks_sub_leaf_of_18h(&d, 0);
   /* And no real machine lacks it. */
   p.a[1].r[2] &= ~(1u << 31);
   without(&d, &p, ALL_OF_18H);
   lacks_sub_leaf_of_18h(&d, 0);
}

TEST(no_dump)
{
   dump d = { .n = 0 };
   refuses(&d, "1: no processor; a CPUID dump is what cpuid -r prints");
   add(&d, "\n\n  \n");
   refuses(&d, "3: no processor; a CPUID dump is what cpuid -r prints");
   add(&d, "Hello\n");
   refuses(&d, "4: 'Hello' is no line of a CPUID dump; expected CPU N: or "
               "0xLEAF 0xSUBLEAF: eax=0x... ebx=0x... ecx=0x... edx=0x...");
   d.n = 0;
   add(&d, "CPU 0:\nCPU 1:\n");
   refuses(&d, "1: CPU 0 has no line for leaf 0x00000000, sub-leaf 0; the dump "
               "is cut off or lines were taken out");
   /* What cpuid prints without -r. */
   d.n = 0;
   add(&d, "CPU 0:\n   vendor_id = \"GenuineIntel\"\n");
   refuses(&d, "2: 'vendor_id = \"GenuineIntel\"' is what cpuid prints without -r; make the "
               "dump with cpuid -r");
}

static void broken_line(const char *line, const char *expected)
{
   dump d = { .n = 0 };
   add(&d, "CPU 0:\n%s\n", line);
   refuses(&d, expected);
}

#define WHAT                                                             \
   " is no line of a CPUID dump; expected CPU N: or 0xLEAF 0xSUBLEAF: " \
   "eax=0x... ebx=0x... ecx=0x... edx=0x..."

TEST(broken_lines)
{
   broken_line("0x0000000g 0x00: eax=0x00000000",
               "2: '0x0000000g 0x00: eax=0x00000000'" WHAT);
   broken_line("0x00000000", "2: '0x00000000'" WHAT);
   broken_line("0x00000000 0x00", "2: '0x00000000 0x00'" WHAT);
   broken_line("0x00000000 0x123456789:", "2: '0x00000000 0x123456789:'" WHAT);
   broken_line("0x0 0x00: eax=0x00000000", "2: '0x0 0x00: eax=0x00000000'"
               WHAT);
   broken_line("CPU 99999999999:", "2: 'CPU 99999999999:'" WHAT);
   broken_line("CPU x:", "2: 'CPU x:'" WHAT);
   broken_line("CPU 1: 2", "2: 'CPU 1: 2'" WHAT);
   broken_line("0x00000000 0x00:",
               "2: '0x00000000 0x00:' ends too early; the dump is cut off");
   broken_line("0x00000000 0x00: eax=0x00000000 ebx=0x00000000",
               "2: '0x00000000 0x00: eax=0x00000000 ' ends too early; the "
               "dump is cut off");
   broken_line("0x00000000 0x00: ebx=0x00000000",
               "2: 'ebx=0x00000000' where eax=, ebx=, ecx= and edx= are "
               "expected, in this order");
   broken_line("0x00000000 0x00: eax=0x000000000 ebx=0",
               "2: '0x000000000 ebx=0' is no value of a register; expected 0x "
               "and 8 hexadecimal digits");
   broken_line("0x00000000 0x00: eax=0x0000000 ebx=0",
               "2: '0x0000000 ebx=0' is no value of a register; expected 0x "
               "and 8 hexadecimal digits");
   broken_line("0x00000000 0x00: eax=-1",
               "2: '-1' is no value of a register; expected 0x and 8 "
               "hexadecimal digits");
   broken_line("0x00000000 0x00: eax=0x00000000,ebx=0x00000000",
               "2: ',ebx=0x00000000' follows a register without a space");
   broken_line("0x00000000 0x00: eax=0x00000000 ebx=0x00000000 ecx=0x00000000 "
               "edx=0x00000000 esi",
               "2: 'esi' is too much behind edx");
   broken_line("\x01\x02\x7f\x1b[2J", "2: '????[2J'" WHAT);
}

TEST(contradiction)
{
   const processor skylake = read_processor("skylake");
   dump d = { .n = 0 };
   answer a = skylake.a[2];
   add_cpu(&d, 7, &skylake);
   add_answers(&d, &a, 1);
   assert_int_equal(reads(&d).n, 1);
   a.r[3] ^= 0x00010000;
   add_answers(&d, &a, 1);
   char expected[160];
   snprintf(expected, sizeof expected,
            "%zu: leaf 0x00000002, sub-leaf 0 stands here again for CPU 7, "
            "with other values than before",
            skylake.n + 3);
   refuses(&d, expected);
   /* Where it does not matter, it does not. */
   d.n = 0;
   add_cpu(&d, 7, &skylake);
   a = skylake.a[1];
   a.r[1] ^= 0xff000000;
   add_answers(&d, &a, 1);
   add(&d, "0x00000099 0x00: eax=0x00000001 ebx=0x00000000 ecx=0x00000000 "
           "edx=0x00000000\n");
   add(&d, "0x00000099 0x00: eax=0x00000002 ebx=0x00000000 ecx=0x00000000 "
           "edx=0x00000000\n");
   assert_int_equal(reads(&d).n, 1);
}

TEST(too_many)
{
   dump d = { .n = 0 };
   processor p = read_processor("pentium-iii");
   for (unsigned cpu = 0; cpu < 9; cpu++) {
      p.a[1].r[0] = 0x680 + cpu;
      add_cpu(&d, cpu, &p);
      if (cpu == 7)
         assert_int_equal(reads(&d).n, 8);
   }
   refuses(&d, "41: CPU 8 differs from the 8 different ones before it; more "
               "are not allowed");
}

/* All sub-leaves that can be kept are, and a huge dump is no problem. */
TEST(huge)
{
   dump d = { .n = 0 };
   processor first = read_processor("sapphire-rapids");
   first.n = 3;
   add_cpu(&d, 0, &first);
   for (uint32_t leaf = 0; leaf < 4; leaf++) {
      for (uint32_t sub = 0; sub < 100; sub++) {
         const answer a = { leaf == 0   ? 0x18
                            : leaf == 1 ? 2
                            : leaf == 2 ? 0x80000019u
                                        : 0x33,
                            sub,
                            { leaf == 0 && sub == 0 ? 99 : 0x00feff04, 0, 0,
                              0 } };
         if (leaf != 1 || sub != 0)
            add_answers(&d, &a, 1);
      }
   }
   assert_true(reads(&d).processor[0].lacks);

   /* Ten megabytes: a line, then lines. */
   const size_t size = 10u << 20;
   char *const text = malloc(size);
   tlb_cpuid_dump out;
   char error[256];
   assert_non_null(text);
   memset(text, 'x', size);
   assert_false(read_bytes(text, size, &out, error, sizeof error));
   assert_int_equal(strncmp(error, "1: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' is "
                                   "no line", 45), 0);
   d.n = 0;
   const processor zen_5 = read_processor("zen-5");
   add_cpu(&d, 0, &zen_5);
   size_t n = 0;
   for (; n + d.n <= size; n += d.n)
      memcpy(text + n, d.text, d.n);
   assert_true(read_bytes(text, n, &out, error, sizeof error));
   assert_int_equal(out.n, 1);
   assert_int_equal(out.processor[0].cpus, n / d.n);
   free(text);
}

TEST(looks)
{
   static const struct {
      const char *text;
      int dump;
   } cases[] = {
      { "CPU 0:\n", 1 },
      { "CPU:\n", 1 },
      { "\n\n  CPU 12:\r\n", 1 },
      { "   0x00000000 0x00: eax=", 1 },
      { "CPU 0: x\n", 0 },
      { "CPU", 0 },
      { "", 0 },
      { "tlbgrind-machine 1\n", 0 },
      { "# CPU 0:\nCPU 0:\n", 0 },
      { "0x0000000", 0 },
   };
   for (size_t i = 0; i < N(cases); i++)
      assert_int_equal(tlb_cpuid_is_dump(cases[i].text,
                                         strlen(cases[i].text)),
                       cases[i].dump);
   assert_false(tlb_cpuid_is_dump("\0CPU 0:\n", 8));
}

/* Bytes of good dumps, changed, taken out, doubled: read or refused. */
TEST(damage)
{
   const processor big = read_processor("golden-cove"), small = read_processor("gracemont");
   dump d = { .n = 0 };
   uint64_t seed = 1;
   unsigned good = 0;
   add_cpu(&d, 0, &big);
   add_cpu(&d, 1, &small);
   for (unsigned i = 0; i < 4000; i++) {
      static const char bytes[] = "0x1f =:\n\0\xff" "CPU";
      char text[4096];
      size_t n = d.n;
      tlb_cpuid_dump out;
      char error[256];
      assert_true(n + 200 < sizeof text);
      memcpy(text, d.text, n);
      for (uint64_t k = unit_random(&seed) % 3 + 1; k > 0; k--) {
         const size_t at = unit_random(&seed) % n;
         const size_t length = unit_random(&seed) % 60;
         switch (unit_random(&seed) % 3) {
         case 0:
            text[at] = bytes[unit_random(&seed) % (sizeof bytes - 1)];
            break;
         case 1:
            if (at + length < n) {
               memmove(text + at, text + at + length, n - at - length);
               n -= length;
            }
            break;
         default:
            if (at + length < n) {
               memmove(text + at + length, text + at, n - at);
               n += length;
            }
            break;
         }
      }
      if (read_bytes(text, n, &out, error, sizeof error)) {
         good++;
         for (unsigned p = 0; p < out.n; p++) {
            tlb_machine m;
            tlb_cpuid_machine(tlb_cpuid_dump_ask, &out.processor[p], &m);
         }
      }
   }
   assert_in_range(good, 100, 3900);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("a dump of one processor is read as one, with its answers and machine", one_processor),
      CLAIM("a dump may lack the number and its first line, and have CRLF, capitals and"
            " other spaces",
            variants),
      CLAIM("processors that answer alike, but for what does not matter, are one",
            equal_processors),
      CLAIM("the two kinds of core of a hybrid processor are two processors", hybrid),
      CLAIM("a dump that is cut off anywhere is refused, or what it lacks is noted",
            all_processors),
      CLAIM("a dump of a virtual machine may lack leaf 18H, but what it lacks of it is noted",
            lacks),
      CLAIM("a text without a processor is refused as no dump", no_dump),
      CLAIM("a broken line is refused with its number and what is expected", broken_lines),
      CLAIM("a leaf may stand there twice if both answers agree in what matters", contradiction),
      CLAIM("a ninth different processor is refused", too_many),
      CLAIM("400 sub-leaves and ten megabytes are read or refused as any dump", huge),
      CLAIM("a dump is recognised by its first line that is not empty", looks),
      CLAIM("4000 damaged dumps are read or refused", damage),
   };
   return cmocka_run_group_tests_name("cpuid_dump", tests, NULL, NULL);
}
