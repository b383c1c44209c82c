/* Parts of a run that are measured, and parts that are not.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "run_work.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "tlbgrind.h"

enum { N = 1000, PAGE = 4096 };

/* Each is called in one part of the run. */
WORK(before); WORK(inside); WORK(between); WORK(after);
WORK(first_phase); WORK(second_phase);

static long memory[2];

/* The same code in several parts. */
WORK(all);

static char *pages(int n)
{
   return mmap(NULL, (size_t)n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

__attribute__((noinline)) static void touch(char *p, int n)
{
   for (int i = 0; i < n; i++)
      ((volatile char *)p)[(size_t)i * PAGE] = 1;
}

/* started twice, stopped twice */
static void region(void)
{
   before(N, memory);
   all(N, memory);
   TLBGRIND_START;
   inside(N, memory);
   all(2 * N, memory);
   TLBGRIND_STOP;
   between(N, memory);
   all(4 * N, memory);
   TLBGRIND_START;
   TLBGRIND_START;
   inside(8 * N, memory);
   all(8 * N, memory);
   TLBGRIND_STOP;
   after(N, memory);
   expect_work("inside", 9 * N, 2);
   expect_work("all", 10 * N, 2);
   expect("before", 0, 0, 0);
   expect("between", 0, 0, 0);
   expect("after", 0, 0, 0);
}

static void stop(void)
{
   before(N, memory);
   TLBGRIND_STOP;
   between(N, memory);
   TLBGRIND_START;
   after(N, memory);
   expect_work("before", N, 1);
   expect("between", 0, 0, 0);
   expect_work("after", N, 1);
}

static void zero(void)
{
   before(N, memory);
   all(N, memory);
   TLBGRIND_ZERO;
   all(2 * N, memory);
   after(N, memory);
   expect("before", 0, 0, 0);
   expect_work("all", 2 * N, 1);
   expect_work("after", N, 1);
}

/* The test reads what each part must hold from "part" lines. */
static void part(int number, const char *function, long n, long calls)
{
   dprintf(1, "part %d %s %ld %ld %ld\n", number, function, WORK_IR(n, calls), WORK_DR(n, calls),
           WORK_DW(n, calls));
}

static void dump(void)
{
   before(N, memory);
   all(N, memory);
   TLBGRIND_DUMP;
   inside(N, memory);
   all(2 * N, memory);
   TLBGRIND_DUMP;
   all(4 * N, memory);
   part(1, "before", N, 1);
   part(1, "all", N, 1);
   part(2, "inside", N, 1);
   part(2, "all", 2 * N, 1);
   expect_work("all", 4 * N, 1);
}

static void in_phase(const char *phase, const char *function, long n, long calls)
{
   dprintf(1, "phase %s %s %ld %ld %ld\n", phase, function, WORK_IR(n, calls), WORK_DR(n, calls),
           WORK_DW(n, calls));
}

static void phases(void)
{
   all(N, memory);
   for (int i = 0; i < 3; i++) {
      TLBGRIND_MARK("read/it");
      first_phase(N, memory);
      all(N, memory);
      TLBGRIND_MARK("read_it");
      second_phase(N, memory);
      all(2 * N, memory);
   }
   TLBGRIND_MARK("the end");
   in_phase("start", "all", N, 1);
   in_phase("read/it", "first_phase", 3 * N, 3);
   in_phase("read/it", "all", 3 * N, 3);
   in_phase("read_it", "second_phase", 3 * N, 3);
   in_phase("read_it", "all", 6 * N, 3);
   expect_work("all", 10 * N, 7);
}

/* Pages that are touched while instrumentation is off are there when it is on. */
static void faults(void)
{
   char *const p = pages(64);
   touch(p, 16);
   TLBGRIND_STOP;
   touch(p + 16 * PAGE, 16);
   memset(p + 16 * PAGE, 2, 100);
   TLBGRIND_START;
   touch(p, 48);
   dprintf(1, "address %p\n", (void *)p);
   dprintf(1, "faults 0..15 32..47\n");
}

static void fault_phases(void)
{
   char *const p = pages(64);
   touch(p, 8);
   TLBGRIND_MARK("one");
   touch(p, 20);
   TLBGRIND_MARK("two");
   touch(p, 50);
   dprintf(1, "address %p\n", (void *)p);
}

/* The TLBs keep their entries while instrumentation is off. */
static void keeps(void)
{
   char *const p = pages(64);
   TLBGRIND_START;
   touch(p, 32);
   TLBGRIND_STOP;
   touch(p + 32 * PAGE, 32);
   TLBGRIND_START;
   touch(p, 32);
   TLBGRIND_STOP;
   /* Twice as many pages as the first level holds, half as many as the second. */
   dprintf(1, "misses touch 64 32\n");
}

/* Requests that are dumps, or that no tool takes: the same instructions. */
static void parts_of_all(int dumps)
{
   volatile unsigned long request = dumps ? VG_USERREQ__TLBGRIND_DUMP : 0x12345678;
   char *const p = pages(64);
   for (int i = 0; i < 5; i++) {
      touch(p, 10 * i);
      all(N * (i + 1), memory);
      VALGRIND_DO_CLIENT_REQUEST_STMT(request, 0, 0, 0, 0, 0);
   }
}

static void sum_of_parts(void)
{
   parts_of_all(1);
}

static void whole(void)
{
   parts_of_all(0);
}

/* For commands from outside. */
static void waits(void)
{
   char c;
   before(N, memory);
   dprintf(1, "waits\n");
   if (read(0, &c, 1) == 1)
      after(N, memory);
}

/* Longer than a second, however fast the machine is. */
static void runs_long(void)
{
   const time_t begin = time(NULL);
   while (time(NULL) < begin + 3)
      all(100 * N, memory);
}

static void forks(void)
{
   before(N, memory);
   TLBGRIND_STOP;
   const pid_t child = fork();
   if (child == 0) {
      all(N, memory);
      TLBGRIND_START;
      inside(N, memory);
      TLBGRIND_STOP;
      expect_work("inside", N, 1);
      expect("all", 0, 0, 0);
      expect("before", 0, 0, 0);
      _exit(0);
   }
   waitpid(child, NULL, 0);
   all(N, memory);
   expect_work("before", N, 1);
   expect("all", 0, 0, 0);
}

int main(int argc, char **argv)
{
   static const struct { const char *name; void (*run)(void); } parts[] = {
      { "region", region }, { "stop", stop }, { "zero", zero }, { "dump", dump },
      { "phases", phases }, { "faults", faults }, { "fault_phases", fault_phases },
      { "forks", forks }, { "keeps", keeps }, { "parts", sum_of_parts }, { "whole", whole },
      { "waits", waits }, { "long", runs_long },
   };
   for (unsigned i = 0; argc > 1 && i < sizeof parts / sizeof *parts; i++) {
      if (strcmp(argv[1], parts[i].name) == 0)
         parts[i].run();
   }
   return 0;
}
