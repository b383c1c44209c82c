/* /proc/cpuinfo: which machine file it names, and what is refused where.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/machine/arm_models.h"
#include "sim/machine/builtin.h"
#include "sim/machine/cpuinfo.h"
#include "sim/machine/power_models.h"

static int read_text(const char *text, tlb_cpuinfo *out, char *error, size_t size)
{
   const size_t n = strlen(text);
   uint64_t line = UINT64_MAX;
   tlb_reason why;
   char *const exact = malloc(n + (n == 0));
   assert_non_null(exact);
   memcpy(exact, text, n);
   memset(out, 0xA5, sizeof *out);
   memset(&why, 0xA5, sizeof why);
   const int good = tlb_cpuinfo_read(exact, n, out, &line, &why);
   free(exact);
   if (!good) {
      assert_in_range(strlen(why.text), 10, sizeof why.text - 2);
      snprintf(error, size, "%llu: %s", (unsigned long long)line, why.text);
   }
   return good;
}

static tlb_cpuinfo reads(const char *text)
{
   tlb_cpuinfo out;
   char error[256];
   assert_true(tlb_is_cpuinfo(text, strlen(text)));
   if (!read_text(text, &out, error, sizeof error))
      fail_msg("%s", error);
   return out;
}

static void refuses(const char *text, const char *expected)
{
   tlb_cpuinfo out;
   char error[256] = "it is read";
   read_text(text, &out, error, sizeof error);
   assert_string_equal(error, expected);
}

TEST(x86)
{
   const tlb_cpuinfo c = reads(
      "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
      "model name\t: Intel(R) Xeon(R) Gold 6140 CPU @ 2.30GHz\nstepping\t: 4\n"
      "flags\t\t: fpu vme\n\n"
      "processor\t: 1\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
      "stepping\t: 4\n\n");
   assert_int_equal(c.n, 1);
   assert_int_equal(c.processor[0].cpus, 2);
   assert_string_equal(c.processor[0].file, "skylake");
   assert_string_equal(c.processor[0].words, "GenuineIntel family 6 model 85");
}

TEST(vendors)
{
   static const struct {
      const char *text, *file;
   } cases[] = {
      { "vendor_id: AuthenticAMD\ncpu family: 26\nmodel: 2\n", "zen5" },
      { "vendor_id : HygonGenuine\r\ncpu family : 24\r\nmodel : 0\r\n", "zen1" },
      { "\n vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t: 55", "silvermont" },
      { "processor : 7\nCPU implementer : 0x41\nCPU part : 0xd0c\n", "neoverse-n1" },
      { "CPU implementer : 0x50\nCPU variant : 0x3\nCPU part : 0x000\n", "emag" },
      { "CPU implementer : 0xc0\nCPU variant : 0x0\nCPU part : 0xac3\n", "ampereone" },
      { "vendor_id :   Shanghai  \ncpu family : 7\nmodel : 107\n", "kx-7000" },
   };
   for (size_t i = 0; i < N(cases); i++)
      assert_string_equal(reads(cases[i].text).processor[0].file, cases[i].file);
}

TEST(big_and_little)
{
   const tlb_cpuinfo c = reads(
      "processor\t: 0\nCPU implementer\t: 0x41\nCPU variant\t: 0x2\nCPU part\t: 0xd05\n\n"
      "processor\t: 1\nCPU implementer\t: 0x41\nCPU variant\t: 0x2\nCPU part\t: 0xd05\n\n"
      "processor\t: 2\nCPU implementer\t: 0x41\nCPU variant\t: 0x1\nCPU part\t: 0xd0b\n\n");
   assert_int_equal(c.n, 2);
   assert_string_equal(c.processor[0].file, "cortex-a55");
   assert_int_equal(c.processor[0].cpus, 2);
   assert_string_equal(c.processor[1].file, "cortex-a76");
   assert_int_equal(c.processor[1].cpu, 2);
   assert_string_equal(c.processor[1].words, "CPU implementer 0x41 part 0xd0b variant 0x1");
}

/* The last lines are of the computer. */
TEST(power)
{
   const tlb_cpuinfo c = reads(
      "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 2300.000000MHz\n"
      "revision\t: 2.2 (pvr 004e 1202)\n\n"
      "processor\t: 4\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 2300.000000MHz\n"
      "revision\t: 2.3 (pvr 004e 1203)\n\n"
      "timebase\t: 512000000\nplatform\t: PowerNV\nmodel\t\t: 8335-GTW\n"
      "machine\t\t: PowerNV 8335-GTW\nMMU\t\t: Radix\n");
   assert_int_equal(c.n, 1);
   assert_int_equal(c.processor[0].cpus, 2);
   assert_string_equal(c.processor[0].file, "power9");
   assert_string_equal(c.processor[0].words, "PVR version 0x4e");
   assert_string_equal(reads("processor: 0\nrevision: 2.0 (pvr 0080 0200)\n").processor[0].file,
                       "power10");
   refuses("processor: 0\nrevision: 1.0 (pvr 0066 0100)\n",
           "2: no machine file describes PVR version 0x66; give a name of --list-machines, or a "
           "machine file");
}

