/* Runs a program four times at the same places, and prints how many page faults the last three
   took; or, with --show as the first argument, once, and lets it print what it prints.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   The first run brings the program's files into the page cache. The process is made without a copy
   of this one's memory, so that its own faults are the program's and the one for which execve()
   puts the arguments on the new stack, which perf does not count. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
   const int nowhere = open("/dev/null", O_WRONLY), here = dup(1);
   struct rusage used;
   int status;
   if (argc < 2 || nowhere < 0 || here < 0 || personality(ADDR_NO_RANDOMIZE) < 0)
      return 1;
   if (strcmp(argv[1], "--show") == 0)
      return execv(argv[2], argv + 2);
   /* So that this code is there already. */
   execv("/nothing", argv);
   for (int run = 0; run < 4; run++) {
      dup2(nowhere, 1);
      const pid_t child = vfork();
      if (child == 0) {
         execv(argv[1], argv + 1);
         _exit(127);
      }
      if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0)
         return 1;
      dup2(here, 1);
      if (run > 0)
         printf("native %ld\n", used.ru_minflt);
      fflush(stdout);
   }
   return 0;
}
