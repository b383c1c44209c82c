/* tlbgrind-machine -- lists machines, and prints one as a machine file.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   The launcher, tlbgrind, executes it for --list-machines and --show-machine=, which run no program
   under Valgrind. Messages begin with the launcher's name. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command/load_machine.h"
#include "sim/machine/machine_file.h"
#include "sim/machine/machine_list.h"

static const char list_option[] = "--list-machines";
static const char show_option[] = "--show-machine";

/* Fails if a part of the standard output could not be written. */
static void finish(void)
{
   if (fflush(stdout) != 0 || ferror(stdout))
      tg_load_refuse("the standard output cannot be written: %s", strerror(errno));
}

static void show(const char *argument)
{
   static tlb_machine m;
   static char text[TLB_MACHINE_TEXT_SIZE];
   char own_name[TLB_NAME_SIZE];
   tg_load_machine(argument, &m, own_name);
   tlb_machine_print(&m, text, sizeof text);
   fputs(text, stdout);
   finish();
}

static void list(const char *pattern)
{
   char line[TLB_LIST_LINE_SIZE];
   tlb_machine_list l = tlb_machine_list_begin(pattern);
   tlb_reason why;
   if (l.n == 0) {
      tlb_machine_list_refuse(pattern, &why);
      tg_load_refuse("%s=%s: %s", list_option, pattern, why.text);
   }
   while (tlb_machine_list_next(&l, line, sizeof line))
      puts(line);
   if (pattern == NULL)
      puts("\nAlso host (the processor at hand), default, a machine file, or a CPUID dump "
           "(cpuid -r, AIDA64), or /proc/cpuinfo.\n"
           "Levels: entries/ways for base pages; I fetches, L loads, S stores, D loads and "
           "stores.\nConfidence A: vendor's documents, CPUID or two sources; B: one source of "
           "second hand; C: none.");
   finish();
}

int main(int argc, char **argv)
{
   tg_load_for("tlbgrind", show_option);
   const size_t n = sizeof show_option - 1, n_list = sizeof list_option - 1;
   if (argc == 2 && strcmp(argv[1], list_option) == 0) {
      list(NULL);
   } else if (argc == 2 && strncmp(argv[1], list_option, n_list) == 0
              && argv[1][n_list] == '=') {
      list(argv[1] + n_list + 1);
   } else if (argc == 2 && strncmp(argv[1], show_option, n) == 0
              && argv[1][n] == '=') {
      if (argv[1][n + 1] == '\0')
         tg_load_refuse("%s= names no machine; expected a name of %s, host, default, "
                "a machine file or a CPUID dump",
                show_option, list_option);
      show(argv[1] + n + 1);
   } else {
      tg_load_refuse("expected %s, %s=PATTERN or %s=NAME|FILE, alone", list_option, list_option,
             show_option);
   }
   return 0;
}
