/* Finds the steps of a curve that never falls: a flat stretch, a rise, a flat stretch.

   The rise may be a cliff (fully associative LRU), a ramp (one set after the other overflows) or
   a slope that ends late (random). What counts as flat is told by the noise and by the height of
   the rise. */

#include "measure/steps.h"

#include <math.h>

/* Behind a rise it is flat where this ratio of pages changes less than that part of the rise. */
static const double flat_over = 1.3;
static const double flat_part = 0.12;

/* The rise has begun where it has this part of its height; the more noise, the later. */
static const double begun = 0.05, most_begun = 0.35;

/* Steps so close to each other are one: a ramp that noise has broken in two. No two levels have
   sizes so close. */
static const double same_rise = 1.6;

/* Points around a knee that are further apart tell only the last that fits. */
static const double round_gap = 1.35;

/* A rise is over where its slope is less than this part of its steepest: what comes behind is page
   tables that leave the caches. The slope is taken over that ratio of pages. */
static const double steep_part = 0.25, slope_over = 1.2;

/* Unless it becomes flat soon, at less than so much of that height. */
static const double grown = 1.25;

/* Where sets are not filled evenly, the first overflow long before the last: so long a foot, as a
   part of the way from it to the half of the rise. About half of the references then miss when
   there are as many pages as entries. */
static const double long_foot = 0.5, half_misses = 0.54;

/* A rise of less than that part of the whole reference is none. Of a store and the barrier behind
   it a miss of the first level is 3.5 %. */
static const double least_part = 0.03;

/* A rise over more than this ratio of pages is no step, but a drift. */
static const double widest = 4;

/* The first point at or behind `i` from which on it is flat, or n. */
static size_t flat_from(const TgExcess *e, size_t i, double before)
{
   for (size_t k = i; k < e->n; k++) {
      size_t end = k;
      /* At least three points, also where they are far apart. */
      while (end + 1 < e->n && (e->pages[end] < flat_over * e->pages[k] || end < k + 2))
         end++;
      if (end < k + 2 || e->pages[end] < 1.2 * e->pages[k])
         return e->n;
      const double change = e->over[end] - e->over[k];
      if (change <= fmax(tg_excess_tolerance(e, k, 2), flat_part * (e->over[k] - before)))
         return k;
   }
   return e->n;
}

/* The first point behind `i` where the slope has fallen to a part of the steepest before, or n. */
static size_t slower_from(const TgExcess *e, size_t i)
{
   double steepest = 0;
   for (size_t k = i > 0 ? i - 1 : 0; k < e->n; k++) {
      const double end = e->pages[k] * slope_over;
      if (end > e->pages[e->n - 1])
         return e->n;
      const double slope = tg_excess_at(e, end) - e->over[k];
      if (slope > steepest)
         steepest = slope;
      else if (k > i && slope < steep_part * steepest)
         return k;
   }
   return e->n;
}

/* The pages at which the excess passes a value that lies above point `from` and not above the
   last one. */
static double passes(const TgExcess *e, size_t from, double value)
{
   for (size_t i = from + 1; i < e->n; i++) {
      if (e->over[i] >= value) {
         const double rise = e->over[i] - e->over[i - 1];
         const double part = rise > 0 ? (value - e->over[i - 1]) / rise : 1;
         return e->pages[i - 1] + part * (e->pages[i] - e->pages[i - 1]);
      }
   }
   return e->pages[e->n - 1];
}

static unsigned points_between(const TgExcess *e, double from, double to)
{
   unsigned n = 0;
   for (size_t i = 0; i < e->n; i++)
      n += e->pages[i] > from && e->pages[i] < to;
   return n;
}

/* What noise may still be in the points at the end of the flat stretch, in cycles: few of the same
   height are behind them. */
static double unsure_at(const TgExcess *e, size_t flat, const TgStep *s)
{
   size_t i = flat;
   while (i + 1 < e->n && e->over[i + 1] <= s->before + s->tolerance)
      i++;
   return fmax(s->tolerance, 2 * e->taken * e->cycles[i]);
}

