/* stream.c -- the sweeps of the STREAM benchmark over three arrays of N doubles.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   stream NTIMES: 7 + 10 * NTIMES sweeps: init 3, scaling 1, NTIMES x (copy 2,
   scale 2, add 3, triad 3), check 3.  stream -1: none, so that the start-up of the
   program can be taken off.

   To be compiled with -fno-tree-loop-distribute-patterns, or the copy is not a
   loop but a call of memcpy. */

#include <stdio.h>
#include <stdlib.h>

#ifndef N
#define N 131072
#endif

/* On pages of their own: an array that begins within a page has one more. */
static double a[N] __attribute__((aligned(4096)));
static double b[N] __attribute__((aligned(4096)));
static double c[N] __attribute__((aligned(4096)));

int main(int argc, char** argv)
{
   if (argc != 2)
      return 2;
   int ntimes = atoi(argv[1]);
   if (ntimes < 0) {
      printf("%g %g %g\n", 0.0, 0.0, 0.0);
      return 0;
   }
   for (long i = 0; i < N; i++) {
      a[i] = 1;
      b[i] = 2;
      c[i] = 0;
   }
   for (long i = 0; i < N; i++)
      a[i] = 2 * a[i];
   for (int k = 0; k < ntimes; k++) {
      for (long i = 0; i < N; i++)
         c[i] = a[i];
      for (long i = 0; i < N; i++)
         b[i] = 3 * c[i];
      for (long i = 0; i < N; i++)
         c[i] = a[i] + b[i];
      for (long i = 0; i < N; i++)
         a[i] = b[i] + 3 * c[i];
   }
   /* Without -ffast-math the sums stay in order. */
   double sum_a = 0, sum_b = 0, sum_c = 0;
   for (long i = 0; i < N; i++) {
      sum_a += a[i];
      sum_b += b[i];
      sum_c += c[i];
   }
   printf("%g %g %g\n", sum_a / N, sum_b / N, sum_c / N);
   return 0;
}