TEST(riscv)
{
   static const struct {
      const char *text, *file;
   } cases[] = {
      { "processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nmmu\t\t: sv39\n"
        "uarch\t\t: sifive,u74-mc\nmvendorid\t: 0x489\nmarchid\t\t: 0x8000000000000007\n"
        "mimpid\t\t: 0x4210427\n\n", "u74" },
      { "processor: 0\nuarch: sifive,p550\n", "p550" },
      { "processor: 0\nuarch: thead,c910\nmvendorid: 0x5b7\nmarchid: 0x0\n", "c910" },
      { "processor: 0\nmvendorid: 0x0\nmarchid: 0x19\n", "xiangshan" },
      { "processor: 0\nuarch: nobody,x\nmarchid: 0x3\n", "cva6" },
   };
   for (size_t i = 0; i < N(cases); i++) {
      const tlb_cpuinfo c = reads(cases[i].text);
      assert_string_equal(c.processor[0].file, cases[i].file);
      assert_non_null(tlb_builtin_machine(c.processor[0].file));
   }
   refuses("processor: 0\nuarch: spacemit,x60\nmarchid: 0x8000000058000001\n",
           "2: no machine file describes RISC-V uarch spacemit,x60 marchid 0x8000000058000001; "
           "give a name of --list-machines, or a machine file");
   refuses("processor: 0\nmarchid: 0x0\n",
           "2: no machine file describes RISC-V marchid 0x0; give a name of --list-machines, or a "
           "machine file");
}

/* Kernels of 32-bit Arm had a list of CPUs, and the numbers once behind it. */
TEST(old_arm)
{
   const tlb_cpuinfo c = reads("Processor\t: ARMv7 Processor rev 5 (v7l)\nprocessor\t: 0\n\n"
                               "processor\t: 1\n\nFeatures\t: swp half\nCPU implementer\t: 0x41\n"
                               "CPU variant\t: 0x0\nCPU part\t: 0xc07\n\nHardware\t: x\n");
   assert_int_equal(c.n, 1);
   assert_string_equal(c.processor[0].file, "cortex-a7");
}

TEST(unknown_models)
{
   refuses("processor: 0\nvendor_id: GenuineIntel\ncpu family: 6\nmodel: 200\n",
           "4: no machine file describes GenuineIntel family 6 model 200; give a name of "
           "--list-machines, or a dump of cpuid -r");
   refuses("vendor_id: AuthenticAMD\ncpu family: 26\nmodel: 128\n",
           "3: no machine file describes AuthenticAMD family 26 model 128; give a name of "
           "--list-machines, or a dump of cpuid -r");
   refuses("vendor_id: Nobody\ncpu family: 6\nmodel: 85\n",
           "3: no machine file describes Nobody family 6 model 85; give a name of --list-machines, "
           "or a dump of cpuid -r");
   refuses("CPU implementer: 0x41\nCPU variant: 0x0\nCPU part: 0xfff\n",
           "3: no machine file describes CPU implementer 0x41 part 0xfff variant 0x0; give a name "
           "of --list-machines, or a machine file");
   /* X-Gene 1 is no eMAG. */
   refuses("CPU implementer: 0x50\nCPU variant: 0x0\nCPU part: 0x000\n",
           "3: no machine file describes CPU implementer 0x50 part 0x0 variant 0x0; give a name of "
           "--list-machines, or a machine file");
   refuses("vendor_id: GenuineIntel\ncpu family: 6\nmodel: 151\n",
           "3: GenuineIntel family 6 model 151 has two kinds of cores, which look the same here; "
           "give the name of a machine: goldencove or gracemont");
}

