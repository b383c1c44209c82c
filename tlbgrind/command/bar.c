/* A bar on a terminal. See command/bar.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "command/bar.h"

enum { WIDTH = 40 };

static bool quiet, shown;
static double first, last; /* when it was shown; 0: not yet */

static double seconds_now(void)
{
   struct timespec t;
   clock_gettime(CLOCK_MONOTONIC, &t);
   return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void tg_bar_quiet(void)
{
   quiet = true;
}

void tg_bar_show(double part, const char *what)
{
   static const char full[] = "########################################";
   const double now = seconds_now();
   if (quiet || now - last < 0.2 || !isatty(STDERR_FILENO))
      return;
   const int n = part <= 0.0 ? 0 : part >= 1.0 ? WIDTH : (int)(part * WIDTH);
   fprintf(stderr, "\r[%-*.*s] %3d%% %.30s\033[K", WIDTH, n, full, (int)(part * 100.0), what);
   fflush(stderr);
   shown = true;
   last = now;
}

void tg_bar_left(double seconds, double part, char *text, size_t size)
{
   const double left = part <= 0.0 ? -1.0 : part >= 1.0 ? 0.0 : seconds * (1.0 - part) / part;
   if (left < 0.0 || left > 359999.0) {
      snprintf(text, size, "%s", "");
      return;
   }
   const unsigned whole = (unsigned)(left + 0.5);
   if (whole < 3600)
      snprintf(text, size, "%u:%02u left", whole / 60, whole % 60);
   else
      snprintf(text, size, "%u:%02u:%02u left", whole / 3600, whole / 60 % 60, whole % 60);
}

void tg_bar_show_left(double part)
{
   char text[32];
   const double now = seconds_now();
   if (first == 0.0)
      first = now;
   tg_bar_left(now - first, part, text, sizeof text);
   tg_bar_show(part, text);
}

void tg_bar_clear(void)
{
   if (shown)
      fputs("\r\033[K", stderr);
   shown = false;
}
