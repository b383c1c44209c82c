/* What the fuzzers of CPUID dumps do with an input: the parser and the decoder behind it.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "fuzz.h"

#include <string.h>

#include "sim/machine/cpuid_dump.h"
#include "sim/machine/machine_file.h"
#include "sim/machine/machine_input.h"

const char *const fuzz_more = NULL;

static tlb_cpuid_dump dump;
static tlb_machine machine, again;
static char printed[TLB_MACHINE_TEXT_SIZE];

static void check_refusal(const char *data, size_t size, uint64_t line,
                          const tlb_reason *why)
{
   fuzz_check_line(data, size, line);
   fuzz_check_reason(why->text, sizeof why->text);
}

/* The machine can be, and comes back from its machine file. */
static void check_machine(void)
{
   tlb_reason why;
   uint32_t line;
   if (!tlb_machine_check(&machine, &why))
      fuzz_fail("a machine that cannot be");
   tlb_machine_print(&machine, printed, sizeof printed);
   memset(&again, 0, sizeof again);
   if (!tlb_machine_parse(printed, strlen(printed), &again, &line, &why))
      fuzz_fail("what is printed is not read");
   if (memcmp(machine.array, again.array, sizeof machine.array) != 0
       || memcmp(machine.walk, again.walk, sizeof machine.walk) != 0
       || strcmp(machine.title, again.title) != 0
       || machine.n_notes != again.n_notes)
      fuzz_fail("what is printed is another machine");
}

void fuzz_one(char *data, size_t size)
{
   uint64_t line = 0;
   tlb_reason why;
   tlb_machine_file_name name = { .length = 1 };
   memset(&why, 'x', sizeof why);
   memset(&dump, 'x', sizeof dump);
   const int good = tlb_cpuid_dump_read(data, size, &dump, &line, &why);
   if (!good)
      check_refusal(data, size, line, &why);
   if (dump.n > TLB_MAX_DUMP_PROCESSORS)
      fuzz_fail("more processors than there is room for");
   if (good && dump.n == 0)
      fuzz_fail("accepted, but nothing is in it");
   const int is_dump = tlb_cpuid_is_dump(data, size);
   if (good && !is_dump)
      fuzz_fail("accepted, but not taken for a dump");
   if (!is_dump || tlb_machine_text(data, size))
      return;
   for (unsigned i = 0; i <= (good ? dump.n : 0); i++) {
      name.which = i;
      memset(&machine, 0, sizeof machine);
      const int read = tlb_machine_read(data, size, "x", name, &machine, &line,
                                        &why);
      if (read != (good && i < dump.n))
         fuzz_fail("a machine where there is none, or none");
      if (read)
         check_machine();
      else
         check_refusal(data, size, line, &why);
   }
}
