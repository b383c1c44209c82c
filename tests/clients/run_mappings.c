/* run_mappings.c -- refers to mappings that come, go and change, and prints how often.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   run_mappings FILE: a file of 64 KiB. A line for each mapping: its first address and the one
   behind it, its mode, and the reads and writes there; "child " before those of the child after a
   fork. Nothing else refers to these mappings: no malloc(), and no buffer but on the stack. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, BIG = 2 << 20 };

static const char* prefix = "";

static void line(const volatile char* start, size_t length, const char* mode, long reads,
                 long writes)
{
   char text[200];
   const int n = snprintf(text, sizeof text, "%s%lx %lx %s %ld %ld\n", prefix, (unsigned long)start,
                          (unsigned long)start + length, mode, reads, writes);
   if (write(1, text, (size_t)n) != n)
      exit(9);
}

/* One byte of each page in [from, to). */
static __attribute__((noinline)) void reads(const volatile char* from, size_t to, int rounds)
{
   for (int k = 0; k < rounds; k++)
      for (size_t i = 0; i < to; i += PAGE)
         (void)from[i];
}

static __attribute__((noinline)) void writes(volatile char* from, size_t to, int rounds)
{
   for (int k = 0; k < rounds; k++)
      for (size_t i = 0; i < to; i += PAGE)
         from[i] = 1;
}

static char* map(unsigned long at, size_t length, int prot, int flags, int fd)
{
   char* a = mmap((void*)at, length, prot, MAP_PRIVATE | flags, fd, 0);
   if (a != (char*)at)
      exit(3);
   return a;
}

/* Other memory at an address is another mapping. */
static void replaced(int fd)
{
   char* a = map(0x300022000, 16 * PAGE, PROT_READ | PROT_WRITE,
                 MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);
   writes(a, 16 * PAGE, 10);
   reads(a, 16 * PAGE, 5);
   if (munmap(a, 16 * PAGE) != 0)
      exit(4);
   map(0x300022000, 16 * PAGE, PROT_READ, MAP_FIXED_NOREPLACE, fd);
   reads(a, 16 * PAGE, 7);
   map(0x300022000, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_FIXED, -1);
   writes(a, 16 * PAGE, 1);
   line(a, 16 * PAGE, "rw--", 5 * 16, 11 * 16);
   line(a, 16 * PAGE, "r---", 7 * 16, 0);
}

/* What mprotect() changes goes on in another row. */
static void split(void)
{
   char* b = map(0x310000000, 12 * PAGE, PROT_READ | PROT_WRITE,
                 MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);
   writes(b, 12 * PAGE, 10);
   if (mprotect(b + 4 * PAGE, 4 * PAGE, PROT_READ) != 0)
      exit(5);
   reads(b + 4 * PAGE, 4 * PAGE, 30);
   writes(b, 4 * PAGE, 3);
   writes(b + 8 * PAGE, 4 * PAGE, 2);
   line(b, 12 * PAGE, "rw--", 0, 10 * 12 + 5 * 4);
   line(b + 4 * PAGE, 4 * PAGE, "r---", 30 * 4, 0);
}

/* One mapping that the kernel makes of neighbours; the lower comes last. */
static void joined(void)
{
   char* c = map(0x320004000, 4 * PAGE, PROT_READ | PROT_WRITE,
                 MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);
   writes(c, 4 * PAGE, 5);
   c = map(0x320000000, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);
   writes(c, 8 * PAGE, 1);
   line(c, 8 * PAGE, "rw--", 0, 5 * 4 + 8);
}

static void moved(void)
{
   char* d = map(0x330000000, 4 * PAGE, PROT_READ | PROT_WRITE,
                 MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);
   writes(d, 4 * PAGE, 3);
   line(d, 4 * PAGE, "rw--", 0, 3 * 4);
   char* e = mremap(d, 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (void*)0x340000000);
   if (e == MAP_FAILED)
      exit(6);
   writes(e, 8 * PAGE, 2);
   line(e, 8 * PAGE, "rw--", 0, 2 * 8);
}

static void heap(void)
{
   char* start = sbrk(4 * PAGE);
   writes(start, 4 * PAGE, 4);
   if (sbrk(BIG) == (void*)-1)
      exit(7);
   writes(start + 4 * PAGE, BIG, 1);
   line(start, BIG + 4 * PAGE, "rw--", 0, 4 * 4 + BIG / PAGE);
}

/* Before, in and behind two pages of 2M. */
static void parts(void)
{
   char* f = map(0x350022000, 0x5de000 + 0x11000, PROT_READ | PROT_WRITE,
                 MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);
   writes(f, 0x1de000, 3);
   writes(f + 0x1de000, 2 * BIG, 2);
   reads(f + 0x5de000, 0x11000, 9);
   line(f, 0x5de000 + 0x11000, "rw--", 9 * 0x11, 3 * 0x1de + 2 * 1024);
}

/* Addresses where a heap may grow. */
static void reserved(void)
{
   const char* g = map(0x360000000, 4 * BIG, PROT_NONE,
                       MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1);
   line(g, 4 * BIG, "----", 0, 0);
}

int main(int argc, char** argv)
{
   const int fd = argc < 2 ? -1 : open(argv[1], O_RDONLY);
   if (fd < 0)
      return 2;
   replaced(fd);
   split();
   joined();
   moved();
   heap();
   parts();
   reserved();
   const pid_t child = fork();
   if (child == 0) {
      prefix = "child ";
      writes((char*)0x310000000, 4 * PAGE, 6);
      line((char*)0x310000000, 12 * PAGE, "rw--", 0, 6 * 4);
      _exit(0);
   }
   int status;
   return waitpid(child, &status, 0) == child && status == 0 ? 0 : 8;
}
