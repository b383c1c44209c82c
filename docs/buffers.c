/* buffers.c -- a table in constant use, and a buffer that is mapped and unmapped for each request.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   buffers REQUESTS PAGES: the table has 256 pages of 4K, each buffer PAGES. */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, HOT = 256 };

static volatile char table[HOT * PAGE] __attribute__((aligned(PAGE)));

static __attribute__((noinline)) void use_table(void)
{
   for (int i = 0; i < HOT; i++)
      table[i * PAGE] = 1;
}

static __attribute__((noinline)) void fill(volatile char* buffer, long bytes)
{
   for (long i = 0; i < bytes; i += PAGE)
      buffer[i] = 1;
}

static __attribute__((noinline)) void serve(long requests, long bytes)
{
   use_table();
   for (long i = 0; i < requests; i++) {
      void* buffer = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (buffer == MAP_FAILED)
         exit(1);
      fill(buffer, bytes);
      use_table();
      munmap(buffer, (size_t)bytes);
      use_table();
   }
}

int main(int argc, char** argv)
{
   if (argc != 3)
      return 2;
   serve(atol(argv[1]), atol(argv[2]) * PAGE);
   return 0;
}
