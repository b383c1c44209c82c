/* Memory whose page sizes change: mapped, unmapped, advised, moved, protected, shared by a fork.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { M = 1 << 20, PAGE = 4096 };
static uint32_t state = 1;

static uint32_t dice(uint32_t n)
{
   state = state * 1664525u + 1013904223u;
   return (state >> 8) % n;
}

/* References to random pages of n bytes, most of them near the one before. */
static void refer(volatile char *at, size_t n, unsigned times)
{
   size_t page = 0;
   for (unsigned i = 0; i < times; i++) {
      page = dice(4) == 0 ? dice((uint32_t)(n / PAGE)) : (page + dice(9)) % (n / PAGE);
      if (dice(3) == 0)
         at[page * PAGE]++;
      else
         (void)at[page * PAGE + 8];
   }
}

static char *map(size_t n)
{
   char *const at = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   if (at == MAP_FAILED)
      _exit(9);
   return at;
}

static int deep(int n)
{
   volatile char here[3 * PAGE];
   here[0] = (char)n;
   return n == 0 ? here[0] : deep(n - 1) + here[0];
}

int main(void)
{
   char *a = map(12 * M), *b = map(9 * M), *c = map(5 * M);
   refer(a, 12 * M, 900);
   refer(b, 9 * M, 900);
   madvise(b, 9 * M, MADV_HUGEPAGE);
   refer(b, 9 * M, 600);
   madvise(c, 5 * M, MADV_HUGEPAGE);
   refer(c, 5 * M, 600);
   for (int i = 0; i < 12; i++) {
      switch (i % 6) {
      case 0: madvise(a + dice(2000) * PAGE, 300 * PAGE, MADV_DONTNEED); break;
      case 1: mprotect(b + dice(1000) * PAGE, 700 * PAGE, PROT_READ);
              mprotect(b, 9 * M, PROT_READ | PROT_WRITE); break;
      case 2: munmap(c, 5 * M); c = map(5 * M + dice(3) * M);
              madvise(c, 4 * M, MADV_HUGEPAGE); break;
      case 3: { char *to = map(16 * M);
                b = mremap(b, 9 * M, 9 * M, MREMAP_MAYMOVE | MREMAP_FIXED, to + 2 * M); } break;
      case 4: { int p[2]; char c; if (pipe(p) != 0) return 1;
                if (fork() == 0) { close(p[1]); _exit((int)read(p[0], &c, 1)); }
                refer(a, 12 * M, 300); refer(b, 9 * M, 300); close(p[1]); wait(0); } break;
      case 5: sbrk(3 * M); refer((char *)((uintptr_t)sbrk(0) - 3 * M & -PAGE), 3 * M - PAGE, 500);
              deep(200); break;
      }
      refer(a, 12 * M, 250);
      refer(b, 9 * M, 250);
      refer(c, 5 * M, 250);
   }
   return 0;
}
