/* Threads that touch their stacks, one after the other, and memory of all. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 6, BYTES = 300000, OWN = 50000 };

static char* common;

static void* work(void* number)
{
   volatile char own[OWN];
   const size_t part = BYTES / THREADS;
   memset((char*)own, 1, sizeof own);
   memset(common + (size_t)number * part, own[7], part);
   return NULL;
}

int main(void)
{
   pthread_t thread[THREADS];
   common = malloc(BYTES);
   for (size_t i = 0; i < THREADS; i++) {
      pthread_create(&thread[i], NULL, work, (void*)i);
      pthread_join(thread[i], NULL);
   }
   return common[BYTES / THREADS] == 1 ? 0 : 1;
}
