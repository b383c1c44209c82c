/* Fuzzes the reader of /proc/cpuinfo.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "fuzz.h"

#include <string.h>

#include "sim/machine/cpuid_dump.h"
#include "sim/machine/cpuinfo.h"
#include "sim/machine/machine_file.h"
#include "sim/machine/machine_input.h"

const char *const fuzz_words[] = {
   "processor\t: 0\n", "processor\t: 1\n", "Processor\t: ARMv7 Processor rev 5 (v7l)\n",
   "vendor_id\t: GenuineIntel\n", "vendor_id\t: AuthenticAMD\n", "vendor_id\t: HygonGenuine\n",
   "vendor_id\t: CentaurHauls\n", "cpu family\t: 6\n", "cpu family\t: 25\n", "cpu family\t: 26\n",
   "model\t\t: 85\n", "model\t\t: 151\n", "model\t\t: 2\n", "model\t\t: 1\n",
   "model name\t: x\n", "stepping\t: 4\n", "CPU implementer\t: 0x41\n",
   "CPU implementer\t: 0x50\n", "CPU implementer\t: 0x61\n", "CPU architecture: 8\n",
   "CPU variant\t: 0x3\n", "CPU part\t: 0xd0c\n", "CPU part\t: 0xd05\n", "CPU part\t: 0x000\n",
   "CPU part\t: 0x023\n", "processor", "vendor_id", "cpu family", "model", "CPU implementer",
   "revision\t: 2.2 (pvr 004e 1202)\n", "uarch\t\t: sifive,u74-mc\n", "marchid\t\t: 0x3\n",
   "CPU part", "CPU variant", "flags\t\t: fpu vme\n", ":", "0x", "0xffffffff", "4294967296", " : ",
   "\t", "\r\n", "\n\n", NULL
};

const char *const fuzz_more = NULL;

static tlb_cpuinfo info;
static tlb_machine machine;

void fuzz_one(char *data, size_t size)
{
   uint64_t line = 0;
   tlb_reason why;
   tlb_machine_file_name name = { .length = 1, .numbered = 1 };
   memset(&why, 'x', sizeof why);
   memset(&info, 'x', sizeof info);
   const int good = tlb_cpuinfo_read(data, size, &info, &line, &why);
   if (!good) {
      fuzz_check_line(data, size, line);
      fuzz_check_reason(why.text, sizeof why.text);
   }
   if (info.n > TLB_MAX_CPUINFO_PROCESSORS || (good && info.n == 0))
      fuzz_fail("no processor, or more than there is room for");
   if (tlb_machine_text(data, size) || tlb_cpuid_is_dump(data, size)
       || !tlb_is_cpuinfo(data, size))
      return;
   for (unsigned i = 0; i <= (good ? info.n : 0); i++) {
      name.which = i;
      const int read = tlb_machine_read(data, size, "x", name, &machine, &line, &why);
      if (read != (good && i < info.n))
         fuzz_fail("a machine where there is none, or none");
      if (read ? !tlb_machine_check(&machine, &why) : (fuzz_check_line(data, size, line), 0))
         fuzz_fail("a machine that cannot be");
   }
}
