/* steps.c -- reads one byte of every so many, over and over.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   steps BYTES STEP ROUNDS [PROTECT]: of a mapping that begins at a multiple of
   16 MiB.  With PROTECT the 4 KiB at this offset are made read-only first.
   steps() uses no memory but that until it returns: two runs whose ROUNDS differ
   tell what a round costs. */

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { ALIGNMENT = 16 << 20 };

static __attribute__((noinline)) unsigned long steps(const volatile char* base, long bytes,
                                                     long step, long rounds)
{
   unsigned long sum = 0;
   for (long k = 0; k < rounds; k++)
      for (long i = 0; i < bytes; i += step)
         sum += (unsigned char)base[i];
   return sum;
}

int main(int argc, char** argv)
{
   if (argc < 4)
      return 2;
   long bytes = atol(argv[1]);
   char* all = mmap(NULL, (size_t)bytes + 2 * ALIGNMENT, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   if (all == MAP_FAILED)
      return 1;
   char* base = (char*)(((uintptr_t)all + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
   if (argc > 4 && mprotect(base + atol(argv[4]), 4096, PROT_READ) != 0)
      return 1;
   printf("%lu\n", steps(base, bytes, atol(argv[2]), atol(argv[3])));
   return 0;
}
