/* Signals of every kind; the first argument says which.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   An instruction that faults has been attempted: it counts then, and again when it is resumed. */

#define _GNU_SOURCE
#include "run_work.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

enum { ROUNDS = 1000 };

#ifdef __i386__
#define A "%eax"
#define D "%edx"
#define C "%ecx"
#else
#define A "%rdi"
#define D "%rsi"
#define C "%rax"
#endif

#define FUNCTION(name, body)                                                                       \
   __asm__(".text\n .globl " #name "\n .type " #name ", @function\n" #name ":\n" body "ret\n"      \
           ".size " #name ", . - " #name "\n");                                                    \
   WORK_CALL void name(void *a, void *d)

WORK(in_handler);
WORK(outside);

/* `a` lies in a page that faults once, `d` in memory that never does. The comments say which
   instruction faults. Nothing is loaded in vain, for Valgrind drops such loads. */
FUNCTION(first_read, "mov (" A "), " C "\n"       /* faults */
                     "mov " C ", 8(" D ")\n");
FUNCTION(middle_read, "mov (" D "), " C "\n"
                      "mov " C ", 8(" D ")\n"
                      "add 8(" A "), " C "\n"     /* faults */
                      "add 16(" A "), " C "\n"
                      "mov " C ", 16(" D ")\n");
FUNCTION(late_write, "mov (" D "), " C "\n"
                     "mov " C ", 24(" D ")\n"
                     "mov " C ", 24(" A ")\n"     /* faults */
                     "mov " C ", 32(" A ")\n");
FUNCTION(modify, "mov (" D "), " C "\n"
                 "addl $1, 40(" A ")\n"           /* faults */
                 "mov " C ", 24(" D ")\n");
FUNCTION(straddle, "movl -4(" A "), %ecx\n"
                   "addl -1(" A "), %ecx\n"       /* faults */
                   "addl -2(" A "), %ecx\n"
                   "movl %ecx, 8(" D ")\n");
FUNCTION(compare_swap, "mov (" D "), " C "\n"
                       "lock cmpxchgl %ecx, 40(" A ")\n"  /* faults */
                       "mov " C ", 24(" D ")\n");
FUNCTION(float_save, "mov (" D "), " C "\n"
                     "fnsave 64(" A ")\n"         /* faults */
                     "mov " C ", 24(" D ")\n");
/* *d is 0, so it divides by 0. */
FUNCTION(divide, "mov (" D "), %ecx\n"
                 "mov $7, %eax\n"
                 "cltd\n"
                 "add $1, %eax\n"
                 "idiv %ecx\n"                    /* faults */
                 "add $1, %eax\n"
                 "mov %eax, 8(" A ")\n");
FUNCTION(undefined, "mov (" D "), " C "\n"
                    "add $1, %ecx\n"
                    "ud2\n"                       /* faults */
                    "mov " C ", 8(" D ")\n");

/* Word after word, until one faults. */
FUNCTION(walk, "1: movl $1, (" A ")\n"
               "add $8, " A "\n"
               "jmp 1b\n");

static long page;
static char *bad;   /* the page that faults */
static long *good;
static int allow = PROT_READ | PROT_WRITE;
static volatile long handled;
static sigjmp_buf back;
static char alternate[64 * 1024];

static void allow_access(int signal, siginfo_t *info, void *context)
{
   (void)signal; (void)context;
   char *at = info->si_addr;
   if (at < bad - 8 || at >= bad + page)
      _exit(9);
   handled++;
   mprotect(bad, (size_t)page, allow);
}

static void jump_out(int signal)
{
   handled++;
   siglongjmp(back, signal);
}

static void work_and_return(int signal)
{
   (void)signal;
   handled++;
   in_handler(10, good + 512);
}

static void on(int signal, void *handler, int flags)
{
   struct sigaction a;
   memset(&a, 0, sizeof a);
   a.sa_sigaction = (void (*)(int, siginfo_t *, void *))handler;
   a.sa_flags = SA_SIGINFO | flags;
   sigaction(signal, &a, NULL);
}

static void refuse(int forbidden)
{
   mprotect(bad, (size_t)page, forbidden);
}

/* Through a pointer, so that the function begins a superblock: Valgrind restores the registers of
   an instruction that faults as the superblock found them, but for the stack pointer. */
typedef WORK_CALL void faulting(void *, void *);

static void call(faulting *volatile function)
{
   function(bad, good);
}

/* Each function so often, resumed each time. */
static void resume(int forbidden, int reads_fault)
{
   on(SIGSEGV, allow_access, SA_ONSTACK);
#define FAULT(function) refuse(forbidden); call(function)
   for (int i = 0; i < ROUNDS; i++) {
      FAULT(late_write);
      FAULT(modify);
      FAULT(compare_swap);
      FAULT(float_save);
      if (!reads_fault)
         continue;
      FAULT(first_read);
      FAULT(middle_read);
      FAULT(straddle);
   }
   expect("late_write", 6 * ROUNDS, 2 * ROUNDS, 4 * ROUNDS);
   expect("modify", 5 * ROUNDS, 4 * ROUNDS, 1 * ROUNDS);
   expect("compare_swap", 5 * ROUNDS, 4 * ROUNDS, 1 * ROUNDS);
   expect("float_save", 5 * ROUNDS, 2 * ROUNDS, 3 * ROUNDS);
   if (reads_fault) {
      expect("first_read", 4 * ROUNDS, 3 * ROUNDS, 1 * ROUNDS);
      expect("middle_read", 7 * ROUNDS, 5 * ROUNDS, 2 * ROUNDS);
      expect("straddle", 6 * ROUNDS, 5 * ROUNDS, 1 * ROUNDS);
   }
   if (handled != (reads_fault ? 7 : 4) * ROUNDS)
      _exit(8);
}

static void fetch(void)
{
   static const unsigned char code[] = { 0x90, 0x90, 0x90, 0xc3 };
   on(SIGSEGV, allow_access, 0);
   memcpy(bad + 100, code, sizeof code);
   allow = PROT_READ | PROT_EXEC;
   for (int i = 0; i < ROUNDS; i++) {
      refuse(PROT_NONE);
      ((void (*)(void))(bad + 100))();
   }
   expect("?""?""?", 4 * ROUNDS, ROUNDS, 0);
   if (handled != ROUNDS)
      _exit(8);
}

/* Out of the handler and not back into the function. */
static void leave(int signal)
{
   on(signal, jump_out, signal == SIGSEGV ? SA_ONSTACK : 0);
   refuse(PROT_NONE);
   for (int i = 0; i < ROUNDS; i++) {
      if (sigsetjmp(back, 1) == 0) {
         if (signal == SIGSEGV)
            call(middle_read);
         else if (signal == SIGFPE)
            call(divide);
         else
            call(undefined);
         _exit(7);
      }
   }
   if (signal == SIGSEGV)
      expect("middle_read", 3 * ROUNDS, 2 * ROUNDS, 1 * ROUNDS);
   else if (signal == SIGFPE)
      expect("divide", 5 * ROUNDS, 1 * ROUNDS, 0);
   else
      expect("undefined", 3 * ROUNDS, 1 * ROUNDS, 0);
   if (handled != ROUNDS)
      _exit(8);
}

/* A loop without an end but the fault: its last round is the first instruction alone. */
static void walk_out(void)
{
   long rounds = 0;
   on(SIGSEGV, jump_out, SA_ONSTACK);
   refuse(PROT_NONE);
   for (volatile int n = 0; n < 100; n++) {
      rounds += n;
      if (sigsetjmp(back, 1) == 0) {
         faulting *volatile function = walk;
         function(bad - 8 * n, good);
         _exit(7);
      }
   }
   expect("walk", 3 * rounds + 100, 0, rounds + 100);
   if (handled != 100)
      _exit(8);
}

/* A write that faults, by an instruction on two pages or on one: what is counted must differ only
   in the straddles. */
static void fetch_and_fault(int straddles)
{
   unsigned char *code = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE | PROT_EXEC,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   volatile unsigned char *at = code + page + (straddles ? -3 : 3);
#ifdef __i386__
   const int to = (int)bad;
#else
   const int to = (int)(bad - (char *)(at + 7));
   if ((char *)at + 7 + to != bad)
      _exit(9);
#endif
   at[0] = 0xc6; /* movb $1, bad */
   at[1] = 0x05;
   for (int i = 0; i < 4; i++)
      at[2 + i] = (unsigned char)((unsigned)to >> 8 * i);
   at[6] = 1;
   at[7] = 0xc3;
   on(SIGSEGV, jump_out, SA_ONSTACK);
   refuse(PROT_NONE);
   for (volatile int i = 0; i < ROUNDS; i++) {
      if (sigsetjmp(back, 1) == 0) {
         ((void (*)(void))(long)at)();
         _exit(7);
      }
   }
   expect("?""?""?", ROUNDS, 0, ROUNDS);
   if (handled != ROUNDS)
      _exit(8);
}

static void sent(void)
{
   on(SIGUSR1, work_and_return, SA_ONSTACK);
   for (int i = 0; i < ROUNDS; i++) {
      outside(20, good);
      raise(SIGUSR1);
   }
   expect_work("outside", 20L * ROUNDS, ROUNDS);
   expect_work("in_handler", 10L * ROUNDS, ROUNDS);
}

static void storm(void)
{
   const struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { { 0, 0 }, { 0, 0 } };
   long rounds = 0;
   on(SIGALRM, work_and_return, SA_ONSTACK);
   setitimer(ITIMER_REAL, &often, NULL);
   while (handled < 50) {
      outside(500, good);
      rounds++;
   }
   setitimer(ITIMER_REAL, &never, NULL);
   signal(SIGALRM, SIG_IGN);
   expect_work("outside", 500 * rounds, rounds);
   expect_work("in_handler", 10 * handled, handled);
}

int main(int argc, char **argv)
{
   const char *what = argc > 1 ? argv[1] : "";
   const stack_t stack = { .ss_sp = alternate, .ss_size = sizeof alternate };
   sigaltstack(&stack, NULL);
   page = sysconf(_SC_PAGESIZE);
   char *pages = mmap(NULL, 4 * (size_t)page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   bad = pages + page;
   good = (long *)(void *)(pages + 2 * page);

   if (strcmp(what, "none") == 0)
      resume(PROT_NONE, 1);
   else if (strcmp(what, "read-only") == 0)
      resume(PROT_READ, 0);
   else if (strcmp(what, "fetch") == 0)
      fetch();
   else if (strcmp(what, "segv-out") == 0)
      leave(SIGSEGV);
   else if (strcmp(what, "fpe-out") == 0)
      leave(SIGFPE);
   else if (strcmp(what, "ill-out") == 0)
      leave(SIGILL);
   else if (strcmp(what, "walk-out") == 0)
      walk_out();
   else if (strcmp(what, "one-page") == 0)
      fetch_and_fault(0);
   else if (strcmp(what, "two-page") == 0)
      fetch_and_fault(1);
   else if (strcmp(what, "sent") == 0)
      sent();
   else if (strcmp(what, "storm") == 0)
      storm();
   else
      return 2;
   return 0;
}
