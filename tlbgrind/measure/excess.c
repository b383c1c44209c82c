/* Takes the noise and the caches off a curve.

   Noise only ever adds time, and a chase over more pages is never faster. So the least of a point
   and of all points behind it is no more than the point was measured, and no less than it is. */

#include "measure/excess.h"

#include <math.h>
#include <string.h>

/* A point so far below all its neighbours is a clock that jumped, not a fast reference. */
static const double too_low = 0.7;

/* Gaps of the excess that are narrower than this ratio of pages are filled: there the caches'
   step of one curve comes before that of the other. */
static const double gap = 1.25;

/* Points that have none behind them up to this ratio of pages are not freed of their noise: they
   serve those before them only. */
static const double supported = 1.2;

/* Without rounds that tell it, a reading is no better than that. */
static const double least_noise = 0.008;
static const double least_cycles = 0.12;

typedef struct {
   size_t n;
   double pages[TG_EXCESS_POINTS], cycles[TG_EXCESS_POINTS], spread[TG_EXCESS_POINTS];
   double noise, taken;
   unsigned rounds;
} Clean;

static int usable(const TgPoint *p)
{
   return p->pages > 0 && p->pages < UINT64_C(1) << 48 && isfinite(p->cycles) && p->cycles > 0
          && p->cycles < 1e9;
}

/* The value that half of them do not exceed; sorts them. */
static double median(double *value, size_t n)
{
   for (size_t i = 1; i < n; i++) {
      const double v = value[i];
      size_t k = i;
      for (; k > 0 && value[k - 1] > v; k--)
         value[k] = value[k - 1];
      value[k] = v;
   }
   return n == 0 ? 0 : value[(n - 1) / 2];
}

static size_t without_jumps(const Clean *in, Clean *out)
{
   enum { LEFT = 4, RIGHT = 2 };
   size_t n = 0;
   for (size_t i = 0; i < in->n; i++) {
      double least = INFINITY;
      for (size_t k = i < LEFT ? 0 : i - LEFT; k <= i + RIGHT && k < in->n; k++) {
         if (k != i)
            least = fmin(least, in->cycles[k]);
      }
      if (i >= LEFT && i + 1 < in->n && in->cycles[i] < too_low * least)
         continue;
      out->pages[n] = in->pages[i];
      out->spread[n] = in->spread[i];
      out->cycles[n++] = in->cycles[i];
   }
   return n;
}

/* Takes out points that were measured far above what those behind them allow: they tell nothing. */
static size_t without_outliers(Clean *c, const double *apart, double taken)
{
   size_t n = 0;
   for (size_t i = 0; i < c->n; i++) {
      if (apart[i] > fmax(4 * taken, 0.15))
         continue;
      c->pages[n] = c->pages[i];
      c->spread[n] = c->spread[i];
      c->cycles[n++] = c->cycles[i];
   }
   return n;
}

static void clean(const TgCurve *curve, Clean *out)
{
   static const Clean none;
   Clean raw = none;
   double apart[TG_EXCESS_POINTS], sorted[TG_EXCESS_POINTS];
   size_t spreads = 0;
   *out = none;
   out->rounds = UINT32_MAX;
   for (size_t i = 0; curve && i < curve->n && raw.n < TG_EXCESS_POINTS; i++) {
      const TgPoint *const p = &curve->point[i];
      if (!usable(p) || (raw.n > 0 && (double)p->pages <= raw.pages[raw.n - 1]))
         continue;
      raw.pages[raw.n] = (double)p->pages;
      raw.spread[raw.n] = isfinite(p->spread) && p->spread >= 0 ? p->spread : 0;
      raw.cycles[raw.n++] = p->cycles;
      if (p->rounds < out->rounds)
         out->rounds = p->rounds;
      if (isfinite(p->spread) && p->spread >= 0)
         sorted[spreads++] = p->spread / p->cycles;
   }
   if (raw.n == 0) {
      out->rounds = 0;
      return;
   }
   out->n = without_jumps(&raw, out);
   /* The least of many rounds is far nearer to the truth than their median. */
   const double spread = median(sorted, spreads) / 8;
   for (size_t i = out->n; i-- > 0;) {
      apart[i] = 0;
      if (i + 1 < out->n && out->cycles[i] > out->cycles[i + 1]) {
         apart[i] = out->cycles[i] / out->cycles[i + 1] - 1;
         out->cycles[i] = out->cycles[i + 1];
      }
   }
   const double last = out->pages[out->n - 1];
   while (out->n > 1 && out->pages[out->n - 1] * supported > last)
      out->n--;
   /* What the envelope took off tells how much it cannot take off. */
   memcpy(sorted, apart, out->n * sizeof *sorted);
   out->taken = median(sorted, out->n);
   out->n = without_outliers(out, apart, out->taken);
   out->noise = fmax(fmin(fmax(spread, out->taken / 3), 0.25), least_noise);
}

