/* run_cores.c -- threads that refer to pages in an order that no scheduler changes.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   run_cores one-after-another THREADS PAGES: each reads the same pages,
   begun when the last has ended.
   run_cores in-turn THREADS PAGES ROUNDS: all live, and read the pages in turn, ROUNDS times each.
   run_cores unmaps THREADS PAGES: all have read the pages, and the first thread unmaps them. */

#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, MOST = 16 };

static int threads, pages, rounds = 1;
static volatile char* area;
static int turn = 1, ready, released;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static __attribute__((noinline)) void uses(void)
{
   for (int i = 0; i < pages; i++)
      (void)area[(long)i * PAGE];
}

static __attribute__((noinline)) void unmaps(void)
{
   if (munmap((void*)area, (size_t)pages * PAGE) != 0)
      exit(1);
}

/* The page of these variables is referred to before. */
static void* once(void* arg)
{
   if (area != NULL && pages > 0)
      uses();
   return arg;
}

/* Threads take turns by number, and live until all are released. */
static void* in_turn(void* arg)
{
   const int number = (int)(long)arg;
   pthread_mutex_lock(&mutex);
   for (int i = 0; i < rounds; i++) {
      while (turn != number)
         pthread_cond_wait(&changed, &mutex);
      uses();
      turn = turn == threads ? 1 : turn + 1;
      pthread_cond_broadcast(&changed);
   }
   ready++;
   pthread_cond_broadcast(&changed);
   while (!released)
      pthread_cond_wait(&changed, &mutex);
   pthread_mutex_unlock(&mutex);
   return NULL;
}

static void one_after_another(void)
{
   for (int i = 0; i < threads; i++) {
      pthread_t t;
      if (pthread_create(&t, NULL, once, NULL) != 0)
         exit(2);
      pthread_join(t, NULL);
   }
}

static void together(int unmap)
{
   pthread_t t[MOST];
   for (long i = 0; i < threads; i++) {
      if (pthread_create(&t[i], NULL, in_turn, (void*)(i + 1)) != 0)
         exit(2);
   }
   pthread_mutex_lock(&mutex);
   while (ready < threads)
      pthread_cond_wait(&changed, &mutex);
   if (unmap)
      unmaps();
   released = 1;
   pthread_cond_broadcast(&changed);
   pthread_mutex_unlock(&mutex);
   for (int i = 0; i < threads; i++)
      pthread_join(t[i], NULL);
}

int main(int argc, char** argv)
{
   if (argc < 4)
      return 2;
   threads = atoi(argv[2]);
   pages = atoi(argv[3]);
   area = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   if (area == MAP_FAILED || threads > MOST)
      return 3;
   if (strcmp(argv[1], "one-after-another") == 0) {
      one_after_another();
   } else if (strcmp(argv[1], "in-turn") == 0 && argc == 5) {
      rounds = atoi(argv[4]);
      together(0);
   } else {
      together(1);
   }
   return 0;
}
