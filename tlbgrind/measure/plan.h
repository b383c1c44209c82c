/* What is measured, in which order, and for how long.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_MEASURE_PLAN_H
#define TG_MEASURE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/curve.h"
#include "measure/memory.h"

typedef struct {
   double seconds;
   bool emulated; /* a short look: addresses are few, and nothing will be read from it */
} TgPlanWish;

enum { TG_MEASURED_SIZES = 3 };

typedef struct {
   TgCurve *curve;  /* those with points, to be freed by tg_measured_free() */
   size_t n;
   size_t points;
   size_t settled;  /* points whose least time stood for several rounds */
   unsigned rounds; /* the most that a point had */
   double disturbed; /* the part of all rounds that was given up */
   size_t left_out; /* curves for which there was no time */
   /* Sizes of large pages (log2) that the processor sees in pieces, and that were left out. */
   unsigned in_pieces[TG_MEASURED_SIZES], n_in_pieces;
} TgMeasured;

/* Measures until all least times stand, or the time is over. Returns false if there is no
   memory. */
bool tg_measure(const TgPlanWish *wish, TgMeasured *out);
void tg_measured_free(TgMeasured *m);

/* Prints what can be measured here, a line for each kind of curve. */
void tg_measure_list(void);

/* Whether code takes so long at its first execution that something translates it. */
bool tg_is_translated(void);

#endif