static double between(const double *pages, const double *value, size_t n, double at)
{
   if (n == 0)
      return 0;
   if (at <= pages[0])
      return value[0];
   for (size_t i = 1; i < n; i++) {
      if (at <= pages[i]) {
         const double part = log(at / pages[i - 1]) / log(pages[i] / pages[i - 1]);
         return value[i - 1] + part * (value[i] - value[i - 1]);
      }
   }
   return value[n - 1];
}

/* Fills gaps that are narrower than `gap`, each up to the lower of its two edges. */
static void fill_gaps(TgExcess *e)
{
   double filled[TG_EXCESS_POINTS];
   for (size_t i = 0; i < e->n; i++) {
      double left = e->over[i], right = e->over[i];
      for (size_t k = i; k-- > 0 && e->pages[k] * gap >= e->pages[i];)
         left = fmax(left, e->over[k]);
      for (size_t k = i + 1; k < e->n && e->pages[k] <= e->pages[i] * gap; k++)
         right = fmax(right, e->over[k]);
      filled[i] = fmin(left, right);
   }
   memcpy(e->over, filled, e->n * sizeof *filled);
}

void tg_excess_read(const TgCurve *curve, const TgCurve *control, TgExcess *out)
{
   static const TgExcess none;
   Clean c, caches;
   *out = none;
   clean(curve, &c);
   clean(control, &caches);
   out->n = c.n;
   out->rounds = c.rounds;
   out->noise = fmax(c.noise, caches.n > 0 ? caches.noise : 0);
   out->taken = fmax(c.taken, caches.n > 0 ? caches.taken : 0);
   const double first = caches.n > 0 ? caches.cycles[0] : 0;
   for (size_t i = 0; i < c.n; i++) {
      out->pages[i] = c.pages[i];
      out->cycles[i] = c.cycles[i];
      out->spread[i] = c.spread[i];
      /* The nearest cache is part of every reference: only what is beyond it goes. */
      out->over[i] = c.cycles[i] - (between(caches.pages, caches.cycles, caches.n, c.pages[i])
                                    - first);
   }
   if (caches.n > 0)
      fill_gaps(out);
   /* Where the caches' step comes first in the control, its whole height would be taken off. */
   for (size_t i = 1; i < out->n; i++)
      out->over[i] = fmax(out->over[i], out->over[0]);
   for (size_t i = out->n; i-- > 0;) {
      if (i + 1 < out->n)
         out->over[i] = fmin(out->over[i], out->over[i + 1]);
   }
}

double tg_excess_tolerance(const TgExcess *e, size_t i, double times)
{
   return times * fmax(e->noise * e->cycles[i], least_cycles);
}

double tg_excess_at(const TgExcess *e, double pages)
{
   return between(e->pages, e->over, e->n, pages);
}

double tg_excess_spread(const TgExcess *e, double from, double to)
{
   double spread[TG_EXCESS_POINTS];
   size_t n = 0;
   for (size_t i = 0; i < e->n; i++) {
      if (e->pages[i] >= from && e->pages[i] <= to)
         spread[n++] = e->spread[i];
   }
   return median(spread, n);
}
