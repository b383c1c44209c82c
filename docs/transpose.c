/* transpose.c -- an example of the manual: a matrix is transposed twice.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdio.h>

enum { N = 1024, BLOCK = 16 };

/* One row is 8192 bytes, two pages of 4 KiB. */
double from[N][N], to[N][N];

__attribute__((noinline)) void by_rows(void)
{
   for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
         to[j][i] = from[i][j];
}

__attribute__((noinline)) void by_blocks(void)
{
   for (int i = 0; i < N; i += BLOCK)
      for (int j = 0; j < N; j += BLOCK)
         for (int y = i; y < i + BLOCK; y++)
            for (int x = j; x < j + BLOCK; x++)
               to[x][y] = from[y][x];
}

int main(void)
{
   by_rows();
   by_blocks();
   printf("%g\n", to[1][2]);
   return 0;
}
