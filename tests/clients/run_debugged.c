/* Something for a debugger to stop in.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "run_work.h"

enum { ROUNDS = 100, N = 20 };

static volatile int numbers[8] = { 1, 2, 3 };
static volatile int last;

__attribute__((noinline)) int work(int n)
{
   int sum = 0; /* break: begin */
   for (int i = 0; i < n; i++) {
      sum += numbers[i & 7]; /* break: first */
      numbers[(i + 1) & 7] = sum; /* break: second */
      sum ^= numbers[(i + 3) & 7];
   }
   last = sum; /* break: end */
   return sum;
}

WORK(plain);

int main(void)
{
   static long memory[2];
   int sum = 0;
   for (int i = 0; i < ROUNDS; i++) {
      sum += work(N);
      plain(N, memory); /* break: main */
   }
   expect_work("plain", ROUNDS * N, ROUNDS);
   return sum == 1;
}
