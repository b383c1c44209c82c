/* Reads the TLB levels out of a curve by pages: each step of its excess is the end of a level. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/figure.h"
#include "measure/steps.h"

/* A rise over more than this ratio of pages is not of evenly filled sets: where it begins is not
   surely where they are full. */
static const double widest_rise = 1.6;

/* No translation array has fewer entries; what fewer pages show is of the core. */
static const double least_entries = 4;

/* A knee so close to that of a cache may be the cache's, or the page tables leaving it. */
static const double beside_cache = 1.25;

/* Stores to many pages whose lines leave the cache cost more and more up to this ratio behind
   it. */
static const double behind_cache_stores = 1.6;

/* No hit of any level costs so many cycles more: behind such a step are walks, which cost more and
   more as the tables leave the caches. */
static const double surely_walks = 40;

/* So many times the step of a cache at the same place is of more than the cache. A store waits for
   its line behind its translation, each behind a barrier, and the two add up to more than both. */
static const double surely_more = 1.35, surely_more_stores = 2.5;

/* A rise of the caches that is less than this part of the step does not make it. */
static const double small_rise = 0.4;

/* Two points so far apart tell the entries only roughly, and so far apart not at all. */
static const double fine_gap = 1.15;
static const double widest_gap = 2.01;

/* How far half of the rounds are from the least, in parts of the step, over that ratio of pages on
   either side of it. */
static const double around_step = 1.3, sure_apart = 0.2, most_apart = 0.7;

/* What the caches' cost rises at the step, from that ratio before to a little behind. */
static double cache_rise(const TgExcess *caches, const TgStep *s, double before)
{
   if (caches->n == 0)
      return 0;
   return tg_excess_at(caches, s->misses * beside_cache)
          - tg_excess_at(caches, s->misses / before);
}

/* Where rounds differ by much of the step, its place is not sure, or not known. */
static void doubt_noise(const TgExcess *e, const TgStep *s, TgFigure *f)
{
   const double apart = tg_excess_spread(e, s->fits / around_step, s->misses * around_step);
   const double height = s->after - s->before;
   if (apart > most_apart * height)
      tg_figure_not_told(f, "the rounds differ too much around the step");
   else if (apart > sure_apart * height && f->sure == TG_SURE)
      f->sure = TG_LIKELY;
}

static void read_level(const TgExcess *e, const TgExcess *caches, const TgStep *s, TgAsk ask,
                       unsigned number, TgLevel *out)
{
   const double height = s->after - s->before;
   memset(out, 0, sizeof *out);
   out->fits = (uint64_t)ceil(s->fits);
   out->misses = (uint64_t)fmax(ceil(s->misses), ceil(s->fits) + 1);
   out->full = s->full;
   out->before = s->before;
   out->after = s->after;
   TgFigure *const f = &out->entries;
   f->value = tg_step_capacity(s);
   /* Front ends run ahead and hide what fetches wait for; predictors have steps of their own. */
   const int doubtful = s->uneven || s->full > widest_rise * s->misses || e->noise >= 0.1
                        || caches->n == 0
                        || (ask == TG_ASK_FETCH && s->open == 0 && number > 0);
   f->sure = !doubtful && height >= 2.5 * s->tolerance && s->misses <= fine_gap * s->fits
                ? TG_SURE
                : TG_LIKELY;
   snprintf(f->why, sizeof f->why,
            "a %s from %.1f to %.1f cycles %s %llu and %llu pages, %u rounds",
            s->uneven ? "slope" : "step", s->before, s->after,
            s->uneven ? "with its middle between" : "between", (unsigned long long)out->fits,
            (unsigned long long)out->misses, e->rounds);
   out->miss_cycles = *f;
   out->miss_cycles.value = height;
   if (s->open)
      out->miss_cycles.sure = TG_LIKELY;
   doubt_noise(e, s, f);
   if (s->misses > widest_gap * s->fits)
      tg_figure_not_told(f, "the points around the step are too far apart");
   tg_figure_not_told(&out->ways, "no strides were measured");
   tg_figure_not_told(&out->sets, "no strides were measured");
   tg_figure_not_told(&out->overlap, "no independent misses were measured");
   snprintf(out->behind_why, sizeof out->behind_why, "not looked at");
}

/* Whether the step can be told from those of the caches, and from what walks cost more when the
   page tables leave a cache. A rise that noise can be counts if it is a large part of the step. */
static int of_a_tlb(TgAsk ask, const TgExcess *caches, const TgStep *s)
{
   const int stores = ask == TG_ASK_STORE;
   const double rise = cache_rise(caches, s, stores ? behind_cache_stores : beside_cache);
   const double height = s->after - s->before;
   const double surely = stores ? surely_more_stores : surely_more;
   return height >= surely * rise
          || (rise <= 3 * s->tolerance && rise <= small_rise * height);
}

static void say_nothing(TgSide *out, const char *why)
{
   out->n_levels = 0;
   out->sure = TG_NOT_TOLD;
   snprintf(out->why, sizeof out->why, "%s", why);
}

void tg_levels_read(const TgCurve *pages, const TgCurve *control, TgSide *out)
{
   TgExcess e, caches;
   TgStep step[TG_MAX_STEPS];
   memset(out, 0, sizeof *out);
   if (!pages) {
      say_nothing(out, "not measured");
      return;
   }
   out->ask = pages->ask;
   out->page_shift = pages->page_shift;
   tg_excess_read(pages, control, &e);
   tg_excess_read(control, NULL, &caches);
   if (e.n < 6) {
      say_nothing(out, "too few points");
      return;
   }
   if (e.noise > 0.2) {
      say_nothing(out, "the machine was too busy: the rounds differ too much");
      return;
   }
   const unsigned n = tg_steps_read(&e, step);
   unsigned beside = 0;
   for (unsigned i = 0; i < n && out->n_levels < TG_SIDE_LEVELS; i++) {
      if (step[i].misses <= least_entries)
         continue;
      if (step[i].before - e.over[0] >= surely_walks)
         break; /* Walks already; the tables leave a cache. */
      if (!of_a_tlb(pages->ask, &caches, &step[i])) {
         beside++;
         continue;
      }
      const int walks = step[i].after - step[i].before >= surely_walks;
      /* What a walk costs is read soon behind the knee, before the tables leave a cache. */
      if (walks)
         step[i].after = fmax(step[i].before + surely_walks,
                              fmin(step[i].after, tg_excess_at(&e, 1.6 * step[i].misses)));
      read_level(&e, &caches, &step[i], out->ask, out->n_levels, &out->level[out->n_levels]);
      out->n_levels++;
      if (walks)
         break;
   }
   if (out->n_levels == 0) {
      say_nothing(out, beside > 0 ? "the only step lies where that of a cache lies"
                                  : "no step: every number of pages costs the same");
      return;
   }
   const TgLevel *const last = &out->level[out->n_levels - 1];
   out->last_walks = e.pages[e.n - 1] >= 1.5 * last->entries.value;
   out->sure = TG_SURE;
   for (unsigned i = 0; i < out->n_levels; i++) {
      if (out->level[i].entries.sure < out->sure)
         out->sure = out->level[i].entries.sure;
   }
   snprintf(out->why, sizeof out->why, "%u steps up to %.0f pages%s", out->n_levels,
            e.pages[e.n - 1], beside > 0 ? "; one more lies where that of a cache lies" : "");
}
