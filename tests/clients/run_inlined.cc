/* Two tables that are read through the same inlined functions, a known number of times each.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "run_inlined.h"

enum { MANY = 64, FEW = 32, MANY_ROUNDS = 10, FEW_ROUNDS = 5 };

__attribute__((aligned(PAGE))) static Pages<MANY> many;
__attribute__((aligned(PAGE))) static Pages<FEW> few;
static volatile int noted;

void note(int n)
{
   noted = noted + n;
}

int main()
{
   int sum = 0;
   for (int i = 0; i < MANY_ROUNDS; i++)
      sum += sum_of(many); /* many */
   for (int i = 0; i < FEW_ROUNDS; i++)
      sum += sum_of(few); /* few */
   return sum;
}
