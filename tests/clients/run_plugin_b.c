/* The other of two plugins for run_code: see run_plugin_a.c.  Its code has the same size and stands
   at the same addresses.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

static int state[64];

/* Some lines on purpose, so that no line number is that of the other. */


__attribute__((noinline)) static int deeper_b(int n)
{
   state[n & 63] -= n;
   return state[(n + 2) & 63];
}


int plugin(int n)
{
   const int below = deeper_b(n);
   state[2] = below + 2;
   return below + n;
}
