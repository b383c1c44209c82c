/* Reads ways, sets and index out of strides.

   Pages 2^k apart fall into fewer and fewer sets as k grows, so that fewer of them fit. Each shape
   that an array of so many entries can have predicts how many fit at each stride; the shape that
   agrees with the strides is told only if no other does. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/excess.h"
#include "measure/figure.h"
#include "measure/overflow.h"
#include "measure/shapes.h"

enum {
   MAX_STRIDES = 24,
   MAX_SHAPES = 4096,
   FEWEST_AGREE = 3 /* strides that have to tell the same, base pages in a row among them */
};

/* The curves of a side: those by strides, the one by pages in a row (or NULL), and the caches. */
typedef struct {
   const TgCurve *stride[MAX_STRIDES];
   unsigned n;
   const TgCurve *pages, *control;
} Curves;

/* A shape, and how the strides agree with it. */
typedef struct {
   TgShape is;
   unsigned wrong, agree, at_floor;
} Shape;

/* One stride: so many pages fit, from the least to the most; `most` 0: not limited. */
typedef struct {
   unsigned shift;
   double least, most;
} Seen;

static void compare(Shape *s, const Seen *seen, unsigned n)
{
   for (unsigned i = 0; i < n; i++) {
      const double fit = tg_shape_fits(&s->is, seen[i].shift);
      const double slack = seen[i].most > 0 && seen[i].most < 24 ? 0 : 0.04 * fit;
      if (fit < seen[i].least - slack || (seen[i].most > 0 && fit > seen[i].most + slack)) {
         s->wrong++;
      } else if (seen[i].most > 0 && seen[i].least > 0) {
         s->agree++;
         s->at_floor += fit == tg_shape_floor(&s->is);
      }
   }
}

/* All shapes of so many entries, behind those that are there already. */
static unsigned add_shapes(unsigned entries, Shape *out, unsigned n)
{
   static TgShape of[TG_SHAPES_OF];
   const unsigned found = tg_shapes_of(entries, of);
   for (unsigned i = 0; i < found && n < MAX_SHAPES; i++)
      out[n++] = (Shape){ .is = of[i] };
   return n;
}

/* What a stride tells of a level: the step that leaves its height. `front`: the level in front of
   it, or NULL. */
static int see(const TgCurve *stride, const TgCurve *control, const TgLevel *front,
               const TgLevel *told, Seen *out)
{
   TgSide at;
   tg_levels_read(stride, control, &at);
   if (stride->n == 0)
      return 0;
   const double middle = (told->before + told->after) / 2;
   out->shift = stride->stride_shift;
   for (unsigned i = 0; i < at.n_levels; i++) {
      const TgLevel *const l = &at.level[i];
      if (l->before > middle || l->after < middle)
         continue;
      if (l->entries.sure == TG_NOT_TOLD)
         return 0;
      /* A step from before the level in front: that level's knee hides this one's. Two knees close
         to each other are one step, too. */
      const int hidden = front && l->before < (front->before + front->after) / 2;
      out->least = hidden ? 0 : (double)l->fits;
      out->most = hidden ? 1.75 * (double)l->misses : (double)l->misses - 1;
      return 1;
   }
   /* No step: at least as many fit as were tried, or not even the fewest. */
   TgExcess e;
   tg_excess_read(stride, control, &e);
   if (e.n < 6 || e.noise > 0.2 || at.n_levels > 0 || front)
      return 0;
   const int fits = e.over[0] < middle;
   out->least = fits ? e.pages[e.n - 1] * 0.8 : 0;
   out->most = fits ? 0 : fmax(e.pages[0], 4);
   return 1;
}

static void say(TgLevel *level, const char *why)
{
   level->ways.value = level->sets.value = 0;
   level->ways.sure = level->sets.sure = TG_NOT_TOLD;
   level->index = TG_INDEX_NOT_TOLD;
   level->index_xor = 0;
   snprintf(level->ways.why, sizeof level->ways.why, "%s", why);
   snprintf(level->sets.why, sizeof level->sets.why, "%s", why);
}

/* Whether pages in a row overflow as LRU in that shape: how far the curve is from it. */
static double ramp_apart(const TgExcess *e, const TgLevel *level, const TgShape *s)
{
   double sum = 0;
   unsigned n = 0;
   for (size_t i = 0; i < e->n; i++) {
      if (e->pages[i] <= s->entries * 1.01 || e->pages[i] > s->entries * 1.6)
         continue;
      const double part = (e->over[i] - level->before) / (level->after - level->before);
      sum += fabs(part - tg_lru_misses(e->pages[i], s->sets, s->ways));
      n++;
   }
   return n >= 3 ? sum / n : 1;
}

static int same_sets(const Shape *a, const Shape *b)
{
   return (tg_shape_is_full(&a->is) && tg_shape_is_full(&b->is))
          || (a->is.sets == b->is.sets && a->is.ways == b->is.ways);
}