/* Whether the sets fill unevenly; then the knee is where about half of the references miss. */
static int find_uneven_knee(const TgExcess *e, size_t flat, TgStep *s)
{
   const double height = s->after - s->before;
   const double foot = fmax(s->tolerance, 0.03 * height), low = 0.12 * height;
   if (foot > low / 1.5 || 2 * unsure_at(e, flat, s) > foot)
      return 0;
   const double at_foot = passes(e, flat, s->before + foot);
   const double at_low = passes(e, flat, s->before + low);
   const double at_half = passes(e, flat, s->before + half_misses * height);
   /* What lies between two points only is no foot. */
   if (points_between(e, at_foot, at_half) < 3 || at_half < 1.08 * at_low
       || at_low - at_foot < long_foot * (at_half - at_low)
       || at_low < 1.05 * at_foot)
      return 0;
   s->fits = at_half / 1.05;
   s->misses = at_half * 1.05;
   s->uneven = 1;
   return 1;
}

/* The knee: between the last point at the lower height and the next. A ramp is followed back to
   where it leaves that height. */
static void find_knee(const TgExcess *e, size_t flat, TgStep *s)
{
   if (find_uneven_knee(e, flat, s))
      return;
   const double height = s->after - s->before;
   const double unsure = unsure_at(e, flat, s);
   const double low = s->before + fmax(fmin(unsure, most_begun * height), begun * height);
   size_t i = flat;
   while (i + 1 < e->n && e->over[i + 1] <= low)
      i++;
   s->fits = e->pages[i];
   s->misses = i + 1 < e->n ? e->pages[i + 1] : e->pages[i];
   const double half = s->before + height / 2;
   const double part = (low - s->before) / height;
   const double at_low = passes(e, flat, low), at_half = passes(e, flat, half);
   const double back = (at_half - at_low) * part / (0.5 - part);
   if (part < 0.45 && at_half > 1.12 * s->misses && points_between(e, at_low, at_half) >= 2) {
      s->fits = fmax(e->pages[flat], fmin(s->fits, at_low - back));
      s->misses = fmax(s->fits + 1, fmin(s->misses, at_low));
   }
}

static void go_on(TgStep *s, const TgStep *next)
{
   s->after = next->after;
   s->full = next->full;
   s->open = next->open;
}

unsigned tg_steps_read(const TgExcess *e, TgStep out[TG_MAX_STEPS])
{
   unsigned n = 0;
   size_t flat = 0; /* the current flat stretch begins here */
   for (size_t i = 1; i < e->n && n < TG_MAX_STEPS;) {
      const double before = e->over[flat];
      if (e->over[i] - before <= tg_excess_tolerance(e, i, 2)) {
         i++;
         continue;
      }
      const size_t even = flat_from(e, i, before), slower = slower_from(e, i);
      const int grows = slower < even
                        && (even == e->n || e->over[even] - before
                                               > grown * (e->over[slower] - before));
      const size_t next = grows ? e->n : even;
      TgStep s = { .before = before, .tolerance = tg_excess_tolerance(e, i, 2) };
      s.open = next == e->n;
      size_t top = next;
      if (s.open) {
         /* What a miss costs is read soon behind the knee, before other costs grow. */
         top = slower < e->n ? slower : e->n - 1;
         while (slower == e->n && top > i + 1 && e->pages[top] > 2 * e->pages[i])
            top--;
      }
      s.after = e->over[top];
      s.full = e->pages[top];
      const double height = s.after - s.before;
      if (height >= fmax(tg_excess_tolerance(e, i, 3),
                         fmax(least_part, 2 * e->taken) * e->cycles[i])
          && e->n - i >= 2) {
         find_knee(e, flat, &s);
         if (n > 0 && out[n - 1].open && height < 0.5 * (out[n - 1].after - out[n - 1].before))
            ; /* Only walks go on growing: this is what they cost more. */
         else if (n > 0 && s.fits <= same_rise * out[n - 1].misses)
            go_on(&out[n - 1], &s);
         else if (s.full <= widest * s.misses || s.open)
            out[n++] = s;
      }
      /* Only walks go on growing: there are no more levels behind them. */
      if (next == e->n && even == e->n)
         break;
      flat = grows ? even : top;
      i = flat + 1;
   }
   return n;
}

static double roundness(double value)
{
   double round = 1;
   while (fmod(value, 2) == 0 && value > 0) {
      value /= 2;
      round *= 2;
   }
   return round;
}

double tg_step_capacity(const TgStep *s)
{
   const double first = ceil(s->fits);
   double best = first;
   if (s->misses > round_gap * s->fits)
      return best;
   for (double v = first; v < s->misses; v++) {
      if (roundness(v) > roundness(best))
         best = v;
   }
   return best;
}