TEST(broken)
{
   refuses("processor: 0\nvendor_id: GenuineIntel\ncpu family: 6\nmodel name: x\n",
           "2: this processor has no line 'model'");
   refuses("processor: 0\nvendor_id: GenuineIntel\nmodel: 85\n",
           "2: this processor has no line 'cpu family'");
   refuses("processor: 0\nCPU implementer: 0x41\n", "2: this processor has no line 'CPU part'");
   refuses("processor: 0\nBogoMIPS: 1\n",
           "2: no line 'vendor_id', 'CPU implementer', 'revision' with a PVR, 'uarch' or "
           "'marchid', by which /proc/cpuinfo names x86, Arm, POWER and RISC-V processors");
   refuses("processor: 0\nhello\n", "2: 'hello' is no line of /proc/cpuinfo; expected KEY : VALUE");
   refuses("processor: x\n", "1: 'x' is no number");
   refuses("processor: \n", "1: '' is no number");
   refuses("vendor_id: GenuineIntel\ncpu family: 0x6\n", "2: '0x6' is no number");
   refuses("vendor_id: GenuineIntel\ncpu family: 6\nmodel: 99999999999\n",
           "3: '99999999999' is no number");
   refuses("CPU implementer: 65\n", "1: '65' is no number behind 0x");
   refuses("CPU implementer: 0x41x\n", "1: '0x41x' is no number behind 0x");
   refuses("CPU implementer: 0x123456789\n", "1: '0x123456789' is no number behind 0x");
}

/* Parts of Arm's own cores, as Linux numbers them. */
TEST(too_many)
{
   static const char *const parts[] = { "0xd03", "0xd04", "0xd05", "0xd07", "0xd08",
                                        "0xd0b", "0xd0c", "0xd40", "0xd48" };
   char text[1000] = "";
   for (size_t i = 0; i < N(parts); i++) {
      if (i == 8)
         assert_int_equal(reads(text).n, 8);
      snprintf(text + strlen(text), sizeof text - strlen(text),
               "processor: %zu\nCPU implementer: 0x41\nCPU part: %s\n", i, parts[i]);
   }
   refuses(text, "26: this processor differs from the 8 different ones before it; more are not "
                 "allowed");
}

/* All numbers there can be: each name is that of a file. */
TEST(names)
{
   unsigned found = 0;
   for (uint32_t implementer = 0; implementer < 256; implementer++) {
      for (uint32_t part = 0; part < 4096; part++) {
         const char *const name = tlb_arm_file(implementer, part, 3);
         if (name != NULL && tlb_builtin_machine(name) == NULL)
            fail_msg("%s is no machine file", name);
         found += name != NULL;
      }
   }
   assert_in_range(found, 40, 1000);
   found = 0;
   for (uint32_t version = 0; version < 65536; version++) {
      const char *const name = tlb_power_file(version);
      assert_true(name == NULL || tlb_builtin_machine(name) != NULL);
      found += name != NULL;
   }
   assert_in_range(found, 10, 100);
}

TEST(looks)
{
   static const struct {
      const char *text;
      int is;
   } cases[] = {
      { "processor\t: 0\n", 1 },   { "\n\nvendor_id : x\n", 1 }, { "Processor : ARMv7\n", 1 },
      { "CPU part : 0xd03\n", 1 }, { "processor 0\n", 0 },       { "processors : 0\n", 0 },
      { "CPU 0:\n", 0 },           { "", 0 },                    { "flags : fpu\n", 0 },
   };
   for (size_t i = 0; i < N(cases); i++)
      assert_int_equal(tlb_is_cpuinfo(cases[i].text, strlen(cases[i].text)), cases[i].is);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("CPUs of one family and model are one processor, and name its machine file", x86),
      CLAIM("each vendor's numbers name its machine file", vendors),
      CLAIM("the two kinds of cores of an Arm processor are two machines", big_and_little),
      CLAIM("a POWER processor is known by its PVR", power),
      CLAIM("a RISC-V processor by its name or number", riscv),
      CLAIM("a list of CPUs without the numbers is no processor", old_arm),
      CLAIM("a model that no machine file describes is refused, and no other is taken",
            unknown_models),
      CLAIM("a broken line is refused with its number and what is wrong", broken),
      CLAIM("more than 8 different processors are refused", too_many),
      CLAIM("all names of Arm's parts and of PVRs are machine files", names),
      CLAIM("the file is known by its first line", looks),
   };
   return cmocka_run_group_tests_name("cpuinfo", tests, NULL, NULL);
}
