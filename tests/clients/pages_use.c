/* References memory of a known kind at random, so many bytes of it: for what the
   page that backs it does to the misses.
   pages_use KIND MIB [protect|free|undumped|advise|late|never|advised-only|empty|probe|mix|
                       write]
   KIND: bss, heap, file, a folder with its / for a file there, stack for MAP_STACK; else
   anonymous memory
   never, advised-only: by PR_SET_THP_DISABLE; with the second the first half is advised
   late: the advice comes when all pages are there
   probe: each page is read before it is mapped
   empty: by the way it gives pages back
   mix: in each 64K a page of 16K comes beside others that stay small
   write: some pages are read or written at random, too
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { REFERENCES = 200000, PAGE = 4096, RW = PROT_READ | PROT_WRITE };

#define ALIGNMENT ((size_t)2 << 20)
#define BSS ((size_t)4 << 20)

/* (Valgrind does not read the symbols of a program whose bss is aligned.) */
static char bss[BSS + ALIGNMENT];

static char *aligned(char *p)
{
   return p + (ALIGNMENT - (uintptr_t)p % ALIGNMENT) % ALIGNMENT;
}

static char *must(void *p)
{
   if (p == MAP_FAILED || p == (void *)-1) {
      perror("pages_use");
      exit(1);
   }
   return p;
}

static char *map(size_t size, int flags, int fd)
{
   return must(mmap(NULL, size, RW, flags, fd, 0));
}

static char *of_kind(const char *kind, size_t size)
{
   if (strcmp(kind, "bss") == 0)
      return size <= BSS ? aligned(bss) : NULL;
   if (strcmp(kind, "heap") == 0) {
      /* In small steps, as malloc does it. */
      char *const start = aligned(must(sbrk(0)));
      while ((char *)sbrk(0) < start + size)
         must(sbrk(132 * 1024));
      return start;
   }
   const int in_folder = strchr(kind, '/') != NULL;
   if (in_folder || strcmp(kind, "file") == 0) {
      char name[4096];
      snprintf(name, sizeof name, "%spages_file_XXXXXX", in_folder ? kind : "");
      const int fd = mkstemp(name);
      if (fd < 0 || ftruncate(fd, (off_t)(size + ALIGNMENT)) != 0)
         return NULL;
      return aligned(map(size + ALIGNMENT, MAP_SHARED, fd));
   }
   const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (strcmp(kind, "stack") == 0 ? MAP_STACK : 0);
   return aligned(map(size + ALIGNMENT, flags, -1));
}

__attribute__((noinline)) static unsigned use(const volatile char *p,
                                              size_t size)
{
   uint64_t seed = UINT64_C(88172645463325252);
   unsigned sum = 0;
   for (unsigned i = 0; i < REFERENCES; i++) {
      seed ^= seed << 13;
      seed ^= seed >> 7;
      seed ^= seed << 17;
      sum += (unsigned char)p[(size_t)(seed >> 20) % size];
   }
   return sum;
}

/* Gives the first page of each 64K back, and goes on to the second when it has been in
   many others. */
static void empty(char *p, size_t size)
{
   enum { BLOCK = 16 * PAGE, OTHERS = 40 };
   for (size_t i = 0; i + OTHERS * BLOCK < size; i += BLOCK) {
      p[i]++;
      p[i + PAGE]++;
      madvise(p + i, PAGE, MADV_DONTNEED);
      for (size_t other = 1; other < OTHERS; other++)
         p[i + other * BLOCK]++;
      p[i + PAGE]++;
   }
}

static sigjmp_buf back;

static void go_back(int signal)
{
   (void)signal;
   siglongjmp(back, 1);
}

