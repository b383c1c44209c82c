/* stream.c -- four sweeps over three arrays: copy, scale, add, triad.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   stream N NTIMES: arrays of N doubles.  Sweeps: init 3, scaling 1, NTIMES x (2 + 2 + 3 + 3), check 3. */

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv)
{
   if (argc != 3)
      return 2;
   size_t n = strtoul(argv[1], NULL, 10);
   int ntimes = atoi(argv[2]);
   double* a = malloc(n * sizeof *a);
   double* b = malloc(n * sizeof *b);
   double* c = malloc(n * sizeof *c);
   if (!a || !b || !c)
      return 1;
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
   double sum = 0;
   for (size_t i = 0; i < n; i++)
      sum += a[i] + b[i] + c[i];
   printf("%g\n", sum);
   return 0;
}
