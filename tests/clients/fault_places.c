/* Asks for memory at places that are taken, and at some that are not. Prints how far from the
   first each piece lies, and touches them in the same order. */

#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>

enum { PAGE = 4096, SMALL = 16 * PAGE, LARGE = 1024 * PAGE, PIECES = 9 };

static char* piece[PIECES];
static int n;

static char* area(char* hint, size_t bytes)
{
   char* p = mmap(hint, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   if (p != MAP_FAILED)
      piece[n++] = p;
   return p;
}

__attribute__((noinline)) static void touch(volatile char* p)
{
   *p = 1;
}

int main(void)
{
   char* const first = area(NULL, SMALL);
   /* Behind the last, as garbage collectors ask; there the one before lies. */
   char* last = area(first, SMALL);
   for (int i = 0; i < 3; i++)
      last = area(last + SMALL, SMALL);
   area(last + SMALL, LARGE);
   area(last + PAGE / 2, SMALL);
   area(last - 4 * LARGE, SMALL);
   area(last - 6 * LARGE, LARGE);
   for (int i = 0; i < n; i++)
      touch(piece[i]);
   for (int i = 0; i < n; i++)
      printf("%td\n", piece[i] - first);
   return 0;
}
