/* The excess of a curve: what its references cost beyond the caches, freed of noise. */

#ifndef TG_MEASURE_EXCESS_H
#define TG_MEASURE_EXCESS_H

#include "measure/curve.h"

enum { TG_EXCESS_POINTS = 400 }; /* of a longer curve the first so many are read */

typedef struct {
   size_t n;
   double pages[TG_EXCESS_POINTS];  /* rising */
   double cycles[TG_EXCESS_POINTS]; /* of the whole reference, never falling */
   double over[TG_EXCESS_POINTS];   /* beyond the caches, never falling */
   double spread[TG_EXCESS_POINTS]; /* between the least round and half of them, as measured */
   double noise;                    /* what is left of it, as a part of `cycles` */
   double taken;                    /* what a point typically had before, in the same way: where
                                       few points are behind it, it has that still */
   unsigned rounds;                 /* the least of any point */
} TgExcess;

/* `control` may be NULL: then nothing is taken off. */
void tg_excess_read(const TgCurve *curve, const TgCurve *control, TgExcess *out);

/* What a change of the excess at point i has to be to count: `times` the noise there, and at
   least a fraction of a cycle. */
double tg_excess_tolerance(const TgExcess *e, size_t i, double times);

/* The excess at that number of pages, between points along the logarithm; beyond the ends that of
   the end. */
double tg_excess_at(const TgExcess *e, double pages);

/* The spread that half of the points from `from` to `to` pages do not exceed; 0 without any. */
double tg_excess_spread(const TgExcess *e, double from, double to);

#endif
