/* stream.c -- the sweeps of the STREAM benchmark over three arrays: copy, scale, add, triad.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   stream N NTIMES: arrays of N doubles, 7 + 10 * NTIMES sweeps: init 3, scaling 1,
   NTIMES x (copy 2, scale 2, add 3, triad 3), check 3.  NTIMES -1: none, so that the start-up of
   the program can be subtracted.

   It needs -fno-tree-loop-distribute-patterns: otherwise the copy is a call of memcpy. */

#include <stdio.h>
#include <stdlib.h>

/* On pages of its own: an array that begins within a page has one more. */
static double* array(size_t n)
{
   enum { PAGE = 4096 };
   return aligned_alloc(PAGE, (n * sizeof(double) + PAGE - 1) / PAGE * PAGE);
}

int main(int argc, char** argv)
{
   if (argc != 3)
      return 2;
   const size_t n = strtoul(argv[1], NULL, 10);
   const int ntimes = atoi(argv[2]);
   double* const a = array(n);
   double* const b = array(n);
   double* const c = array(n);
   if (!a || !b || !c)
      return 1;
   double sum = 0;
   if (ntimes >= 0) {
      for (size_t i = 0; i < n; i++) {
         a[i] = 1;
         b[i] = 2;
         c[i] = 0;
      }
      for (size_t i = 0; i < n; i++)
         a[i] = 2 * a[i];
      for (int k = 0; k < ntimes; k++) {
         for (size_t i = 0; i < n; i++)
            c[i] = a[i];
         for (size_t i = 0; i < n; i++)
            b[i] = 0.5 * c[i];
         for (size_t i = 0; i < n; i++)
            c[i] = a[i] + b[i];
         for (size_t i = 0; i < n; i++)
            a[i] = b[i] + 0.25 * c[i];
      }
      for (size_t i = 0; i < n; i++)
         sum += a[i] + b[i] + c[i];
   }
   printf("%g\n", sum);
   return 0;
}
