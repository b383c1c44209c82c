/* Steps of a curve: where its references begin to cost more, and how much. */

#ifndef TG_MEASURE_STEPS_H
#define TG_MEASURE_STEPS_H

#include "measure/excess.h"

enum { TG_MAX_STEPS = 8 };

typedef struct {
   double fits, misses;  /* pages: the last without and the first with the higher cost */
   double before, after; /* the excess on the flat stretches on both sides */
   double full;          /* pages from which on it is as high as `after` */
   int open;             /* there is no flat stretch behind it: `after` is a guess */
   int uneven;           /* sets overflow one after the other over a long stretch, as where their
                            numbers are hashed: the knee is the middle of it */
   double tolerance;     /* the noise there, in cycles */
} TgStep;

/* Returns how many; rising. */
unsigned tg_steps_read(const TgExcess *e, TgStep out[TG_MAX_STEPS]);

/* Of the numbers in the knee the one that is divided by the largest power of two: what overflows is
   sets times ways. Between points that are far apart it is the last that fits. */
double tg_step_capacity(const TgStep *s);

#endif
