/* Touches pages below calls: main calls outer, which calls inner; fill and ask leave it to the C
   library and to the kernel. Each has a page of its own. */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

static volatile unsigned size = PAGE; /* no compiler writes a memset of its own for that */
static char area[6 * PAGE] __attribute__((aligned(PAGE)));

static __attribute__((noinline)) void inner(char *at)
{
   *(volatile char *)at = 1;
}

static __attribute__((noinline)) void outer(char *at)
{
   inner(at);
   __asm__ volatile("" ::: "memory"); /* no tail call */
}

static __attribute__((noinline)) void fill(char *at)
{
   memset(at, 1, size);
   __asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) long ask(int file, char *at)
{
   const long n = read(file, at, 16);
   __asm__ volatile("" ::: "memory");
   return n;
}

static __attribute__((noinline)) void deep(int n, char *at)
{
   if (n > 0)
      deep(n - 1, at);
   else
      inner(at);
   __asm__ volatile("" ::: "memory");
}

int main(void)
{
   outer(area + 1 * PAGE);
   fill(area + 2 * PAGE);
   const long n = ask(open("/dev/zero", O_RDONLY), area + 3 * PAGE);
   deep(20, area + 4 * PAGE);
   return n == 16 ? 0 : 1;
}
