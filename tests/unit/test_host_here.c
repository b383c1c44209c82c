/* The machine at hand by what Linux tells of each CPU, from files made up here.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/machine/host_here.h"

typedef struct {
   const char *path, *text;
} file;

static tlb_machine machine;
static tlb_reason why;

/* The files are those of the array, whose last has no path. */
static long read_made_up(void *opaque, const char *path, char *text, size_t size)
{
   for (const file *f = opaque; f->path != NULL; f++) {
      if (strcmp(f->path, path) == 0) {
         const size_t n = strlen(f->text) < size ? strlen(f->text) : size;
         memcpy(text, f->text, n);
         return (long)n;
      }
   }
   return -1;
}

static int find(const file *files)
{
   return tlb_machine_of_cpus(read_made_up, (void *)files, &machine, &why);
}

static int has_note(const char *words)
{
   for (unsigned i = 0; i < machine.n_notes; i++) {
      if (strstr(machine.note[i].text, words) != NULL)
         return 1;
   }
   return 0;
}

#define CPU "/sys/devices/system/cpu/cpu"
#define MIDR "/regs/identification/midr_el1"

TEST(all_alike)
{
   static const file files[] = {
      { CPU "0" MIDR, "0x00000000410fd4f0\n" },
      { CPU "1" MIDR, "0x00000000410fd4f1\n" }, /* another revision */
      { NULL, NULL },
   };
   assert_true(find(files));
   assert_string_equal(machine.name, "neoverse-v2");
   assert_true(has_note("CPU implementer 0x41 part 0xd4f variant 0x0, which the machine file "
                        "neoverse-v2 describes"));
   assert_false(has_note("several kinds"));
}

TEST(of_two_kinds_the_one_of_more_capacity)
{
   static const file files[] = {
      { CPU "0" MIDR, "0x00000000412fd050\n" },  { CPU "0/cpu_capacity", "400\n" },
      { CPU "1" MIDR, "0x00000000412fd050\n" },  { CPU "1/cpu_capacity", "400\n" },
      { CPU "4" MIDR, "0x00000000414fd0b1\n" },  { CPU "4/cpu_capacity", "1024\n" },
      { CPU "5" MIDR, "0x0000000041000000\n" },  { CPU "5/cpu_capacity", "2048\n" },
      { NULL, NULL },
   };
   assert_true(find(files));
   assert_string_equal(machine.name, "cortex-a76");
   assert_true(has_note("the 1 of cortex-a76, and --machine= takes the others: 2 of cortex-a55 1 "
                        "that no machine file describes"));
}

TEST(unknown_processors_are_said)
{
   static const file files[] = { { CPU "0" MIDR, "0x0000000041000000\n" }, { NULL, NULL } };
   assert_false(find(files));
   assert_non_null(strstr(why.text, "no machine file describes CPU implementer 0x41 part 0x0"));
}

TEST(else_by_cpuinfo)
{
   static const file arm[] = {
      { "/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU variant\t: 0x3\n"
                         "CPU part\t: 0xd0c\n\nproc" },
      { NULL, NULL },
   };
   static const file power[] = {
      { "/proc/cpuinfo", "processor\t: 0\ncpu\t\t: POWER10 (architected), altivec supported\n"
                         "revision\t: 2.0 (pvr 0080 0200)\n\nprocessor\t: 1\n" },
      { NULL, NULL },
   };
   static const file riscv[] = {
      { "/proc/cpuinfo", "processor\t: 0\nhart\t\t: 1\nuarch\t\t: sifive,u74-mc\n" },
      { NULL, NULL },
   };
   static const file x86[] = {
      { "/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\n"
                         "model\t\t: 17\n" },
      { NULL, NULL },
   };
   static const file none[] = { { NULL, NULL } };
   assert_true(find(arm));
   assert_string_equal(machine.name, "neoverse-n1");
   assert_true(find(power));
   assert_string_equal(machine.name, "power10");
   assert_true(has_note("PVR version 0x80, which the machine file power10 describes"));
   assert_true(find(riscv));
   assert_string_equal(machine.name, "u74");
   assert_false(find(x86));
   assert_string_equal(why.text, "");
   assert_false(find(none));
   assert_string_equal(why.text, "");
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("the machine file of the CPUs' MIDR", all_alike),
      CLAIM("of two kinds, the one with the larger cpu_capacity",
            of_two_kinds_the_one_of_more_capacity),
      CLAIM("a processor without a machine file is said", unknown_processors_are_said),
      CLAIM("without these files, /proc/cpuinfo of Arm, POWER and RISC-V", else_by_cpuinfo),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
