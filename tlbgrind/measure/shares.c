/* Tells whether two kinds of reference share a level: with half of the pages each, a shared array
   is full with as many pages together as each alone could have; two arrays hold twice as many. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/facts.h"

static void say(TgShareFacts *out, TgShare share, const char *why)
{
   out->share = share;
   snprintf(out->why, sizeof out->why, "%s", why);
}

void tg_share_read(const TgCurve *mixed, const TgCurve *control, const TgSide *loads,
                   const TgSide *other, unsigned level, TgShareFacts *out)
{
   memset(out, 0, sizeof *out);
   out->ask = other->ask;
   out->level = level;
   if (level >= loads->n_levels || level >= other->n_levels
       || loads->level[level].entries.sure == TG_NOT_TOLD
       || other->level[level].entries.sure == TG_NOT_TOLD) {
      say(out, TG_SHARE_NOT_TOLD, "the level is not told of both");
      return;
   }
   const double a = loads->level[level].entries.value, b = other->level[level].entries.value;
   if (fmax(a, b) > 1.25 * fmin(a, b)) {
      say(out, TG_SHARE_NO, "their entries differ");
      return;
   }
   TgSide both;
   tg_levels_read(mixed, control, &both);
   int together = 0, apart = 0;
   for (unsigned i = 0; i < both.n_levels; i++) {
      const TgFigure *const f = &both.level[i].entries;
      if (f->sure == TG_NOT_TOLD)
         continue;
      together |= f->value >= 0.75 * fmin(a, b) && f->value <= 1.3 * fmax(a, b);
      apart |= f->value >= 1.6 * fmin(a, b) && f->value <= 2.4 * fmax(a, b);
   }
   if (together && !apart)
      say(out, TG_SHARE_YES, "with half of the pages each, as many fit as of one");
   else if (apart && !together)
      say(out, TG_SHARE_NO, "with half of the pages each, twice as many fit as of one");
   else
      say(out, TG_SHARE_NOT_TOLD,
          both.n_levels == 0 ? both.why : "the steps with half of the pages each say neither");
}
