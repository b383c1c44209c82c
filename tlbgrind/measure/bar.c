/* A bar on a terminal. See measure/bar.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "measure/bar.h"
#include "measure/clock.h"

enum { WIDTH = 40 };

static bool quiet, shown;
static double last;

void tg_bar_quiet(void)
{
   quiet = true;
}

void tg_bar_show(double part, const char *what)
{
   static const char full[] = "########################################";
   const double now = tg_seconds();
   if (quiet || now - last < 0.2 || !isatty(STDERR_FILENO))
      return;
   const int n = part <= 0.0 ? 0 : part >= 1.0 ? WIDTH : (int)(part * WIDTH);
   fprintf(stderr, "\r[%-*.*s] %3d%% %.30s\033[K", WIDTH, n, full, (int)(part * 100.0), what);
   fflush(stderr);
   shown = true;
   last = now;
}

void tg_bar_clear(void)
{
   if (shown)
      fputs("\r\033[K", stderr);
   shown = false;
}
