/* timed_sparse.c -- multiplies a sparse matrix in CSR form with a vector.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   timed_sparse ROWS TIMES: 8 numbers in each row, at random columns. */

#include "timed.h"

enum { IN_ROW = 8 };

struct matrix {
   size_t    rows;
   uint32_t* starts;
   uint32_t* columns;
   double*   values;
};

static MEASURED void measured(const struct matrix* m, const double* x, double* y, size_t times)
{
   for (size_t t = 0; t < times; t++)
      for (size_t row = 0; row < m->rows; row++) {
         double sum = 0;
         for (uint32_t i = m->starts[row]; i < m->starts[row + 1]; i++)
            sum += m->values[i] * x[m->columns[i]];
         y[row] = sum;
      }
}

int main(int argc, char** argv)
{
   const size_t rows = argument(argc, argv, 1);
   const size_t times = argument(argc, argv, 2);
   const struct matrix m = {
      rows,
      memory((rows + 1) * sizeof *m.starts),
      memory(rows * IN_ROW * sizeof *m.columns),
      memory(rows * IN_ROW * sizeof *m.values),
   };
   double* const x = memory(rows * sizeof *x);
   double* const y = memory(rows * sizeof *y);
   uint64_t state = 88172645463325252u;
   for (size_t row = 0; row < rows; row++) {
      m.starts[row] = (uint32_t)(row * IN_ROW);
      x[row] = (double)(row % 10);
      y[row] = 0;
      for (size_t i = row * IN_ROW; i < (row + 1) * IN_ROW; i++) {
         m.columns[i] = (uint32_t)below(next_random(&state), rows);
         m.values[i] = 1;
      }
   }
   m.starts[rows] = (uint32_t)(rows * IN_ROW);
   const double start = processor_seconds();
   measured(&m, x, y, times);
   const double seconds = processor_seconds() - start;
   double sum = 0;
   for (size_t row = 0; row < rows; row++)
      sum += y[row];
   tell(seconds, (uint64_t)sum);
   return 0;
}
