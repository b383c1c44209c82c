/* Time in core cycles. See measure/clock.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <sched.h>
#include <time.h>

#include "measure/clock.h"

double tg_seconds(void)
{
   struct timespec t;
   clock_gettime(CLOCK_MONOTONIC, &t);
   return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#if !defined(__x86_64__) && !defined(__powerpc64__)
static uint64_t nanoseconds(void)
{
   struct timespec t;
   clock_gettime(CLOCK_MONOTONIC_RAW, &t);
   return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
#endif

#if defined(__x86_64__)
uint64_t tg_ticks(void)
{
   uint32_t low, high;
   /* rdtscp would be one instruction, but not every machine has it. */
   __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
   return (uint64_t)high << 32 | low;
}
#elif defined(__aarch64__)
/* The counter of many Arm machines runs at 25 to 100 MHz, and a round takes 50 microseconds: the
   clock of the kernel is finer where it interpolates and never coarser. */
uint64_t tg_ticks(void)
{
   __asm__ volatile("isb" : : : "memory");
   const uint64_t t = nanoseconds();
   __asm__ volatile("isb" : : : "memory");
   return t;
}
#elif defined(__powerpc64__)
uint64_t tg_ticks(void)
{
   uint64_t t;
   __asm__ volatile("isync\n\tmfspr %0, 268\n\tisync" : "=r"(t) : : "memory");
   return t;
}
#elif defined(__riscv)
/* The user's counter of cycles is closed on newer kernels, and the one of time is coarse. */
uint64_t tg_ticks(void)
{
   __asm__ volatile("fence" : : : "memory");
   const uint64_t t = nanoseconds();
   __asm__ volatile("fence" : : : "memory");
   return t;
}
#else
#error "tg_measure knows x86-64, aarch64, ppc64le and riscv64"
#endif

/* Some cores add a small constant at no cost, and none adds a register so. */
#if defined(__x86_64__)
#define ADD "addq %1, %0\n\t"
#elif defined(__aarch64__) || defined(__riscv)
#define ADD "add %0, %0, %1\n\t"
#elif defined(__powerpc64__)
#define ADD "add %0, %0, %1\n\t"
#endif
#define ADD_8 ADD ADD ADD ADD ADD ADD ADD ADD
#define ADD_64 ADD_8 ADD_8 ADD_8 ADD_8 ADD_8 ADD_8 ADD_8 ADD_8

/* 64 times this many additions: some 5 microseconds, less than any interval of interruptions. */
enum { TURNS = 256, BURSTS = 3 };

double tg_ticks_per_cycle(void)
{
   uint64_t least = UINT64_MAX;
   for (int b = 0; b < BURSTS; b++) {
      uint64_t sum = 1;
      const uint64_t step = 3;
      const uint64_t begin = tg_ticks();
      for (int i = 0; i < TURNS; i++)
         __asm__ volatile(ADD_64 : "+r"(sum) : "r"(step) : "cc");
      const uint64_t took = tg_ticks() - begin;
      if (took < least)
         least = took;
   }
   if (least == 0)
      least = 1;
   return (double)least / (64.0 * TURNS);
}

bool tg_stay_here(void)
{
   const int here = sched_getcpu();
   cpu_set_t set;
   if (here < 0)
      return false;
   CPU_ZERO(&set);
   CPU_SET((unsigned)here, &set);
   return sched_setaffinity(0, sizeof set, &set) == 0;
}
