/* Visits known numbers of pages in each phase.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   Prints "PHASE PAGES" for each phase. In the third one it goes from one area to the other after
   more instructions than the first samples are apart. */

#include <stdio.h>

#include "tlbgrind.h"

enum { PAGE = 4096, FEW = 40, MANY = 100 };

static volatile char few[FEW * PAGE] __attribute__((aligned(4096)));
static volatile char many[MANY * PAGE] __attribute__((aligned(4096)));

/* All data that it refers to are these pages: the rest is in registers. */
__attribute__((noinline, aligned(4096))) static void visit(volatile char *area, int pages,
                                                           int rounds)
{
   for (int r = 0; r < rounds; r++)
      for (int i = 0; i < pages; i++)
         (void)area[i * PAGE];
}

int main(void)
{
   printf("few %d\nmany %d\nboth %d\n", FEW, MANY, FEW + MANY);
   fflush(stdout);
   TLBGRIND_MARK("few");
   visit(few, FEW, 20000);
   TLBGRIND_MARK("many");
   visit(many, MANY, 20000);
   TLBGRIND_MARK("both");
   for (int i = 0; i < 60; i++) {
      visit(few, FEW, 250);
      visit(many, MANY, 100);
   }
   TLBGRIND_MARK("end");
   return 0;
}