/* What strides leave open, pages in a row can tell: strides of powers of two cannot tell 64 sets of
   24 from 192 of 8, and a level in front with more entries than this one has ways hides these. But
   under LRU, so many sets overflow one after the other. */
static const Shape *by_ramp(const Curves *c, const TgLevel *level, const Shape *const *of,
                            unsigned n)
{
   TgExcess e;
   const Shape *best = of[0];
   double least = 1, next = 1;
   if (!c->pages || level->miss_cycles.sure != TG_SURE)
      return NULL;
   tg_excess_read(c->pages, c->control, &e);
   for (unsigned i = 0; i < n; i++) {
      const double apart = ramp_apart(&e, level, &of[i]->is);
      if (apart < least) {
         if (!same_sets(best, of[i]))
            next = least;
         best = of[i];
         least = apart;
      } else if (!same_sets(best, of[i])) {
         next = fmin(next, apart);
      }
   }
   return least < 0.05 && next > 2 * least + 0.04 ? best : NULL;
}

/* At how many points of a curve more pages miss than can in that shape. Noise only ever adds, so
   the margin is wide. */
static unsigned points_beyond(const TgExcess *e, unsigned stride_shift, const TgLevel *level,
                              const TgShape *s)
{
   static const double margin = 0.15;
   const double fits = tg_shape_fits(s, stride_shift);
   unsigned beyond = 0;
   for (size_t i = 0; i < e->n && e->pages[i] <= 2 * fits; i++) {
      const double part = (e->over[i] - level->before) / (level->after - level->before);
      beyond += e->pages[i] > fits
                && part > margin + tg_shape_can_miss(s, (unsigned)e->pages[i], stride_shift);
   }
   return beyond;
}

/* Drops shapes in which fewer pages can miss than do, unless that holds for each. Strides of powers
   of two cannot tell 16 sets of 6 from 48 of 2; but there, of 8 pages in three sets, two hit.
   Returns how many are left. */
static unsigned possible(const Curves *c, const TgLevel *level, const Shape **of, unsigned n)
{
   enum { FEWEST_POINTS = 3 };
   static unsigned beyond[MAX_SHAPES];
   unsigned left = 0;
   memset(beyond, 0, n * sizeof *beyond);
   for (unsigned k = 0; k <= c->n; k++) {
      const TgCurve *const curve = k < c->n ? c->stride[k] : c->pages;
      TgExcess e;
      tg_excess_read(curve, c->control, &e);
      for (unsigned i = 0; i < n; i++)
         beyond[i] += points_beyond(&e, k < c->n ? curve->stride_shift : 0, level, &of[i]->is);
   }
   for (unsigned i = 0; i < n; i++) {
      if (beyond[i] < FEWEST_POINTS)
         of[left++] = of[i];
   }
   return left > 0 ? left : n;
}

static void tell(TgLevel *level, const Shape *s, int index, unsigned strides)
{
   level->ways.value = tg_shape_is_full(&s->is) ? level->entries.value : s->is.ways;
   level->sets.value = tg_shape_is_full(&s->is) ? 1 : s->is.sets;
   if (!tg_shape_is_full(&s->is))
      level->entries.value = s->is.entries;
   level->index = tg_shape_is_full(&s->is) || !index ? TG_INDEX_NOT_TOLD
                  : s->is.xor                        ? TG_INDEX_XOR
                                                     : TG_INDEX_MODULO;
   level->index_xor = level->index == TG_INDEX_XOR ? s->is.xor : 0;
   level->ways.sure = level->sets.sure = s->wrong == 0 && s->agree > FEWEST_AGREE ? TG_SURE
                                                                                  : TG_LIKELY;
   if (tg_shape_is_full(&s->is))
      snprintf(level->ways.why, sizeof level->ways.why, "as many pages fit at %u of %u strides",
               s->agree, strides);
   else
      snprintf(level->ways.why, sizeof level->ways.why,
               "%u pages fit in the fewest sets; %u of %u strides agree",
               tg_shape_floor(&s->is), s->agree, strides);
   memcpy(level->sets.why, level->ways.why, sizeof level->sets.why);
}

/* Whether the strides are wide enough to tell that there are not more sets. */
static int wide_enough(const Shape *s, const Seen *seen, unsigned n)
{
   unsigned widest = 0, fewer = 0;
   for (unsigned i = 0; i < n; i++) {
      if (seen[i].shift > widest)
         widest = seen[i].shift;
      fewer += seen[i].least > 0 && seen[i].most > 0
               && tg_shape_fits(&s->is, seen[i].shift) < s->is.entries;
   }
   return tg_shape_is_full(&s->is) ? ldexp(1, (int)widest) >= 4.0 * s->is.entries
                                   : s->at_floor >= 2
                                        || (s->is.xor != 0 && fewer >= FEWEST_AGREE);
}

