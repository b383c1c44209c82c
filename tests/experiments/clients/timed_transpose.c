/* timed_transpose.c -- transposes a square matrix: reads rows, writes columns.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   timed_transpose N TIMES: N by N numbers of 8 bytes; N is to be no power of two, whose columns
   would lie in a few sets of the caches. */

#include "timed.h"

static MEASURED void measured(const double* from, double* to, size_t n, size_t times)
{
   for (size_t t = 0; t < times; t++)
      for (size_t i = 0; i < n; i++)
         for (size_t j = 0; j < n; j++)
            to[j * n + i] = from[i * n + j];
}

int main(int argc, char** argv)
{
   const size_t n = argument(argc, argv, 1);
   const size_t times = argument(argc, argv, 2);
   double* const from = memory(n * n * sizeof *from);
   double* const to = memory(n * n * sizeof *to);
   for (size_t i = 0; i < n * n; i++) {
      from[i] = (double)(i % 1000);
      to[i] = 0;
   }
   const double start = processor_seconds();
   measured(from, to, n, times);
   tell(processor_seconds() - start, (uint64_t)to[n / 2 * n + n / 3]);
   return 0;
}
