/* timed_stream.c -- the four sweeps of STREAM over three arrays: copy, scale, add, triad.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   timed_stream N TIMES: N doubles in each array. */

#include "timed.h"

static MEASURED void measured(double* a, double* b, double* c, size_t n, size_t times)
{
   for (size_t t = 0; t < times; t++) {
      for (size_t i = 0; i < n; i++)
         c[i] = a[i];
      for (size_t i = 0; i < n; i++)
         b[i] = 0.5 * c[i];
      for (size_t i = 0; i < n; i++)
         c[i] = a[i] + b[i];
      for (size_t i = 0; i < n; i++)
         a[i] = b[i] + 0.25 * c[i];
   }
}

int main(int argc, char** argv)
{
   const size_t n = argument(argc, argv, 1);
   const size_t times = argument(argc, argv, 2);
   double* const a = memory(n * sizeof *a);
   double* const b = memory(n * sizeof *b);
   double* const c = memory(n * sizeof *c);
   for (size_t i = 0; i < n; i++) {
      a[i] = 1;
      b[i] = 2;
      c[i] = 0;
   }
   const double start = processor_seconds();
   measured(a, b, c, n, times);
   const double seconds = processor_seconds() - start;
   double sum = 0;
   for (size_t i = 0; i < n; i++)
      sum += a[i] + b[i] + c[i];
   tell(seconds, (uint64_t)sum);
   return 0;
}
