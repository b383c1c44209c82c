/* run_flushes.c -- makes the kernel flush translations, and prints how many of how many pages.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   run_flushes: each change of mappings in a function of its own. A line for each, "flushes PID
   FUNCTION TIMES PAGES WITHIN": flushes, pages from the first to the last that were present, and
   those of them that are in a TLB that has room for all.
   run_flushes loop ROUNDS PAGES: maps, writes and unmaps PAGES pages, with 256 hot pages elsewhere.
   run_flushes huge: unmaps a huge page, if there are any. */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, HOT = 256, HUGE = 2 << 20 };

static volatile char hot[HOT * PAGE] __attribute__((aligned(PAGE)));

static void line(const char* function, int times, int pages, int within)
{
   char text[200];
   /* Pids are the test's to compare: see clients/run_work.h. */
   const int n = snprintf(text, sizeof text, "flushes %d %s %d %d %d\n", getpid() + 10000000,
                          function, times, pages, within);
   if (write(1, text, (size_t)n) != n)
      exit(9);
}

static __attribute__((noinline)) void writes(volatile char* from, int pages)
{
   for (int i = 0; i < pages; i++)
      from[(long)i * PAGE] = 1;
}

static __attribute__((noinline)) int reads(const volatile char* from, int pages)
{
   int sum = 0;
   for (int i = 0; i < pages; i++)
      sum += from[(long)i * PAGE];
   return sum;
}

static char* map(int pages)
{
   char* a = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   if (a == MAP_FAILED)
      exit(3);
   return a;
}

static void good(int result)
{
   if (result != 0)
      exit(4);
}

/* Of 40 pages, the 10th to the 21st are written. */
static char* map_some(void)
{
   char* a = map(40);
   writes(a + 10 * PAGE, 12);
   return a;
}

static __attribute__((noinline)) void unmaps(char* a)
{
   good(munmap(a, 40 * PAGE));
   good(munmap(map(40), 40 * PAGE)); /* nothing was there */
}

static __attribute__((noinline)) void protects(char* a)
{
   good(mprotect(a, 40 * PAGE, PROT_READ));
   good(mprotect(a, 40 * PAGE, PROT_READ)); /* nothing changes */
   good(mprotect(a, 40 * PAGE, PROT_READ | PROT_WRITE));
}

static __attribute__((noinline)) void discards(char* a)
{
   good(madvise(a, 15 * PAGE, MADV_DONTNEED));
   good(madvise(a, 40 * PAGE, MADV_WILLNEED)); /* flushes nothing */
   good(madvise(a, 40 * PAGE, MADV_DONTNEED));
   good(madvise(a, 40 * PAGE, MADV_DONTNEED)); /* nothing is there any more */
}

static __attribute__((noinline)) void covers(char* a)
{
   if (mmap(a, 40 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != a)
      exit(5);
}

static __attribute__((noinline)) char* moves(char* a)
{
   a = mremap(a, 40 * PAGE, 44 * PAGE, MREMAP_MAYMOVE);
   if (a == MAP_FAILED)
      exit(6);
   return a;
}

static __attribute__((noinline)) void shrinks(char* a)
{
   if (mremap(a, 40 * PAGE, 15 * PAGE, 0) != a)
      exit(7);
}

static __attribute__((noinline)) void breaks(char* old)
{
   if (brk(old) != 0)
      exit(8);
}

static __attribute__((noinline)) void copies(volatile char* a)
{
   for (int i = 0; i < 12; i++)
      a[i * PAGE] = 1;
}

static __attribute__((noinline)) int forks(void)
{
   const int pid = fork();
   if (pid < 0)
      exit(10);
   return pid;
}

static void changes(void)
{
   unmaps(map_some());
   line("unmaps", 1, 12, 12);
   protects(map_some());
   line("protects", 2, 12 + 12, 12);
   discards(map_some());
   line("discards", 2, 5 + 7, 5 + 7);
   covers(map_some());
   line("covers", 1, 12, 12);
   char* a = map_some();
   char* after = map(40); /* so that the mapping has to move */
   (void)after;
   moves(a);
   line("moves", 1, 40, 12);
   shrinks(map_some());
   line("shrinks", 1, 7, 7);
   char* old = sbrk(20 * PAGE);
   const long odd = -(long)old & (PAGE - 1);
   writes(old + odd + PAGE, 9);
   breaks(old);
   line("breaks", 1, 9, 9);
}

/* The zero page, once read, is copied when it is written; after a fork each side copies. */
static void forked(void)
{
   char* a = map(12);
   (void)reads(a, 12);
   copies(a);
   line("copies", 12, 12, 12);
   const int pid = forks();
   if (pid == 0) {
      copies(a);
      line("copies", 12, 12, 0); /* the child begins with an empty TLB */
      _exit(0);
   }
   int status;
   if (waitpid(pid, &status, 0) != pid || status != 0)
      exit(11);
}

static __attribute__((noinline)) void loop(int rounds, int pages)
{
   /* A page before and one behind need the page tables at both ends, so that none is freed whose
      beginning is outside. */
   char* room = map(pages + 2) + PAGE;
   good(munmap(room, (size_t)pages * PAGE));
   writes(hot, HOT);
   for (int i = 0; i < rounds; i++) {
      char* a = mmap(room, (size_t)pages * PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
      if (a != room)
         exit(3);
      writes(a, pages);
      writes(hot, HOT);
      good(munmap(a, (size_t)pages * PAGE));
      writes(hot, HOT);
   }
}

static __attribute__((noinline)) void unmaps_huge(char* a)
{
   good(munmap(a, HUGE));
}

static void huge(void)
{
   char* a = map(2 * HUGE / PAGE);
   char* aligned = a + (-(unsigned long)a & (HUGE - 1));
   good(madvise(aligned, HUGE, MADV_HUGEPAGE));
   writes(aligned, HUGE / PAGE);
   unmaps_huge(aligned);
}

int main(int argc, char** argv)
{
   if (argc == 4 && strcmp(argv[1], "loop") == 0) {
      loop(atoi(argv[2]), atoi(argv[3]));
   } else if (argc == 2 && strcmp(argv[1], "huge") == 0) {
      huge();
   } else {
      changes();
      forked();
   }
   return 0;
}
