/* Exceptions that leave several functions, and tail calls, a known number of each.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <cstdio>

#define CALLED __attribute__((noinline, noclone, used)) static

enum { ROUNDS = 5, DEPTH = 6 };

static volatile int sum;

CALLED void leaf(int n)
{
   sum = sum + n;
}

/* Throws from DEPTH frames below. */
CALLED void falls(int n)
{
   leaf(n);
   if (n == 0)
      throw n;
   falls(n - 1);
   leaf(n);
}

CALLED void catches()
{
   try {
      falls(DEPTH);
   } catch (int n) {
      leaf(n);
   }
   leaf(1);
}

CALLED int last(int n)
{
   leaf(n);
   return n + 1;
}

static int (*volatile through)(int) = last;

/* Both call in the place of a return. */
__attribute__((optimize("optimize-sibling-calls"))) CALLED int passes(int n)
{
   leaf(n);
   return last(n + 1);
}

__attribute__((optimize("optimize-sibling-calls"))) CALLED int points(int n)
{
   leaf(n);
   return through(n + 1);
}

int main()
{
   for (int i = 0; i < ROUNDS; i++)
      catches();
   for (int i = 0; i < ROUNDS; i++)
      sum = sum + passes(i) + points(i);
   std::printf("%d\n", sum);
   return 0;
}
