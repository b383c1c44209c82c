/* Work of a known size, and what it must be counted as.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef RUN_WORK_H
#define RUN_WORK_H

#include <stdio.h>
#include <unistd.h>

#ifdef __i386__
#define WORK_CALL __attribute__((regparm(2)))
#define WORK_BODY "1: mov (%edx), %ecx\n mov %ecx, 8(%edx)\n sub $1, %eax\n jnz 1b\n ret\n"
#else
#define WORK_CALL
#define WORK_BODY "1: mov (%rsi), %rax\n mov %rax, 8(%rsi)\n sub $1, %rdi\n jnz 1b\n ret\n"
#endif

/* void NAME(long n, long *p): reads p[0] and writes the word 8 bytes on, n times. Without debug
   information, hence in file ???. */
#define WORK(name)                                                                                 \
   __asm__(".text\n .globl " #name "\n .type " #name ", @function\n" #name ":\n" WORK_BODY         \
           ".size " #name ", . - " #name "\n");                                                    \
   WORK_CALL void name(long n, long *p)

#define WORK_IR(n, calls) (4L * (n) + (calls))
#define WORK_DR(n, calls) (1L * (n) + (calls))
#define WORK_DW(n, calls) (1L * (n))

/* Above all pids. A sum with it has eight digits, so that to print it takes as many
   instructions whatever the pid is. */
#define PIDS_FROM 10000000

/* One line for the test: this process must count so much in that function. */
static inline void expect(const char *function, long ir, long dr, long dw)
{
   dprintf(1, "expect %d %s %ld %ld %ld\n", PIDS_FROM + (int)getpid(), function, ir, dr, dw);
}

/* n: over all calls. */
static inline void expect_work(const char *function, long n, long calls)
{
   expect(function, WORK_IR(n, calls), WORK_DR(n, calls), WORK_DW(n, calls));
}

#endif
