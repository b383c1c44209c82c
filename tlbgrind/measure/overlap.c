/* Reads how far misses overlap: what one costs alone, divided by what it costs among others. */

#include <math.h>

#include "measure/excess.h"
#include "measure/figure.h"

static const double least_overlap = 1, most_overlap = 64;

/* The pages with hits before the step, and those with misses behind it but before the next. */
static void around(const TgSide *side, unsigned level, double *hits, double *misses)
{
   const TgLevel *const l = &side->level[level];
   *hits = 0.85 * (double)l->fits;
   *misses = fmax(1.7 * (double)l->misses, l->full);
   if (l->entries.sure != TG_NOT_TOLD)
      *misses = fmax(*misses, 1.7 * l->entries.value);
   if (level + 1 < side->n_levels)
      *misses = fmin(*misses, fmax(0.9 * (double)side->level[level + 1].fits,
                                   1.05 * (double)l->misses));
}

void tg_overlap_read(const TgCurve *curve, size_t n, const TgSide *side, unsigned level,
                     TgFigure *out)
{
   double hits, misses, alone = 0, among = INFINITY, noise = 0;
   unsigned chains = 0;
   tg_figure_not_told(out, "no independent misses were measured");
   if (level >= side->n_levels || side->level[level].miss_cycles.sure == TG_NOT_TOLD)
      return;
   around(side, level, &hits, &misses);
   for (size_t i = 0; i < n; i++) {
      const TgCurve *const c = &curve[i];
      TgExcess e;
      if (c->kind != TG_CURVE_OVERLAP || c->ask != side->ask || c->page_shift != side->page_shift)
         continue;
      tg_excess_read(c, NULL, &e);
      if (e.n < 3 || e.pages[e.n - 1] < misses || e.noise > 0.2)
         continue;
      const double more = tg_excess_at(&e, misses) - tg_excess_at(&e, hits);
      if (c->chains <= 1) {
         alone = more;
         noise = tg_excess_tolerance(&e, e.n - 1, 1);
      } else if (more < among) {
         among = more;
         chains = c->chains;
      }
   }
   if (alone <= 0 || chains == 0)
      return;
   if (alone < 2 * noise) {
      tg_figure_not_told(out, "the step is within the noise");
      return;
   }
   const double overlap = among * most_overlap <= alone ? most_overlap : alone / among;
   tg_figure_tell(out, round(fmin(fmax(overlap, least_overlap), most_overlap) * 10) / 10, TG_LIKELY,
                  "%.1f cycles alone, %.1f each with %u at a time", alone, among, chains);
}