/* Takes the memory away, finds at each page that it is not there, and maps it again. */
static void probe(char *p, size_t size)
{
   volatile size_t found = 0;
   munmap(p, size);
   signal(SIGSEGV, go_back);
   for (volatile size_t i = 0; i < size; i += PAGE) {
      if (sigsetjmp(back, 1) == 0)
         found += (size_t)*(volatile char *)(p + i) + 1;
   }
   signal(SIGSEGV, SIG_DFL);
   must(mmap(p, size, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
   if (found > 0)
      exit(4);
}

/* What is written while its neighbour is read-only is no part of a page of 16K; what is
   given back after that and comes again is. Then other pages whose numbers end as the
   64K's does, which drive its entry out, but not that of the page of 16K. */
static void mix(char *p, size_t size)
{
   enum { BLOCK = 16 * PAGE, OTHERS = 8 };
   for (size_t i = 0; i + OTHERS * BLOCK < size; i += BLOCK) {
      const size_t same = (uintptr_t)(p + i) / BLOCK % 4 * PAGE;
      const size_t other = (same + PAGE) % (4 * PAGE);
      char *const large = p + i + 4 * PAGE;
      char *const small = p + i + 8 * PAGE;
      mprotect(large + same, PAGE, PROT_READ);
      mprotect(small + other, PAGE, PROT_READ);
      large[other]++;
      small[same]++;
      mprotect(large + same, PAGE, RW);
      mprotect(small + other, PAGE, RW);
      large[other]++;
      small[same]++;
      madvise(large, 4 * PAGE, MADV_DONTNEED);
      large[other]++;
      small[same]++;
      for (size_t n = 1; n < OTHERS; n++)
         p[i + n * BLOCK + same]++;
      large[other]++;
   }
}

/* Of a few pages, one at random is read or written. */
static void read_or_write(volatile char *p)
{
   enum { PAGES = 40 };
   uint64_t seed = UINT64_C(88172645463325252);
   for (unsigned i = 0; i < REFERENCES; i++) {
      seed ^= seed << 13;
      seed ^= seed >> 7;
      seed ^= seed << 17;
      volatile char *const q = p + (size_t)(seed >> 20) % PAGES * PAGE;
      if (seed >> 63 != 0)
         *q = 1;
      else
         (void)*q;
   }
}

int main(int argc, char **argv)
{
   const size_t size = argc > 2 ? (size_t)atoi(argv[2]) << 20 : 0;
   char *const p = size > 0 ? of_kind(argv[1], size) : NULL;
   if (p == NULL)
      return 2;
   if (argc > 3 && strcmp(argv[3], "probe") == 0)
      probe(p, size);
   if (argc > 3 && strcmp(argv[3], "mix") == 0)
      mix(p, size);
   if (argc > 3 && strcmp(argv[3], "never") == 0
       && prctl(PR_SET_THP_DISABLE, 1L, 0L, 0L, 0L) != 0)
      return 3;
   /* (Kernels before 6.18 refuse it.) */
   if (argc > 3 && strcmp(argv[3], "advised-only") == 0
       && (prctl(PR_SET_THP_DISABLE, 1L, 2L, 0L, 0L) != 0
           || madvise(p, size / 2, MADV_HUGEPAGE) != 0))
      return 77;
   if (argc > 3 && strcmp(argv[3], "advise") == 0
       && madvise(p, size, MADV_HUGEPAGE) != 0)
      return 3;
   for (size_t i = 0; i < size; i += PAGE)
      p[i] = 1;
   if (argc > 3 && strcmp(argv[3], "late") == 0
       && madvise(p, size, MADV_HUGEPAGE) != 0)
      return 3;
   /* 100K into it: inside the second 64K and the first 2M. */
   if (argc > 3 && strcmp(argv[3], "protect") == 0)
      mprotect(p + 100 * 1024, PAGE, PROT_READ);
   if (argc > 3 && strcmp(argv[3], "free") == 0
       && madvise(p + 100 * 1024, PAGE, MADV_FREE) != 0)
      return 3;
   if (argc > 3 && strcmp(argv[3], "undumped") == 0
       && madvise(p + 100 * 1024, PAGE, MADV_DONTDUMP) != 0)
      return 3;
   if (argc > 3 && strcmp(argv[3], "empty") == 0)
      empty(p, size);
   if (argc > 3 && strcmp(argv[3], "write") == 0)
      read_or_write(p);
   return use(p, size) == 0;
}
