/* Calls of every kind, a known number of each.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLED __attribute__((noinline, noclone, used)) static

enum { PAGES = 300, ROUNDS = 7 };

static volatile char *memory;
static volatile int depth;
static jmp_buf back;

/* Touches pages, so that it has misses of its own. */
CALLED void leaf(int n)
{
   for (int i = 0; i < n; i++)
      memory[4096L * (i % PAGES)]++;
}

CALLED void middle(int n)
{
   leaf(n);
   leaf(2 * n);
}

CALLED int recursive(int n)
{
   leaf(10);
   return n == 0 ? 0 : recursive(n - 1) + 1;
}

CALLED void odd(int n);

CALLED void even(int n)
{
   leaf(3);
   if (n > 0)
      odd(n - 1);
   depth++;
}

CALLED void odd(int n)
{
   if (n > 0)
      even(n - 1);
   depth++;
}

CALLED void jumps(int n)
{
   leaf(n);
   if (n == 0)
      longjmp(back, 1);
   jumps(n - 1);
   depth++;
}

CALLED void caught(void)
{
   if (setjmp(back) == 0)
      jumps(20);
   leaf(1);
}

CALLED void handler(int signal)
{
   (void)signal;
   leaf(50);
}

CALLED void escapes(int signal)
{
   (void)signal;
   leaf(5);
   siglongjmp(back, 1);
}

CALLED void raised(void)
{
   raise(SIGUSR1);
   leaf(1);
}

CALLED void escaped(void)
{
   if (sigsetjmp(back, 1) == 0)
      raise(SIGUSR2);
   leaf(1);
}

CALLED void *thread(void *arg)
{
   for (int i = 0; i < ROUNDS; i++)
      middle(100 + (int)(long)arg);
   return NULL;
}

int main(int argc, char **argv)
{
   pthread_t other;
   (void)argv;
   memory = mmap(NULL, PAGES * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   signal(SIGUSR1, handler);
   signal(SIGUSR2, escapes);
   for (int i = 0; i < ROUNDS; i++)
      middle(200);
   recursive(11);
   even(9);
   for (int i = 0; i < ROUNDS; i++)
      caught();
   if (argc > 1) {
      for (int i = 0; i < ROUNDS; i++)
         raised();
      for (int i = 0; i < ROUNDS; i++)
         escaped();
      pthread_create(&other, NULL, thread, NULL);
      thread((void *)1L);
      pthread_join(other, NULL);
      const pid_t child = fork();
      if (child == 0) {
         middle(10);
         _exit(0);
      }
      waitpid(child, NULL, 0);
   }
   printf("%d\n", depth);
   return 0;
}