/* The shapes that agree best with the strides, and those that one stride more would make so, each
   once. */
static unsigned agreeing(Shape *shape, unsigned shapes, const Seen *seen, unsigned n,
                         const Shape **out)
{
   unsigned least = n + 1, found = 0;
   for (unsigned i = 0; i < shapes; i++) {
      compare(&shape[i], seen, n);
      if (shape[i].agree >= FEWEST_AGREE && shape[i].wrong < least)
         least = shape[i].wrong;
   }
   if (least * 5 > n)
      return 0;
   for (unsigned i = 0; i < shapes; i++) {
      const Shape *const s = &shape[i];
      unsigned k = 0;
      if (s->agree < FEWEST_AGREE || s->wrong > least + (least > 0))
         continue;
      while (k < found && !(same_sets(s, out[k]) && s->is.xor == out[k]->is.xor))
         k++;
      if (k == found)
         out[found++] = s;
      else if (s->wrong < out[k]->wrong)
         out[k] = s;
   }
   return found;
}

/* Returns whether the strides contradict each shape. */
static int read_level(const Curves *c, const Seen *seen, unsigned n, TgLevel *level)
{
   static Shape shape[MAX_SHAPES];
   static const Shape *of[MAX_SHAPES];
   unsigned shapes = 0;
   if (level->entries.sure == TG_NOT_TOLD) {
      say(level, "the entries are not told");
      return 0;
   }
   if (n < FEWEST_AGREE) {
      say(level, "too few strides tell of this level");
      return 0;
   }
   const uint64_t first = (uint64_t)((double)level->fits * 0.99), last = level->misses;
   for (uint64_t e = first > 0 ? first : 1; e < last && e < 1 << 16; e++)
      shapes = add_shapes((unsigned)e, shape, shapes);
   unsigned found = agreeing(shape, shapes, seen, n, of);
   if (found == 0) {
      say(level, "no shape agrees with the strides");
      return 1;
   }
   if (found > 1)
      found = possible(c, level, of, found);
   const Shape *best = of[0];
   int alone = 1, index = 1;
   for (unsigned i = 1; i < found; i++)
      alone &= same_sets(of[i], best);
   if (alone && !wide_enough(best, seen, n)) {
      say(level, "the strides are not wide enough");
      return 0;
   }
   if (!alone)
      best = by_ramp(c, level, of, found);
   if (!best) {
      say(level, "several shapes agree with the strides");
      return 0;
   }
   for (unsigned i = 0; i < found; i++)
      index &= !same_sets(of[i], best) || of[i]->is.xor == best->is.xor;
   tell(level, best, index, n);
   if (!alone)
      level->ways.sure = level->sets.sure = TG_LIKELY;
   return 0;
}

/* The first steps of fetches are none of an array's, but of guesses where they go, if strides
   contradict them, so many of them, and tell the next. */
static void drop_guesses(TgSide *side, unsigned contradicted)
{
   if (side->ask != TG_ASK_FETCH || contradicted == 0)
      return;
   if (contradicted == side->n_levels || side->level[contradicted].ways.sure == TG_NOT_TOLD) {
      for (unsigned l = 0; l < contradicted; l++)
         tg_figure_not_told(&side->level[l].entries, side->level[l].ways.why);
      return;
   }
   const size_t n = strlen(side->why);
   snprintf(side->why + n, sizeof side->why - n, "; the first %s of an array",
            contradicted == 1 ? "is none" : "are none");
   side->n_levels -= contradicted;
   memmove(&side->level[0], &side->level[contradicted], side->n_levels * sizeof *side->level);
}

void tg_sets_read(const TgCurve *stride, size_t n, const TgCurve *pages, const TgCurve *control,
                  TgSide *side)
{
   Curves c = { .pages = pages, .control = control };
   const TgLevel *front = NULL;
   unsigned contradicted = 0; /* so many of the first levels */
   for (size_t i = 0; i < n && c.n < MAX_STRIDES; i++) {
      if (stride[i].kind == TG_CURVE_STRIDE && stride[i].ask == side->ask
          && stride[i].page_shift == side->page_shift && stride[i].stride_shift <= 24)
         c.stride[c.n++] = &stride[i];
   }
   for (unsigned l = 0; l < side->n_levels; l++) {
      TgLevel *const level = &side->level[l];
      Seen seen[1 + MAX_STRIDES];
      unsigned strides = 1;
      seen[0] = (Seen){ 0, (double)level->fits, (double)level->misses - 1 };
      for (unsigned i = 0; i < c.n; i++)
         strides += (unsigned)see(c.stride[i], control, front, level, &seen[strides]);
      if (!read_level(&c, seen, strides, level) || side->ask != TG_ASK_FETCH)
         front = level;
      else if (contradicted == l)
         contradicted++;
   }
   drop_guesses(side, contradicted);
}
