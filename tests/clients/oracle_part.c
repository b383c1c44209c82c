/* References a few pages at random, asks for huge pages elsewhere, and references the same few
   again: who is evicted then depends on the order of the references before. Machines share that
   order until a program asks for huge pages.
   oracle_part SEED
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.  */

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGES = 24, PAGE = 4096, REFERENCES = 500 };

static volatile char area[PAGES * PAGE] __attribute__((aligned(PAGE)));

static unsigned use(uint64_t *seed)
{
   unsigned sum = 0;
   for (unsigned i = 0; i < REFERENCES; i++) {
      *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
      sum += (unsigned)area[(*seed >> 40) % PAGES * PAGE];
   }
   return sum;
}

int main(int argc, char **argv)
{
   const size_t size = (size_t)4 << 20;
   uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
   void *const p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   if (p == MAP_FAILED)
      return 1;
   /* Once before, lest the dynamic linker looks for it between the references. */
   madvise(p, size, MADV_NORMAL);
   const unsigned sum = use(&seed);
   if (madvise(p, size, MADV_HUGEPAGE) != 0) {
      perror("oracle_part: madvise");
      return 1;
   }
   return sum + use(&seed) != 0;
}
