/* A clock that stands still, preloaded for programs that seed something from the time.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

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
