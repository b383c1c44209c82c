/* prefault.c -- 64 MiB, which come to be present in one of several ways,
   and what the kernel counts.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   prefault HOW FILE: prints the page faults that this process took, as getrusage counts them, first
   while the memory was mapped and advised, then by the touches.  FILE is made where HOW needs one.

   All is done with 2 MiB before, each page of which is touched, so that the code and data of the C
   library are present. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PAGE = 4096, HUGE = 2 << 20 };

typedef struct {
   long mapping, touching;
} Faults;

static volatile char sink;

static void must(int good, const char* what)
{
   if (good)
      return;
   perror(what);
   exit(2);
}

static long faults(void)
{
   struct rusage used;
   must(getrusage(RUSAGE_SELF, &used) == 0, "getrusage");
   return used.ru_minflt + used.ru_majflt;
}

static __attribute__((noinline)) void write_each(volatile char* at, long bytes, long step)
{
   for (const volatile char* end = at + bytes; at < end; at += step)
      *at = 1;
}

static __attribute__((noinline)) void read_each(volatile const char* at, long bytes, long step)
{
   for (const volatile char* end = at + bytes; at < end; at += step)
      sink = *at;
}

static char* anonymous(long bytes, int more)
{
   char* p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0);
   must(p != MAP_FAILED, "mmap");
   return p;
}

/* Begins with a page of 2M, whatever else the kernel would do. */
static char* aligned(long bytes)
{
   char* p = mmap(NULL, (size_t)(bytes + HUGE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   must(p != MAP_FAILED, "mmap");
   p += -(uintptr_t)p % HUGE;
   must(mmap(p, (size_t)bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p, "mmap");
   madvise(p, (size_t)bytes, MADV_HUGEPAGE); /* fails where the kernel has no huge pages */
   return p;
}

/* Written page by page: otherwise it lies in larger pieces in the page cache, which the kernel maps
   as a whole. */
static char* file(const char* name, long bytes)
{
   static const char page[PAGE];
   const int fd = open(name, O_CREAT | O_TRUNC | O_RDWR, 0600);
   must(fd >= 0, name);
   for (long i = 0; i < bytes; i += PAGE)
      must(write(fd, page, PAGE) == PAGE, name);
   /* Pages that are being written to the disk do not come along with others. */
   must(fsync(fd) == 0, name);
   char* p = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0);
   must(p != MAP_FAILED, "mmap");
   must(close(fd) == 0, name);
   return p;
}

static void will_need(char* p, long bytes)
{
   must(posix_madvise(p, (size_t)bytes, POSIX_MADV_WILLNEED) == 0, "posix_madvise");
}

static int is(const char* how, const char* word)
{
   return strstr(how, word) != NULL;
}

static char* map(const char* how, const char* name, long bytes)
{
   if (is(how, "thp"))
      return aligned(bytes);
   return is(how, "file") ? file(name, bytes)
                          : anonymous(bytes, is(how, "populate") ? MAP_POPULATE : 0);
}

static void touch(const char* how, char* p, long bytes, long step)
{
   if (is(how, "read") || is(how, "file"))
      read_each(p, bytes, PAGE);
   if (is(how, "file"))
      return;
   write_each(p, bytes, step);
   if (is(how, "dontneed")) {
      must(madvise(p, (size_t)bytes, MADV_DONTNEED) == 0, "madvise");
      write_each(p, bytes, PAGE);
   }
}

static Faults present(const char* how, const char* name, long bytes, long step)
{
   const long begin = faults();
   char* p = map(how, name, bytes);
   if (is(how, "willneed"))
      will_need(p, bytes);
   const long mapped = faults();
   touch(how, p, bytes, step);
   const long touched = faults();
   must(munmap(p, (size_t)bytes) == 0, "munmap");
   return (Faults){ mapped - begin, touched - mapped };
}

static long step_of(const char* how)
{
   if (!is(how, "sparse"))
      return PAGE;
   return is(how, "thp") ? HUGE : 2 * PAGE;
}

int main(int argc, char** argv)
{
   if (argc != 3)
      return 2;
   /* Hosts give huge pages and folios of other sizes also where no program asks for them. */
   if (!is(argv[1], "thp"))
      prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
   present(argv[1], argv[2], HUGE, PAGE);
   const Faults taken = present(argv[1], argv[2], 64 << 20, step_of(argv[1]));
   printf("%ld %ld\n", taken.mapping, taken.touching);
   return 0;
}
