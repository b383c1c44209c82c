/* Executes its own file once more, by the kernel's link to it.
   run_self LINK: a name, or "pid" for that with its number
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv)
{
   char link[64];
   if (argc < 2) {
      puts("once more");
      return 0;
   }
   snprintf(link, sizeof link, "/proc/%d/exe", getpid());
   char* const again[] = { argv[0], NULL };
   /* Of the two the first fails. */
   execv("/proc/self/exe/", again);
   execv(strcmp(argv[1], "pid") == 0 ? link : argv[1], again);
   perror(argv[1]);
   return 1;
}
