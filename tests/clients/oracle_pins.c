/* What some programs ask and would else be another answer in every run: a clock that stands
   still, and a stack that is not looked for in /proc/self/maps. Preloaded.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <pthread.h>
#include <sys/time.h>
#include <time.h>

enum { NOW = 1700000000 };

time_t time(time_t *now)
{
   if (now != NULL)
      *now = NOW;
   return NOW;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
   (void)clock;
   *now = (struct timespec){ .tv_sec = NOW };
   return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
   (void)zone;
   *now = (struct timeval){ .tv_sec = NOW };
   return 0;
}

/* Python 3.14 asks for the stack of its first thread. It gets one that ends above us. */
int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes)
{
   enum { BYTES = 4 << 20, ABOVE = 1 << 16 };
   char here;
   (void)thread;
   pthread_attr_init(attributes);
   return pthread_attr_setstack(attributes, &here + ABOVE - BYTES, BYTES);
}
