/* Conditions of two parts, the second of which is reached only sometimes.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   Where Vex follows jumps it makes one block of both parts and runs the second in any case: a tool
   would count instructions that the processor never comes to. */

#include "run_work.h"

enum { ROUNDS = 1000 };

#ifdef __i386__
#define A "%eax"
#define B "%edx"
#define N "%ecx"
#define CALL __attribute__((regparm(3)))
#else
#define A "%rdi"
#define B "%rsi"
#define N "%rdx"
#define CALL
#endif

/* void NAME(long a, long b, long n): n rounds. */
#define LOOP(name, body)                                                                           \
   __asm__(".text\n .globl " #name "\n .type " #name ", @function\n" #name ":\n1:\n" body          \
           " dec " N "\n jnz 1b\n ret\n .size " #name ", . - " #name "\n");                        \
   CALL void name(long a, long b, long n)

/* Every branch of a part goes forward and over what follows. */
#define TAKES(way) LOOP(both_zero_##way,                                                           \
     "test " A ", " A "\n jnz 2f\n test " B ", " B "\n jnz 2f\n nop\n nop\n nop\n2:\n");           \
   LOOP(both_set_##way,                                                                            \
     "test " A ", " A "\n jz 2f\n test " B ", " B "\n jz 2f\n nop\n nop\n nop\n2:\n");             \
   LOOP(one_set_##way,                                                                             \
     "test " A ", " A "\n jnz 2f\n test " B ", " B "\n jz 3f\n2: nop\n nop\n nop\n3:\n")

/* One function for each pair of values, so that each is counted by itself. */
TAKES(00);
TAKES(01);
TAKES(10);
TAKES(11);

/* Per round: the first part, the second if it is reached, the three nops if they are, the loop. */
static void expect_rounds(const char *function, int second, int inside)
{
   expect(function, (2L + 2 * second + 3 * inside + 2) * ROUNDS + 1, 1, 0);
}

#define RUN(a, b)                                                                                  \
   both_zero_##a##b(a, b, ROUNDS);                                                                 \
   both_set_##a##b(a, b, ROUNDS);                                                                  \
   one_set_##a##b(a, b, ROUNDS);                                                                   \
   expect_rounds("both_zero_" #a #b, !a, !a && !b);                                                \
   expect_rounds("both_set_" #a #b, a, a && b);                                                    \
   expect_rounds("one_set_" #a #b, !a, a || b)

int main(void)
{
   RUN(0, 0);
   RUN(0, 1);
   RUN(1, 0);
   RUN(1, 1);
   return 0;
}
