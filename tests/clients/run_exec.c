/* run_exec N [PROGRAM N ...]: works N times, then becomes PROGRAM with the arguments that are
   left.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "run_work.h"

#include <stdlib.h>

WORK(work);

static long memory[4096];

int main(int argc, char **argv)
{
   if (argc < 2)
      return 2;
   work(atol(argv[1]), memory);
   if (argc == 2)
      return 6;
   execv(argv[2], argv + 2);
   return 9;
}
