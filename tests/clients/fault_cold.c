/* Touches the pages of a file that is not in the page cache, in an order that
   its second argument tells, and prints which touches the kernel counted as
   major faults; with a fourth argument also the minor ones, so marked. The file
   is to be on a disk of its own.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, RANDOM_TOUCHES = 250 };

static volatile char* area;
static long pages;
static int writes;
static int prints_minor;

static struct rusage used(void)
{
   struct rusage r;
   getrusage(RUSAGE_SELF, &r);
   return r;
}

static void touch(long page)
{
   /* What the last touch made the kernel read ahead is there by now. */
   const struct timespec pause = { 0, 300000 };
   volatile char byte;
   nanosleep(&pause, NULL);
   const struct rusage before = used();
   if (writes)
      area[page * PAGE] = 1;
   else
      byte = area[page * PAGE];
   (void)byte;
   const struct rusage after = used();
   if (after.ru_majflt != before.ru_majflt)
      printf("%ld\n", page);
   else if (prints_minor && after.ru_minflt != before.ru_minflt)
      printf("%ld minor\n", page);
}

static void touch_at_random(void)
{
   unsigned long state = 1;
   for (int i = 0; i < RANDOM_TOUCHES; i++) {
      state = state * 6364136223846793005ul + 1442695040888963407ul;
      touch((long)((state >> 33) % (unsigned long)pages));
   }
}

static void touch_in_order(const char* order)
{
   const long half = pages / 2;
   if (strcmp(order, "up") == 0)
      for (long p = 0; p < pages; p++)
         touch(p);
   else if (strcmp(order, "down") == 0)
      for (long p = pages; p-- > 0;)
         touch(p);
   else if (strcmp(order, "stride") == 0)
      for (long p = 5; p < pages; p += 13)
         touch(p);
   else if (strcmp(order, "far") == 0)
      for (long p = 3; p < pages; p += 37)
         touch(p);
   else if (strcmp(order, "streams") == 0)
      for (long p = 0; p < half; p++) {
         touch(p);
         touch(half + p);
      }
   else if (strcmp(order, "again") == 0)
      for (long p = 0; p < 2 * pages; p += 29)
         touch(p % pages);
   else if (strcmp(order, "random") == 0)
      touch_at_random();
   else
      exit(2);
}

/* fault_cold FILE ORDER r|x|w[R|S|H] [all] */
int main(int argc, char** argv)
{
   struct stat s;
   static char line[BUFSIZ];
   if (argc < 4)
      return 2;
   /* Its first use takes a fault of its own. */
   memset(line, 0, sizeof line);
   setvbuf(stdout, line, _IOFBF, sizeof line);
   prints_minor = argc > 4;
   const int fd = open(argv[1], O_RDONLY);
   if (fd < 0 || fstat(fd, &s) != 0)
      return 1;
   pages = s.st_size / PAGE;
   writes = strchr(argv[3], 'w') != NULL;
   const int prot = PROT_READ | (writes ? PROT_WRITE : 0) | (strchr(argv[3], 'x') ? PROT_EXEC : 0);
   area = mmap(NULL, (size_t)s.st_size, prot, MAP_PRIVATE, fd, 0);
   if (area == MAP_FAILED)
      return 1;
   if (strchr(argv[3], 'R'))
      madvise((void*)area, (size_t)s.st_size, MADV_RANDOM);
   if (strchr(argv[3], 'S'))
      madvise((void*)area, (size_t)s.st_size, MADV_SEQUENTIAL);
   if (strchr(argv[3], 'H'))
      madvise((void*)area, (size_t)s.st_size, MADV_HUGEPAGE);
   used();
   touch_in_order(argv[2]);
   return 0;
}
