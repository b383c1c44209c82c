/* Eight threads, each with work of its own and work of all.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "run_work.h"

#include <pthread.h>
#include <sched.h>

enum { THREADS = 8, ROUNDS = 50 };

WORK(work0); WORK(work1); WORK(work2); WORK(work3);
WORK(work4); WORK(work5); WORK(work6); WORK(work7);
WORK(shared);

typedef WORK_CALL void work_function(long, long *);
static work_function *const own[THREADS] = { work0, work1, work2, work3,
                                             work4, work5, work6, work7 };
static long memory[THREADS][4096];

static void *run(void *arg)
{
   const long i = (long)arg;
   for (long round = 0; round < ROUNDS; round++) {
      own[i](1000 * (i + 1), memory[i] + 512 * (round % 8));
      shared(100 * (i + 1), memory[(i + round) % THREADS]);
      sched_yield();
   }
   return NULL;
}

int main(void)
{
   pthread_t thread[THREADS];
   for (long i = 0; i < THREADS; i++)
      pthread_create(&thread[i], NULL, run, (void *)i);
   for (int i = 0; i < THREADS; i++)
      pthread_join(thread[i], NULL);
   for (int i = 0; i < THREADS; i++) {
      char name[] = { 'w', 'o', 'r', 'k', (char)('0' + i), 0 };
      expect_work(name, 1000L * (i + 1) * ROUNDS, ROUNDS);
   }
   expect_work("shared", 100L * 36 * ROUNDS, (long)THREADS * ROUNDS);
   return 0;
}
