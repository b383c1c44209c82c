/* Writes to huge pages that a fork has shared. Prints how many of them are left, as the kernel
   says, and how many faults the writes took; and whether the kernel had some for all of the area.
   run_forks WAY, see main()
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE ((size_t)4096)
#define HUGE_PAGE ((size_t)2 << 20)

enum { BLOCKS = 8, ADVISE_HUGEPAGE = 14 };

static volatile char* area;

static void fail(const char* what)
{
   perror(what);
   exit(2);
}

static long faults(void)
{
   struct rusage u;
   getrusage(RUSAGE_SELF, &u);
   return u.ru_minflt + u.ru_majflt;
}

/* Of the area, as smaps has them; kB. */
static long huge_bytes(void)
{
   char line[256], start[32];
   long kb = -1;
   int is_here = 0;
   FILE* f = fopen("/proc/self/smaps", "r");
   if (f == NULL)
      fail("smaps");
   snprintf(start, sizeof start, "%lx-", (unsigned long)(uintptr_t)area);
   while (fgets(line, sizeof line, f) != NULL && kb < 0) {
      if (strncmp(line, start, strlen(start)) == 0)
         is_here = 1;
      if (is_here)
         sscanf(line, "AnonHugePages: %ld", &kb);
   }
   fclose(f);
   return kb;
}

__attribute__((noinline)) static void write_to(volatile char* p)
{
   *p = 2;
}

/* One byte in each of so many blocks, or, with `all`, one in each page. */
static void write_to_blocks(int blocks, int all)
{
   for (int i = 0; i < blocks; i++) {
      for (size_t at = 5 * PAGE; at < HUGE_PAGE; at += all ? PAGE : HUGE_PAGE)
         write_to(area + (size_t)i * HUGE_PAGE + at);
   }
}

static void report(long before)
{
   const long taken = faults() - before;
   printf("left %ld faults %ld\n", huge_bytes() / 2048, taken);
   fflush(stdout);
}

/* So that what the counting itself writes to is this process's own again. */
static long begin(void)
{
   write_to(&(volatile char){ 0 });
   faults();
   return faults();
}

int main(int argc, char** argv)
{
   const char* const way = argc > 1 ? argv[1] : "";
   int hold[2], tell[2];
   char c;
   char* const room = mmap(NULL, (BLOCKS + 1) * HUGE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                           -1, 0);
   if (room == MAP_FAILED)
      fail("mmap");
   /* Apart from its neighbours, as those have another protection. */
   area = room + (HUGE_PAGE - (uintptr_t)room % HUGE_PAGE);
   if (mprotect((void*)area, BLOCKS * HUGE_PAGE, PROT_READ | PROT_WRITE) != 0
       || madvise((void*)area, BLOCKS * HUGE_PAGE, ADVISE_HUGEPAGE) != 0)
      fail("mprotect");
   for (size_t i = 0; i < BLOCKS * HUGE_PAGE; i += PAGE)
      area[i] = 1;
   if (huge_bytes() / 2048 != BLOCKS)
      printf("few huge pages, ");
   if (pipe(hold) != 0 || pipe2(tell, O_CLOEXEC) != 0)
      fail("pipe");
   if (strcmp(way, "dontfork") == 0)
      madvise((void*)area, BLOCKS * HUGE_PAGE, MADV_DONTFORK);
   const pid_t child = strcmp(way, "vfork") == 0 ? vfork() : fork();
   if (child < 0)
      fail("fork");
   if (child == 0 && strcmp(way, "vfork") == 0)
      _exit(0);
   if (child == 0) {
      close(hold[1]);
      close(tell[0]);
      if (strcmp(way, "ended") == 0)
         _exit(0);
      if (strcmp(way, "exec") == 0) {
         dup2(hold[0], 0);
         execl("/bin/cat", "cat", (char*)NULL);
         fail("cat");
      }
      if (strcmp(way, "child") == 0) {
         const long before = begin();
         write_to_blocks(2, 0);
         report(before);
      }
      close(tell[1]);
      if (read(hold[0], &c, 1) < 0)
         fail("read");
      _exit(0);
   }
   close(hold[0]);
   close(tell[1]);
   if (strcmp(way, "ended") == 0)
      waitpid(child, NULL, 0);
   /* Until the child has ended, is another program, or has done its part. */
   if (read(tell[0], &c, 1) != 0)
      fail("read");
   const int zero = open("/dev/zero", O_RDONLY);
   const long before = begin();
   if (strcmp(way, "parent") == 0)
      write_to_blocks(3, 0);
   else if (strcmp(way, "all") == 0)
      write_to_blocks(1, 1);
   else if (strcmp(way, "kernel") == 0 && read(zero, (void*)(area + HUGE_PAGE), 2 * PAGE) < 0)
      fail("read");
   else if (strcmp(way, "ended") == 0 || strcmp(way, "exec") == 0 || strcmp(way, "vfork") == 0
            || strcmp(way, "dontfork") == 0)
      write_to_blocks(BLOCKS, 0);
   if (strcmp(way, "child") != 0)
      report(before);
   close(hold[1]);
   waitpid(child, NULL, 0);
   return 0;
}
