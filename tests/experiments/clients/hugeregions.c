/* Memory that is asked for in many ways, with a view to huge pages or without: sizes
   that are multiples of 2M and others, aligned and not, with advice for and against,
   grown, moved, cut, and given back in part.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { KIB = 1 << 10, MIB = 1 << 20, RW = PROT_READ | PROT_WRITE };

static char *map(size_t bytes)
{
   char *const got = mmap(NULL, bytes, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   if (got == MAP_FAILED)
      abort();
   return got;
}

/* Each page, from the first on. */
static void touch(char *at, size_t bytes)
{
   for (size_t i = 0; i < bytes; i += 4 * KIB)
      *(volatile char *)(at + i) = 1;
}

static void sizes(void)
{
   static const size_t size[] = { 2 * MIB,           4 * MIB,  2 * MIB + 4 * KIB, 5 * MIB,
                                  8 * MIB - 4 * KIB, 16 * MIB, 3 * MIB };
   for (size_t i = 0; i < sizeof size / sizeof size[0]; i++)
      touch(map(size[i]), size[i]);
}

static void aligned(void)
{
   char *const all = aligned_alloc(2 * MIB, 8 * MIB);
   touch(all, 8 * MIB);
   char *const half = aligned_alloc(4 * MIB, 4 * MIB);
   touch(half + MIB, 2 * MIB); /* a part of both of its blocks */
}

static void advised(void)
{
   char *const for_it = map(10 * MIB);
   madvise(for_it, 10 * MIB, MADV_HUGEPAGE);
   touch(for_it, 10 * MIB);
   char *const against = map(6 * MIB);
   madvise(against, 6 * MIB, MADV_NOHUGEPAGE);
   touch(against, 6 * MIB);
   /* As the stacks of threads are. */
   touch(mmap(NULL, 6 * MIB, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0), 6 * MIB);
   /* A part of it, which is not aligned. */
   char *const part = map(16 * MIB);
   madvise(part + 3 * MIB, 9 * MIB, MADV_HUGEPAGE);
   touch(part, 16 * MIB);
}

static void changed(void)
{
   char *const grown = mremap(map(4 * MIB), 4 * MIB, 12 * MIB, MREMAP_MAYMOVE);
   touch(grown, 12 * MIB);
   char *const cut = map(8 * MIB);
   touch(cut, 8 * MIB);
   munmap(cut + 5 * MIB, 4 * KIB);
   mprotect(cut + MIB, 4 * KIB, PROT_READ);
   char *const back = map(12 * MIB);
   touch(back, 12 * MIB);
   madvise(back + 2 * MIB, 2 * MIB, MADV_DONTNEED);
   madvise(back + 7 * MIB, 64 * KIB, MADV_DONTNEED);
   touch(back + 2 * MIB, MIB);
   /* A reservation that is made usable step by step. */
   char *const room = mmap(NULL, 32 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   for (size_t at = 0; at < 12 * MIB; at += 512 * KIB) {
      mprotect(room + at, 512 * KIB, RW);
      touch(room + at, 512 * KIB);
   }
   mprotect(room + 16 * MIB, 8 * MIB, RW);
   touch(room + 16 * MIB, 8 * MIB);
}

/* What is only read is the kernel's huge page of zeros, which is counted nowhere; so all
   is written here. */
int main(void)
{
   sizes();
   aligned();
   advised();
   changed();
   puts("done");
   return 0;
}
