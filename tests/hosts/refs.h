/* What the programs with known references share, for any architecture.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   Prints "expect FUNCTION Ir Dr Dw". The functions are assembly, so that the compiler has no say.
   An architecture's file defines COMMON (instructions that begin each function, of COMMON_IR, which
   refer to no data), END (one instruction that returns), LIST of FUNCTION(name, Ir, Dr, Dw, body),
   and CLOBBERED (the registers that the functions may change). */

#include <stdio.h>

unsigned char here[3 * 65536] __attribute__((aligned(65536)));
unsigned char there[3 * 65536] __attribute__((aligned(65536)));

#define FUNCTION(name, ir, dr, dw, body) \
   __asm__("        .text\n" \
           "        .balign 8\n" \
           "        .globl " #name "\n" \
           "        .type " #name ", %function\n" \
           #name ":\n" COMMON body END \
           "        .size " #name ", . - " #name "\n"); \
   void name(void *, void *);

LIST
#undef FUNCTION

enum { CALLS = 3 };

static void count(const char *name, void (*function)(void *, void *), int ir, int dr, int dw)
{
   for (int i = 0; i < CALLS; i++) {
      function(here, there);
      __asm__ volatile("" : : : CLOBBERED);
   }
   printf("expect %s %d %d %d\n", name, CALLS * (ir + COMMON_IR + 1), CALLS * dr, CALLS * dw);
}

int main(void)
{
#define FUNCTION(name, ir, dr, dw, body) count(#name, name, ir, dr, dw);
   LIST
   return 0;
}
