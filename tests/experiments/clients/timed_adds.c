/* timed_adds.c -- how long a cycle is: a chain of additions, each of which takes one.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   timed_adds ROUNDS: 100 dependent additions in each round. */

#include "timed.h"

#define TEN(x) x x x x x x x x x x
#if defined __x86_64__
#define ADD "addq %1, %0\n"
#elif defined __aarch64__ || defined __powerpc64__ || defined __riscv
#define ADD "add %0, %0, %1\n"
#endif

static MEASURED uint64_t measured(size_t rounds, uint64_t step)
{
   uint64_t sum = 0;
   for (size_t i = 0; i < rounds; i++)
      __asm__ volatile(TEN(TEN(ADD)) : "+r"(sum) : "r"(step));
   return sum;
}

int main(int argc, char** argv)
{
   const size_t rounds = argument(argc, argv, 1);
   const double start = processor_seconds();
   const uint64_t sum = measured(rounds, 1);
   tell(processor_seconds() - start, sum);
   return 0;
}
