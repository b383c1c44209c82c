/* follow.c -- follows a list through a working set, in random order or in sequence.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   follow BYTES ELEMENT WALKS random|sequential: a ring of BYTES / ELEMENT elements
   that begins at a multiple of 16 MiB is linked and followed once around, WALKS
   times.  walk() reads each element once, and its return address: its costs are
   the experiment. */

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 16 << 20 };

static uint64_t state = 1;

/* A number from 0 to below n, by a linear congruential generator. */
static uint64_t below(uint64_t n)
{
   state = state * 6364136223846793005u + 1442695040888963407u;
   return (uint64_t)(((unsigned __int128)state * n) >> 64);
}

static void** element(char* base, size_t size, size_t i)
{
   return (void**)(base + i * size);
}

static __attribute__((noinline)) void link_sequential(char* base, size_t size, size_t n)
{
   for (size_t i = 0; i < n; i++)
      *element(base, size, i) = element(base, size, i + 1 < n ? i + 1 : 0);
}

/* Sattolo's shuffle: every ring through all elements is equally likely. It needs
   no memory but the elements themselves. */
static __attribute__((noinline)) void link_random(char* base, size_t size, size_t n)
{
   for (size_t i = 0; i < n; i++)
      *element(base, size, i) = element(base, size, i);
   for (size_t i = n - 1; i > 0; i--) {
      void** a = element(base, size, i);
      void** b = element(base, size, below(i));
      void* swap = *a;
      *a = *b;
      *b = swap;
   }
}

static __attribute__((noinline)) void* walk(void** p, size_t n)
{
   for (; n > 0; n--)
      p = *p;
   return p;
}

int main(int argc, char** argv)
{
   if (argc < 5)
      return 2;
   size_t bytes = strtoull(argv[1], NULL, 10);
   size_t size = strtoull(argv[2], NULL, 10);
   int walks = atoi(argv[3]);
   int in_sequence = strcmp(argv[4], "sequential") == 0;
   size_t n = bytes / size;
   char* all = mmap(NULL, bytes + ALIGNMENT, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
   if (all == MAP_FAILED)
      return 1;
   char* base = (char*)(((uintptr_t)all + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
   void* end = NULL;
   for (int i = 0; i < walks; i++) {
      if (in_sequence)
         link_sequential(base, size, n);
      else
         link_random(base, size, n);
      end = walk((void**)base, n);
      /* Else a compiler may leave out all walks but the last (gcc 14 does). */
      __asm__ volatile("" : "+r"(end));
   }
   printf("%d\n", end == (void*)base);
   return end == (void*)base ? 0 : 1;
}
