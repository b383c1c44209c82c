/* Reads ways, sets and entries behind the first level out of CONFLICT curves.

   Pages so far apart that all of them are found in one set, or in few, fit as long as they are no
   more than the ways of these sets; the next one costs a miss of at least two. An index by XOR
   spreads some strides over more sets, so the stride that reaches the fewest tells.

   Of pages that are 4M or more apart Zen 4 and Zen 5 hold half as many as of nearer ones in a set.
   That is no XOR: patterns in which either bit below 4M is set, or both are, hold the whole number.
   So strides of no more than one page table maps count more than wider ones. */

#include <math.h>

#include "measure/figure.h"

enum { MOST_STRIDES = 32, LEAST_POINTS = 12, ENTRY_SHIFT = 3 };

/* The curve by pages may show its step a little late, but never at fewer than this part of it. */
static const double early = 0.85;

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

/* Whether from this point on the excess is that high. One of the next points may be disturbed, if
   there are enough. */
static int stays_above(const TgCurve *c, size_t i, double excess)
{
   enum { NEXT = 4, FEWEST = 3 };
   int above = 0;
   if (i + FEWEST >= c->n || excess_of(c, i) < excess || excess_of(c, i + 1) < excess)
      return 0;
   for (size_t k = i + 1; k <= i + NEXT && k < c->n; k++)
      above += excess_of(c, k) >= excess;
   return above >= FEWEST;
}

