/* timed.h -- what the clients of E15 have in common: memory, random numbers, the phase that is timed.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   A client makes its data, runs measured() once, and prints the processor time of that alone.
   Under tlbgrind, --toggle-collect=measured counts the same phase.  Memory comes from malloc in
   large pieces, so that GLIBC_TUNABLES decides which pages it has, natively and simulated. */

#ifndef TIMED_H
#define TIMED_H

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

static inline void* memory(size_t bytes)
{
   void* const got = malloc(bytes);
   if (!got) {
      fputs("no memory\n", stderr);
      exit(1);
   }
   return got;
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
