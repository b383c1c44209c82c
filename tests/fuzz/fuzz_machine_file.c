/* Fuzzes the parser and printer of machine files.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "fuzz.h"

#include <string.h>

#include "sim/tlb/hierarchy.h"
#include "sim/machine/machine_file.h"

const char *const fuzz_words[] = {
   "tlbgrind-machine 1\n", "name", "title", "isa", "year", "confidence",
   "base-page", "source", "note", "array", "level", "users", "entries", "ways",
   "pages", "larger-pages", "policy", "coalesces", "paired", "wired", "inclusion",
   "hit-cycles", "threads",
   "walk", "cycles", "step", "cache", "end\n", "unknown", "unknown, assume ",
   "unknown, assume none", "none", "own", "joined", "in-last-level", "all",
   "fetches", "loads", "stores", "loads+stores", "full", "split", "bypass",
   "lru", "plru", "fifo", "nru", "(mru+1)%3-plru4", "12", "random", "random:7", "shared",
   "partitioned", "copied", "hardware", "software", "no", "A", "B", "C", "4K", "8K", "16K",
   "64K", "2M", "4K+2M+1G", "16G", "512G", "256T", "8E", "0", "1", "2", "3",
   "   coalesces 16K\n", "   coalesces 4K:64K+2M:32M\n", "   paired yes\n", "   wired 1\n",
   "   inclusion exclusive\n",
   "   hit-cycles 7\n", "   hit-cycles unknown, assume 5..7\n",
    "   confidence B\n",
   "   overlap 2.4\n", "   overlap unknown, assume 64.0\n", "   entry-bytes 16\n",
   "   nested 4K\n", "   cycles 20\n", "nested",
   "   window 224\n", "   window unknown, assume 1\n", "window",
   "cache L1D\n   size 32K\n   ways 8\n   share 50%\n", "cache L2\n   size 1M\n   cycles 10\n",
   "cache L3\n   size unknown, assume 32M\n   cycles unknown, assume 36..50\n", "memory\n",
   "memory\n   cycles 200..300\n", "size", "line", "share", "overlap", "entry-bytes", "50%", "1.0",
   "   index xor 7\n", "index", "modulo", "xor 1", "step 1G\n   cache joined\n", "note x\n",
   "4", "8", "64", "512", "1048576", "18446744073709551616", "#", "\t", "\r\n", NULL
};

const char *const fuzz_more = "tlbgrind/machines";

static tlb_machine machine, again;
static char printed[TLB_MACHINE_TEXT_SIZE];

static void check_refusal(const char *data, size_t size, uint32_t line,
                          const tlb_reason *why)
{
   fuzz_check_line(data, size, line);
   fuzz_check_reason(why->text, sizeof why->text);
   for (const char *s = why->text; *s != '\0'; s++) {
      if ((unsigned char)*s > 0x7f)
         fuzz_fail("the reason is not plain ASCII");
   }
}

static void check_errors(const char *data, size_t size)
{
   tlb_machine_error error[TLB_MACHINE_ERRORS];
   const unsigned n = tlb_machine_parse_all(data, size, &again, error);
   for (unsigned i = 0; i < n && i < TLB_MACHINE_ERRORS; i++) {
      check_refusal(data, size, error[i].line, &error[i].why);
      if (i > 0 && error[i].line < error[i - 1].line)
         fuzz_fail("errors are not in order");
   }
}

void fuzz_one(char *data, size_t size)
{
   uint32_t line = 0;
   tlb_reason why;
   memset(&why, 'x', sizeof why);
   memset(&machine, 0, sizeof machine);
   if (!tlb_machine_parse(data, size, &machine, &line, &why)) {
      check_refusal(data, size, line, &why);
      check_errors(data, size);
      return;
   }
   if (!tlb_machine_text(data, size))
      fuzz_fail("accepted, but not taken for a machine file");
   if (!tlb_machine_check(&machine, &why))
      fuzz_fail("accepted, but cannot be");
   if (!tlb_machine_holds(&machine, machine.base_page_shift, &why))
      fuzz_fail("accepted, but a first level does not hold its base page");
   tlb_machine_print(&machine, printed, sizeof printed);
   const size_t length = strlen(printed);
   if (length + 1 == sizeof printed)
      fuzz_fail("longer than TLB_MACHINE_TEXT_SIZE");
   memset(&again, 0, sizeof again);
   if (!tlb_machine_parse(printed, length, &again, &line, &why))
      fuzz_fail("what is printed is not read");
   if (memcmp(&machine, &again, sizeof machine) != 0)
      fuzz_fail("what is printed is another machine");
   /* The note that says that there are too many stands in for others. */
   const unsigned before = machine.n_notes;
   tlb_machine_note_unknowns(&machine);
   if (machine.n_notes != before)
      fuzz_fail("an assumption had no note");
}