static double fit_of(const TgCurve *c)
{
   if (c->n < LEAST_POINTS)
      return 0;
   const size_t last = c->n - 1, middle = c->n * 3 / 4;
   /* At the end most miss, each for the cost of a miss; this many times a hit is no noise. */
   const double miss = (excess_of(c, last) - excess_of(c, middle))
                       / (double)(c->point[last].pages - c->point[middle].pages);
   const double all = (double)(c->point[last].pages - c->point[0].pages + 1);
   if (miss < 0.5 * hit_of(c) || excess_of(c, last) < 0.4 * miss * all)
      return 0;
   for (size_t i = 0; i < c->n; i++) {
      /* Of a set of one page too many, at least the new one and its victim miss. */
      if (stays_above(c, i, 1.2 * miss))
         return i == 0 ? 0 : (double)(c->point[i - 1].pages - c->point[0].pages + 1);
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

/* The most that fit at strides at which about the fewest fit, 0 if no two strides agree. A page
   that is none of ours can take a place, so of numbers that are nearly the same the largest
   counts. */
static double fewest_of(const Fit *fit, size_t n, unsigned *agree)
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

/* The narrowest stride at which no more fit, log2. */
static unsigned narrowest_of(const Fit *fit, size_t n, double ways)
{
   unsigned narrowest = MOST_STRIDES;
   for (size_t i = 0; i < n; i++) {
      if (fit[i].fit > 0 && fit[i].fit <= ways && fit[i].stride_shift < narrowest)
         narrowest = fit[i].stride_shift;
   }
   return narrowest;
}

/* The ways: as many as fit at the strides at which the fewest fit, of the `near` strides that one
   page table maps, if these tell. Returns 0 if they are not told, with the reason. */
static double ways_of(const Fit *fit, size_t n, size_t near, const TgLevel *l, unsigned *agree,
                      const char **why)
{
   unsigned agree_all;
   const double all = fewest_of(fit, n, &agree_all), ways = fewest_of(fit, near, agree);
   *why = "no two strides agree";
   if (ways < 2 && all < 2)
      return 0;
   const double said = ways >= 2 ? ways : all;
   if (ways < 2)
      *agree = agree_all;
   /* In a stride of 2^k pages an array of more than 2^k sets has more than one set. */
   if (ldexp(said + 1, (int)narrowest_of(fit, n, said)) < early * (double)l->fits) {
      *why = "pages conflict at strides that so many entries have room for";
      return 0;
   }
   if (ways >= 2)
      return ways;
   for (size_t i = 0; i < near; i++) {
      if (fit[i].fit > 1.5 * all && ldexp(all, (int)fit[i].stride_shift) >= (double)l->fits) {
         *why = "fewer pages fit where they are farther apart than what a page table maps";
         return 0;
      }
   }
   return all;
}

/* Into how many sets the pages of a stride go, and whether so many of them fit there. Some places
   may be taken by pages that are none of ours, and sets are shared out unevenly by some functions
   of the address. */
static int is_of_sets(const Fit *fit, double ways, double *sets)
{
   *sets = exp2(floor(log2(fmax(1, fit->fit / ways)) + 0.5));
   return *sets >= 2 && fit->fit <= *sets * ways + 1 && fit->fit >= 0.85 * *sets * ways;
}

/* Where one place of a set is taken in each round, one fewer seems to be there; in a stride of more
   sets that place is in one of them only. */
static double with_taken_place(const Fit *fit, size_t n, double ways)
{
   double sets;
   for (size_t i = 0; i < n; i++) {
      if (is_of_sets(&fit[i], ways, &sets) && fit[i].fit > sets * ways)
         return ways + 1;
   }
   return ways;
}

/* Sets times ways, from the stride that reaches the fewest sets, but more than one. */
static double entries_of(const Fit *fit, size_t n, double ways, unsigned *agree)
{
   double least = 0, sets;
   for (int count = 0; count < 2; count++) {
      *agree = 0;
      for (size_t i = 0; i < n; i++) {
         if (!is_of_sets(&fit[i], ways, &sets))
            continue;
         const double entries = ldexp(sets * ways, (int)fit[i].stride_shift);
         if (count == 0 && (least == 0 || entries < least))
            least = entries;
         *agree += entries == least;
      }
   }
   return least;
}

/* What the curve by pages allows. In virtual machines pages in a row miss from half of the entries
   on, and what `near` strides tell stands against that. */
static int is_possible(const TgLevel *l, double entries, int near)
{
   const double most = near ? 2 : 1.5;
   return entries >= early * (double)l->fits && entries <= most * (double)l->misses;
}

void tg_conflicts_read(const TgCurve *curve, size_t n, TgSide *side)
{
   Fit fit[MOST_STRIDES];
   unsigned agree, agree_entries;
   size_t near = 0;
   const char *why;
   const size_t strides = read_fits(curve, n, side, fit);
   if (strides == 0 || side->n_levels < 2)
      return;
   while (near < strides && fit[near].stride_shift + ENTRY_SHIFT <= side->page_shift)
      near++;
   TgLevel *const l = &side->level[1];
   const double seen = ways_of(fit, strides, near, l, &agree, &why);
   if (seen < 2) {
      tg_figure_not_told(&l->ways, why);
      tg_figure_not_told(&l->sets, why);
      tg_figure_not_told(&l->entries, why);
      return;
   }
   const double ways = with_taken_place(fit, near, seen);
   const double entries = entries_of(fit, strides, ways, &agree_entries);
   tg_figure_tell(&l->ways, ways, agree >= 3 && ways == seen ? TG_SURE : TG_LIKELY,
                  "so many pages fit at %u strides at which all are in one set", agree);
   if (!is_possible(l, entries, near >= 2 && agree_entries >= 1)) {
      const double sets = l->entries.value / ways;
      tg_figure_not_told(&l->sets, "no stride is seen at which pages are in few sets");
      if (sets != exp2(floor(log2(sets))))
         tg_figure_not_told(&l->entries,
                            "the first misses are seen at a number of pages that is no power of "
                            "two of these ways");
      return;
   }
   tg_figure_tell(&l->sets, entries / ways,
                  agree_entries >= 2 && is_possible(l, entries, 0) ? TG_SURE : TG_LIKELY,
                  "from strides at which pages are in few sets");
   tg_figure_tell(&l->entries, entries, l->sets.sure,
                  "%.0f ways of %.0f sets; by pages the misses begin between %llu and %llu", ways,
                  entries / ways, (unsigned long long)l->fits, (unsigned long long)l->misses);
}
