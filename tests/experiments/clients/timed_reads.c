/* timed_reads.c -- reads words at random places, none of which waits for another.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   timed_reads MIB READS WORK: after each read WORK steps of arithmetic that depend on its word. */

#include "timed.h"

static MEASURED uint64_t measured(const uint64_t* words, size_t n, size_t reads, size_t work)
{
   uint64_t state = 88172645463325252u;
   uint64_t sum = 0;
   for (size_t i = 0; i < reads; i++) {
      uint64_t value = words[below(next_random(&state), n)];
      for (size_t k = 0; k < work; k++)
         value = value * 3 + k;
      sum += value;
   }
   return sum;
}

int main(int argc, char** argv)
{
   const size_t n = argument(argc, argv, 1) * 1024 * 1024 / sizeof(uint64_t);
   const size_t reads = argument(argc, argv, 2);
   const size_t work = argument(argc, argv, 3);
   uint64_t* const words = memory(n * sizeof *words);
   for (size_t i = 0; i < n; i++)
      words[i] = i * 0x9E3779B97F4A7C15u;
   const double start = processor_seconds();
   const uint64_t sum = measured(words, n, reads, work);
   tell(processor_seconds() - start, sum);
   return 0;
}
