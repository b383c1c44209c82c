/* A program for page faults with transparent huge pages: what may be one, what is not yet or no
   longer, and what comes anew.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   Huge pages are of 2M, 16M, 32M or 512M: with the larger ones nothing here is one. */

#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>

enum { STEP = 65536 }; /* no base page is larger */
static const uintptr_t M = 1 << 20;

static void touch(volatile char *p, uintptr_t bytes)
{
   for (uintptr_t i = 0; i < bytes; i += STEP)
      p[i] = 1;
}

static int map(char *at, uintptr_t bytes)
{
   return mmap(at, bytes, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at;
}

int main(void)
{
   char *p = mmap(0, 80 * M, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
   if (p == MAP_FAILED)
      return 1;
   char *a = (char *)(((uintptr_t)p + 16 * M - 1) & ~(16 * M - 1));
   /* Whole, and with an end of small pages. */
   if (!map(a, 20 * M + 3 * STEP))
      return 1;
   touch(a, 20 * M + 3 * STEP);
   /* One small page first, so that its block has a page table. */
   char *b = a + 24 * M;
   if (!map(b, 8 * M) || madvise(b, 8 * M, MADV_NOHUGEPAGE) != 0)
      return 1;
   touch(b + 4 * M + STEP, 1);
   if (madvise(b, 8 * M, MADV_HUGEPAGE) != 0)
      return 1;
   touch(b, 8 * M);
   /* That block anew: the table went with it. */
   if (munmap(b + 4 * M, 2 * M) != 0 || !map(b + 4 * M, 2 * M))
      return 1;
   touch(b + 4 * M, 2 * M);
   /* A huge page broken, and part of it anew. */
   if (munmap(a + 2 * M, STEP) != 0 || !map(a + 2 * M, STEP))
      return 1;
   touch(a + 2 * M, STEP);
   if (madvise(a + 4 * M, 2 * M, MADV_DONTNEED) != 0)
      return 1;
   touch(a + 4 * M, 2 * M);
   return 0;
}
