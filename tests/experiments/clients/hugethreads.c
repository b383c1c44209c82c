/* Threads that fill memory of their own: hugethreads THREADS MEGABYTES. They take turns,
   one starts when the one before has had its first, and none ends before all are done,
   so that each run asks the kernel for the same memory in the same order.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, PIECES = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned turn, threads;
static size_t bytes;
static unsigned long sum;

/* Until so many turns have been taken; with the lock. */
static void wait_for(unsigned turns)
{
   while (turn < turns)
      pthread_cond_wait(&changed, &lock);
}

static void fill(unsigned me, unsigned piece)
{
   const size_t part = bytes / PIECES;
   if (piece % 2 == 0) { /* in one block */
      char *const all = malloc(part);
      memset(all, (int)me + 1, part);
      sum += (unsigned char)all[part / 2];
      return;
   }
   for (size_t done = 0; done < part;) { /* in small ones */
      const size_t size = 64 + (done + me) % 1000;
      char *const one = malloc(size);
      memset(one, (int)me + 1, size);
      done += size;
      sum += (unsigned char)one[size - 1];
   }
}

static void *work(void *argument)
{
   const unsigned me = *(const unsigned *)argument;
   pthread_mutex_lock(&lock);
   for (unsigned piece = 0; piece < PIECES; piece++) {
      wait_for(piece * threads + me);
      fill(me, piece);
      turn++;
      pthread_cond_broadcast(&changed);
   }
   wait_for(PIECES * threads + 1);
   return NULL;
}

int main(int argc, char **argv)
{
   pthread_t thread[MOST];
   unsigned number[MOST];
   threads = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
   bytes = (size_t)(argc > 2 ? atoi(argv[2]) : 8) << 20;
   if (threads == 0 || threads > MOST)
      return 2;
   pthread_mutex_lock(&lock);
   for (unsigned i = 0; i < threads; i++) {
      number[i] = i;
      if (pthread_create(&thread[i], NULL, work, &number[i]) != 0)
         return 2;
      wait_for(i + 1);
   }
   wait_for(PIECES * threads);
   printf("%lu\n", sum);
   return 0; /* ends them, too */
}
