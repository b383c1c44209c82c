/* Reads the data caches: their sizes as the system tells them, else from a curve of lines that lie
   side by side, and what a reference costs that is found in each, from that curve. */

#include <math.h>
#include <string.h>

#include "measure/figure.h"
#include "measure/steps.h"

/* A cache has no sharp end: below and above this ratio to its size it certainly is the one, or
   certainly no longer. */
static const double within = 0.5, beyond = 2;

/* A rise over more than this ratio of lines has no end that tells a size: caches that are indexed
   by physical addresses fill unevenly, and others use them meanwhile. */
static const double widest_rise = 1.5;

/* A cache costs so many times as much as the nearer one at least, and up to its end about what it
   costs at its begin; else it is a part of a long rise. */
static const double least_ratio = 1.25, flat_ratio = 1.15;

static void not_measured(TgCacheFacts *c)
{
   tg_figure_not_told(&c->found, "no curve reaches so far");
   tg_figure_not_told(&c->beyond, "no curve reaches so far");
}

/* From the given sizes: the curve tells cycles where the size of one cache is left far behind, and
   that of the next is not near. */
static void tell_cycles(const TgExcess *e, unsigned line_bytes, unsigned n, TgCacheFacts *out)
{
   double least = 0;
   for (unsigned i = 0; i < n; i++) {
      const double size = out[i].bytes.value / line_bytes;
      const double from = i == 0 ? 1 : beyond * out[i - 1].bytes.value / line_bytes;
      const double to = fmax(from, within * size);
      if (e->n >= 6 && e->pages[e->n - 1] >= from && to <= beyond * size) {
         /* Noise only adds, and the curve never falls: its first point there is the cleanest. */
         least = fmax(least, tg_excess_at(e, i == 0 ? to : from));
         tg_figure_tell(&out[i].found, least, TG_LIKELY, "%.1f cycles with %.0f KB in use", least,
                        (i == 0 ? to : from) * line_bytes / 1024);
         if (i > 0)
            out[i - 1].beyond = out[i].found;
      }
   }
   const double behind = beyond * out[n - 1].bytes.value / line_bytes;
   if (e->n >= 6 && e->pages[e->n - 1] >= behind)
      tg_figure_tell(&out[n - 1].beyond, fmax(least, tg_excess_at(e, behind)), TG_LIKELY,
                     "%.1f cycles with %.0f KB in use", tg_excess_at(e, behind),
                     behind * line_bytes / 1024);
}

static unsigned from_given(const TgExcess *e, unsigned line_bytes, const TgGivenCache *given,
                           unsigned n, TgCacheFacts out[TG_MAX_CACHES])
{
   n = n < TG_MAX_CACHES ? n : TG_MAX_CACHES;
   for (unsigned i = 0; i < n; i++) {
      memset(&out[i], 0, sizeof out[i]);
      out[i].about = (double)given[i].bytes;
      out[i].ways = given[i].ways;
      tg_figure_tell(&out[i].bytes, (double)given[i].bytes, TG_SURE, "as the system tells it");
      not_measured(&out[i]);
   }
   tell_cycles(e, line_bytes, n, out);
   return n;
}

static unsigned from_steps(const TgExcess *e, unsigned line_bytes, TgCacheFacts out[TG_MAX_CACHES])
{
   TgStep step[TG_MAX_STEPS];
   unsigned n = 0;
   if (e->n < 6 || e->noise > 0.2)
      return 0;
   const unsigned steps = tg_steps_read(e, step);
   for (unsigned i = 0; i < steps && n < TG_MAX_CACHES; i++) {
      /* No cache of data has fewer lines. */
      if (step[i].misses <= 32)
         continue;
      TgCacheFacts *const c = &out[n++];
      memset(c, 0, sizeof *c);
      c->about = tg_step_capacity(&step[i]) * line_bytes;
      tg_figure_tell(&c->bytes, c->about, TG_LIKELY,
                     "a step from %.1f to %.1f cycles between %.0f and %.0f lines", step[i].before,
                     step[i].after, step[i].fits, step[i].misses);
      tg_figure_tell(&c->found, step[i].before, TG_LIKELY, "%s", c->bytes.why);
      tg_figure_tell(&c->beyond, step[i].after, TG_LIKELY, "%s", c->bytes.why);
      const double begin = n > 1 ? c[-1].beyond.value : e->over[0];
      if (step[i].full > widest_rise * step[i].misses || step[i].open || step[i].uneven
          || step[i].before > flat_ratio * begin || step[i].after < least_ratio * step[i].before)
         tg_figure_not_told(&c->bytes, "the cycles rise over a long stretch of lines");
   }
   return n;
}

unsigned tg_caches_read(const TgCurve *control, unsigned line_bytes, const TgGivenCache *given,
                        unsigned n_given, TgCacheFacts out[TG_MAX_CACHES])
{
   TgExcess e;
   tg_excess_read(control, NULL, &e);
   return n_given > 0 ? from_given(&e, line_bytes, given, n_given, out)
                      : from_steps(&e, line_bytes, out);
}
