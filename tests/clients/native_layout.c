/* Prints where its memory lies: the break, mappings of several sizes, what mremap() moves, and
   how much memory MAP_32BIT gives. With an argument, grows its heap by so many MiB first.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MIB = 1 << 20, RW = PROT_READ | PROT_WRITE, ANONYMOUS = MAP_PRIVATE | MAP_ANONYMOUS };

static void show(const char *name, const void *address)
{
   printf("%s %lx\n", name, (unsigned long)address);
}

static char *map(const char *name, size_t bytes, int flags)
{
   char *const p = mmap(NULL, bytes, RW, flags, -1, 0);
   if (p == MAP_FAILED)
      exit(1);
   show(name, p);
   return p;
}

/* Whether the vector on the stack is the one in /proc. (The C library makes of AT_HWCAP what it
   likes.) */
static int same_vector(void)
{
   unsigned long pair[2];
   unsigned n = 0;
   const int fd = open("/proc/self/auxv", O_RDONLY);
   while (fd >= 0 && read(fd, pair, sizeof pair) == sizeof pair && pair[0] != AT_NULL) {
      if (pair[0] != AT_IGNORE && pair[0] != AT_HWCAP && getauxval(pair[0]) != pair[1])
         return 0;
      n++;
   }
   close(fd);
   return n > 10;
}

#ifdef MAP_32BIT
static unsigned mapped_low(void)
{
   enum { PIECE = 16 * MIB };
   unsigned n = 0;
   while (mmap(NULL, PIECE, PROT_NONE, ANONYMOUS | MAP_32BIT, -1, 0) != MAP_FAILED)
      n++;
   return n * (PIECE / MIB);
}
#endif

int main(int argc, char **argv)
{
   char *heap = sbrk(0);
   const long bytes = argc > 1 ? atol(argv[1]) * MIB : 0;
   const int grown = sbrk(bytes) == heap;
   for (long i = 0; grown && i < bytes; i += 4096)
      heap[i] = 1;
   show("break", heap);
   printf("grown %s\n", grown ? "yes" : "no");
   map("page", 4096, ANONYMOUS);
   char *const small = map("100K", 100 << 10, ANONYMOUS);
   map("two-huge", 4 * MIB, ANONYMOUS);
   map("huge-and-a-page", 2 * MIB + 4096, ANONYMOUS);
   map("shared", 4 * MIB, MAP_SHARED | MAP_ANONYMOUS);
   map("page-again", 4096, ANONYMOUS);
   show("moved", mremap(small, 100 << 10, 6 * MIB, MREMAP_MAYMOVE));
   show("realloc", realloc(malloc(MIB), 9 * MIB));
   const int fd = open("/proc/self/exe", O_RDONLY);
   show("file", mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0));
   printf("vector %s\n", same_vector() ? "same" : "differs");
#ifdef MAP_32BIT
   printf("low %u\n", mapped_low());
#endif
   return 0;
}
