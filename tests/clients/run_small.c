/* Brings blocks of 2M into small pages in one way, of four that are touched as a whole in the end.
   Prints how many huge pages the kernel has left, and whether it had some for all at first.
   run_small WAY, see main()
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE ((size_t)4096)
#define HUGE_PAGE ((size_t)2 << 20)

enum { BLOCKS = 4, ADVISE_FREE = 8, ADVISE_MERGEABLE = 12, ADVISE_HUGEPAGE = 14,
       ADVISE_PAGEOUT = 21, RW = PROT_READ | PROT_WRITE };

static void must(int is_right, const char* what)
{
   if (!is_right) {
      perror(what);
      exit(2);
   }
}

static void touch(volatile char* p, size_t bytes)
{
   for (size_t i = 0; i < bytes; i += PAGE)
      p[i] = 1;
}

static long huge_pages(void)
{
   char line[256];
   long kb = -1;
   FILE* f = fopen("/proc/self/smaps_rollup", "r");
   must(f != NULL, "smaps_rollup");
   while (fgets(line, sizeof line, f) != NULL)
      sscanf(line, "AnonHugePages: %ld", &kb);
   fclose(f);
   return kb / 2048;
}

int main(int argc, char** argv)
{
   const char* const way = argc > 1 ? argv[1] : "";
   char* const room = mmap(NULL, 3 * BLOCKS * HUGE_PAGE, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
   must(room != MAP_FAILED, "mmap");
   char* const area = room + (HUGE_PAGE - (uintptr_t)room % HUGE_PAGE);
   char* const part = area + HUGE_PAGE + 100 * PAGE;
   const size_t bytes = BLOCKS * HUGE_PAGE;
   /* Where it is mapped, all of it is advised. */
   must(strcmp(way, "late") == 0 || madvise(area, bytes, ADVISE_HUGEPAGE) == 0, "madvise");
   if (strcmp(way, "grown") == 0) {
      for (size_t at = 0; at < bytes; at += HUGE_PAGE / 2) {
         must(mprotect(area + at, HUGE_PAGE / 2, RW) == 0, "mprotect");
         touch(area + at, HUGE_PAGE / 2);
      }
   }
   must(mprotect(area, bytes, RW) == 0, "mprotect");
   if (strcmp(way, "late") == 0) {
      touch(area + PAGE, PAGE);
      touch(area + HUGE_PAGE, PAGE);
      must(madvise(area, bytes, ADVISE_HUGEPAGE) == 0, "madvise");
   }
   touch(area, bytes);
   if (strcmp(way, "grown") != 0 && huge_pages() != (strcmp(way, "late") == 0 ? 2 : BLOCKS))
      printf("few huge pages, ");
   if (strcmp(way, "cut") == 0)
      must(mprotect(part, PAGE, PROT_READ) == 0 && mprotect(part, PAGE, RW) == 0, "mprotect");
   else if (strcmp(way, "purged") == 0)
      must(madvise(part, PAGE, MADV_DONTNEED) == 0, "madvise");
   else if (strcmp(way, "free") == 0)
      must(madvise(part, PAGE, ADVISE_FREE) == 0, "madvise");
   else if (strcmp(way, "pageout") == 0)
      must(madvise(part, PAGE, ADVISE_PAGEOUT) == 0, "madvise");
   else if (strcmp(way, "mergeable") == 0 && madvise(part, PAGE, ADVISE_MERGEABLE) != 0)
      printf("no KSM, ");
   else if (strcmp(way, "moved") == 0)
      must(mremap(area, 2 * HUGE_PAGE, 2 * HUGE_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
                  area + bytes + PAGE) != MAP_FAILED, "mremap");
   touch(part, strcmp(way, "moved") == 0 ? 0 : 50 * PAGE);
   printf("left %ld\n", huge_pages());
   if (strcmp(way, "moved") == 0)
      touch(area + bytes + PAGE, 2 * HUGE_PAGE);
   return 0;
}
