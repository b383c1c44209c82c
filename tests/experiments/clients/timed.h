/* timed.h -- what the clients of E15 share: memory, random numbers, the phase that is timed.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   A client makes its data, runs measured() once, and prints the processor time of that alone.
   Under tlbgrind, --toggle-collect=measured counts the same phase.  TIMED_HUGE in the environment
   asks for huge pages: whether malloc does by GLIBC_TUNABLES can hang on what its stack had. */

#ifndef TIMED_H
#define TIMED_H

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define MEASURED __attribute__((noinline, noclone))

static inline uint64_t next_random(uint64_t* state)
{
   uint64_t x = *state;
   x ^= x << 13;
   x ^= x >> 7;
   x ^= x << 17;
   return *state = x;
}

/* A number from 0 to below n: without a division, which would be most of the work. */
static inline uint64_t below(uint64_t random, uint64_t n)
{
   return (uint64_t)(((unsigned __int128)random * n) >> 64);
}

/* Never given back, and all of it in pages of one kind: it begins and ends at a multiple of 2M. */
static inline void* memory(size_t bytes)
{
   const size_t huge = (size_t)2 << 20;
   const size_t whole = (bytes + huge - 1) / huge * huge;
   char* const got =
      mmap(NULL, whole + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   if (got == MAP_FAILED) {
      fputs("no memory\n", stderr);
      exit(1);
   }
   char* const begin = got + (huge - (uintptr_t)got % huge) % huge;
   if (madvise(begin, whole, getenv("TIMED_HUGE") ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0) {
      fputs("this kernel has no huge pages\n", stderr);
      exit(1);
   }
   return begin;
}

static inline size_t argument(int argc, char** argv, int at)
{
   if (at >= argc) {
      fputs("an argument is missing\n", stderr);
      exit(2);
   }
   return strtoul(argv[at], NULL, 10);
}

static inline double processor_seconds(void)
{
   struct timespec now;
   clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
   return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The sum is printed so that no compiler leaves the work out. */
static inline void tell(double seconds, uint64_t sum)
{
   printf("seconds %.6f sum %llu\n", seconds, (unsigned long long)sum);
}

#endif
