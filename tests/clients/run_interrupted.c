/* run_interrupted.c -- refers to pages again and again, with a system call in between.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   run_interrupted calls ROUNDS PAGES: reads a byte of each page, then makes one system call.
   run_interrupted buffer PAGES: has the kernel fill so many pages, and then reads a byte of each.
   run_interrupted computes ROUNDS PAGES: reads a byte of each page, without any system call. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, MOST = 512 };

static volatile char area[MOST * PAGE] __attribute__((aligned(PAGE)));

static __attribute__((noinline)) void uses(int pages)
{
   for (int i = 0; i < pages; i++)
      (void)area[i * PAGE];
}

static __attribute__((noinline)) void consumes(int pages)
{
   for (int i = 0; i < pages; i++)
      (void)area[i * PAGE + 1];
}

int main(int argc, char** argv)
{
   if (argc == 4 && strcmp(argv[1], "calls") == 0) {
      for (int i = atoi(argv[2]); i > 0; i--) {
         uses(atoi(argv[3]));
         syscall(SYS_getppid);
      }
   } else if (argc == 4 && strcmp(argv[1], "computes") == 0) {
      const int pages = atoi(argv[3]);
      for (int i = atoi(argv[2]); i > 0; i--)
         uses(pages);
   } else if (argc == 3) {
      const int pages = atoi(argv[2]);
      const int fd = open("/dev/zero", O_RDONLY);
      if (read(fd, (char*)area, (size_t)pages * PAGE) != (ssize_t)pages * PAGE)
         return 1;
      consumes(pages);
   }
   return 0;
}
