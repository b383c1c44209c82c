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
static const double begun = 0.10, most_begun = 0.35;

/* Steps so close to each other are one: a ramp that noise has broken in two. No two levels have
   sizes so close. */
static const double same_rise = 1.6;

/* Points around a knee that are further apart tell only the last that fits. */
static const double round_gap = 1.35;

/* A rise over more than this ratio of pages is no step, but a drift. */
static const double widest = 4;

/* The first point at or behind `i` from which on it is flat, or n. */
static size_t flat_from(const TgExcess *e, size_t i, double before)
{
   for (size_t k = i; k < e->n; k++) {
      size_t end = k;
      while (end + 1 < e->n && e->pages[end] < flat_over * e->pages[k])
         end++;
      if (end < k + 2 || e->pages[end] < 1.2 * e->pages[k])
         return e->n;
      const double change = e->over[end] - e->over[k];
      if (change <= fmax(tg_excess_tolerance(e, k, 2), flat_part * (e->over[k] - before)))
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

/* The knee: between the last point at the lower height and the next. A ramp is followed back to
   where it leaves that height. */
static void find_knee(const TgExcess *e, size_t flat, TgStep *s)
{
   const double height = s->after - s->before;
   const double unsure = fmax(s->tolerance, 2 * e->taken * e->cycles[flat]);
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
   if (part < 0.45 && at_low > s->misses && back > 0)
      s->fits = fmax(s->fits, at_low - back);
   else if (part < 0.45 && at_half > 1.12 * s->misses) {
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
      const size_t next = flat_from(e, i, before);
      TgStep s = { .before = before, .tolerance = tg_excess_tolerance(e, i, 2) };
      s.open = next == e->n;
      size_t top = next;
      if (s.open) {
         top = e->n - 1;
         /* What a miss costs is read soon behind the knee, before other costs grow. */
         while (top > i + 1 && e->pages[top] > 2 * e->pages[i])
            top--;
      }
      s.after = e->over[top];
      s.full = e->pages[top];
      const double height = s.after - s.before;
      if (height >= fmax(tg_excess_tolerance(e, i, 3), fmax(0.04, 2 * e->taken) * e->cycles[i])
          && e->n - i >= 2) {
         find_knee(e, flat, &s);
         if (n > 0 && s.fits <= same_rise * out[n - 1].misses)
            go_on(&out[n - 1], &s);
         else if (s.full <= widest * s.misses || s.open)
            out[n++] = s;
      }
      if (s.open)
         break;
      flat = top;
      i = top + 1;
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
