/* One of two plugins for run_code.  Straight-line code, so that the test can count it by hand.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

static int state[64];

__attribute__((noinline)) static int deeper_a(int n)
{
   state[n & 63] += n;
   return state[(n + 1) & 63];
}

int plugin(int n)
{
   const int below = deeper_a(n);
   state[1] = below + 1;
   return below + n;
}
