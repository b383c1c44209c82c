/* A bar on a terminal that shows how far the measurement is.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_MEASURE_BAR_H
#define TG_MEASURE_BAR_H

/* Draws it on the standard error if that is a terminal, at most some times a second. `part` is 0.0
   to 1.0. */
void tg_bar_show(double part, const char *what);

/* Clears it. */
void tg_bar_clear(void);

/* Draws nothing from now on. */
void tg_bar_quiet(void);

#endif
