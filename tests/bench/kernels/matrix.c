/* matrix.c -- the product of two matrices, row by column.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   matrix N: matrices of N by N doubles.  The inner loop goes down a column: with N >= 512 each step
   is on a page of its own. */

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv)
{
   if (argc != 2)
      return 2;
   size_t n = strtoul(argv[1], NULL, 10);
   double* a = malloc(n * n * sizeof *a);
   double* b = malloc(n * n * sizeof *b);
   double* c = malloc(n * n * sizeof *c);
   if (!a || !b || !c)
      return 1;
   for (size_t i = 0; i < n * n; i++) {
      a[i] = (double)(i % 7);
      b[i] = (double)(i % 11);
   }
   for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < n; j++) {
         double sum = 0;
         for (size_t k = 0; k < n; k++)
            sum += a[i * n + k] * b[k * n + j];
         c[i * n + j] = sum;
      }
   double sum = 0;
   for (size_t i = 0; i < n * n; i++)
      sum += c[i];
   printf("%g\n", sum);
   return 0;
}
