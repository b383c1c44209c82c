/* Reads ways, sets and entries behind the first level out of CONFLICT curves.

   Pages so far apart that all of them are found in one set, or in few, fit as long as they are no
   more than the ways of these sets; the next one costs a miss of at least two. An index by XOR
   spreads some strides over more sets, so the stride that reaches the fewest tells. */

#include <math.h>

#include "measure/figure.h"

enum { MOST_STRIDES = 32, LEAST_POINTS = 12 };

/* How many pages of a stride fit. */
typedef struct {
   unsigned stride_shift;
   double fit; /* 0: all do, or it cannot be told */
} Fit;

/* Cycles of a reference while all pages fit: the median of the first points, since no level has
   fewer ways than half of these. */
static double hit_of(const TgCurve *c)
{
   enum { FIRST = 5 };
   double sorted[FIRST];
   for (size_t i = 0; i < FIRST; i++) {
      size_t k = i;
      for (; k > 0 && sorted[k - 1] > c->point[i].cycles; k--)
         sorted[k] = sorted[k - 1];
      sorted[k] = c->point[i].cycles;
   }
   return sorted[FIRST / 2];
}

/* Cycles of a lap beyond those of hits alone. */
static double excess_of(const TgCurve *c, size_t i)
{
   const TgPoint *const p = &c->point[i];
   return (p->cycles - hit_of(c)) * (double)p->pages;
}

/* Whether from this point on the excess is that high. One of the next points may be disturbed. */
static int stays_above(const TgCurve *c, size_t i, double excess)
{
   enum { NEXT = 4, FEWEST = 3 };
   int above = 0;
   if (i + NEXT >= c->n || excess_of(c, i) < excess || excess_of(c, i + 1) < excess)
      return 0;
   for (size_t k = i + 1; k <= i + NEXT; k++)
      above += excess_of(c, k) >= excess;
   return above >= FEWEST;
}

static double fit_of(const TgCurve *c)
{
   if (c->n < LEAST_POINTS)
      return 0;
   const size_t last = c->n - 1, middle = c->n * 3 / 4;
   /* At the end all miss, each for the cost of a miss; this many times a hit is no noise. */
   const double miss = (excess_of(c, last) - excess_of(c, middle))
                       / (double)(c->point[last].pages - c->point[middle].pages);
   const double all = (double)(c->point[last].pages - c->point[0].pages + 1);
   if (miss < 0.5 * hit_of(c) || excess_of(c, last) < 0.5 * miss * all)
      return 0;
   for (size_t i = 0; i < c->n; i++) {
      /* Of a set of one page too many, at least the new one and its victim miss. */
      if (stays_above(c, i, 1.2 * miss))
         return i == 0 ? 0 : (double)(c->point[i].pages - c->point[0].pages);
   }
   return 0;
}

static size_t read_fits(const TgCurve *curve, size_t n, const TgSide *side,
                        Fit out[MOST_STRIDES])
{
   size_t found = 0;
   for (size_t i = 0; i < n && found < MOST_STRIDES; i++) {
      const TgCurve *const c = &curve[i];
      if (c->kind == TG_CURVE_CONFLICT && c->ask == side->ask
          && c->page_shift == side->page_shift && c->n > 0)
         out[found++] = (Fit){ c->stride_shift, fit_of(c) };
   }
   return found;
}

/* The ways: as many as fit at the strides at which the fewest fit. A page that is none of ours can
   take a place, so of numbers that are nearly the same the largest counts. */
static double ways_of(const Fit *fit, size_t n, unsigned *agree)
{
   double least = 0, ways = 0;
   *agree = 0;
   for (size_t i = 0; i < n; i++) {
      /* One stride alone may have been disturbed. */
      unsigned like = 0;
      for (size_t k = 0; k < n; k++)
         like += fit[k].fit >= fit[i].fit && fit[k].fit <= fit[i].fit + 1;
      if (fit[i].fit > 0 && like >= 2 && (least == 0 || fit[i].fit < least))
         least = fit[i].fit;
   }
   const double near = least + fmax(1, floor(least / 8));
   for (size_t i = 0; i < n; i++) {
      if (fit[i].fit >= least && fit[i].fit > 0 && fit[i].fit <= near) {
         ways = fmax(ways, fit[i].fit);
         ++*agree;
      }
   }
   return ways;
}

/* Sets times ways, from the stride that reaches the fewest sets, but more than one. */
static double entries_of(const Fit *fit, size_t n, double ways, unsigned *agree)
{
   double least = 0;
   for (int count = 0; count < 2; count++) {
      *agree = 0;
      for (size_t i = 0; i < n; i++) {
         const double sets = exp2(floor(log2(fmax(1, fit[i].fit / ways)) + 0.5));
         /* Some places may be taken by pages that are none of ours, and sets are shared out
            unevenly by some functions of the address. */
         if (sets < 2 || fit[i].fit > sets * ways + 1 || fit[i].fit < 0.85 * sets * ways)
            continue;
         const double entries = ldexp(sets * ways, (int)fit[i].stride_shift);
         if (count == 0 && (least == 0 || entries < least))
            least = entries;
         *agree += entries == least;
      }
   }
   return least;
}

void tg_conflicts_read(const TgCurve *curve, size_t n, TgSide *side)
{
   Fit fit[MOST_STRIDES];
   unsigned agree, agree_entries;
   const size_t strides = read_fits(curve, n, side, fit);
   if (strides == 0 || side->n_levels < 2)
      return;
   TgLevel *const l = &side->level[1];
   const double ways = ways_of(fit, strides, &agree);
   if (ways < 2 || agree < 2)
      return;
   const double entries = entries_of(fit, strides, ways, &agree_entries);
   tg_figure_tell(&l->ways, ways, agree >= 3 ? TG_SURE : TG_LIKELY,
                  "so many pages fit at %u strides at which all are in one set", agree);
   /* The curve by pages must not say otherwise. */
   if (entries < 0.9 * (double)l->fits || entries > 1.5 * (double)l->misses) {
      const double sets = l->entries.value / ways;
      tg_figure_not_told(&l->sets, "no stride is seen at which pages are in few sets");
      if (sets != exp2(floor(log2(sets))))
         tg_figure_not_told(&l->entries,
                            "the first misses are seen at a number of pages that is no power of "
                            "two of these ways");
      return;
   }
   tg_figure_tell(&l->sets, entries / ways, agree_entries >= 2 ? TG_SURE : TG_LIKELY,
                  "from strides at which pages are in few sets");
   tg_figure_tell(&l->entries, entries, l->sets.sure,
                  "%.0f ways of %.0f sets; by pages the misses begin between %llu and %llu", ways,
                  entries / ways, (unsigned long long)l->fits, (unsigned long long)l->misses);
}
