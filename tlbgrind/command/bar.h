/* A bar on a terminal that shows how far the work is.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_BAR_H
#define TG_BAR_H

#include <stddef.h>

/* Draws it on the standard error if that is a terminal, at most some times a second. `part` is 0.0
   to 1.0. */
void tg_bar_show(double part, const char *what);

/* The same with the time that is left, if the rest takes as long as what has been done since the
   first call. */
void tg_bar_show_left(double part);

/* That time, "1:05 left": after so many seconds. */
void tg_bar_left(double seconds, double part, char *text, size_t size);

/* Clears it. */
void tg_bar_clear(void);

/* Draws nothing from now on. */
void tg_bar_quiet(void);

#endif
