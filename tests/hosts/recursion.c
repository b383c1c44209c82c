/* A program whose calls are known: recursion, with a jump between its calls and its end.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdio.h>

__attribute__((noinline)) long fib(long n)
{
   return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(void)
{
   printf("%ld\n", fib(12));
   return 0;
}
