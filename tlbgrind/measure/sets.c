/* Reads ways, sets and index out of strides.

   Pages 2^k apart fall into fewer and fewer sets as k grows, so that fewer of them fit. Each shape
   that an array of so many entries can have predicts how many fit at each stride; the shape that
   agrees with the strides is told only if no other does. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/facts.h"
#include "measure/excess.h"
#include "measure/overflow.h"

enum {
   MAX_STRIDES = 24,
   MAX_SHAPES = 4096,
   MOST_WAYS = 64,  /* of an array that is not fully associative */
   FEWEST_AGREE = 3, /* strides that have to tell the same, base pages in a row among them */
   FEWEST_BY_3 = 24
};

/* One stride: so many pages fit, from the least to the most; `most` 0: not limited. */
typedef struct {
   unsigned shift;
   double least, most;
} Seen;

typedef struct {
   unsigned entries, ways, sets;
   unsigned xor; /* 0: modulo */
   unsigned wrong, agree, at_floor;
} Shape;

static int is_full(const Shape *s)
{
   return s->sets == 1;
}

static unsigned log2_of(unsigned value)
{
   unsigned n = 0;
   while (value >> (n + 1) != 0)
      n++;
   return n;
}

static unsigned xor_fit(const Shape *s, unsigned shift)
{
   static unsigned char used[1 << 16];
   memset(used, 0, s->sets);
   for (unsigned i = 0; i < s->entries; i++) {
      const uint64_t page = (uint64_t)i << shift;
      const unsigned set = (unsigned)(page ^ page >> s->xor) & (s->sets - 1);
      if (used[set]++ == s->ways)
         return i;
   }
   return s->entries;
}

/* How many pages fit at that stride. */
static unsigned fit_at(const Shape *s, unsigned shift)
{
   if (s->xor != 0)
      return xor_fit(s, shift);
   unsigned sets = s->sets;
   for (; shift > 0 && sets % 2 == 0; shift--)
      sets /= 2;
   return s->ways * sets;
}

static unsigned floor_of(const Shape *s)
{
   return fit_at(s, 31);
}

static void compare(Shape *s, const Seen *seen, unsigned n)
{
   for (unsigned i = 0; i < n; i++) {
      const double fit = fit_at(s, seen[i].shift);
      const double slack = seen[i].most > 0 && seen[i].most < 24 ? 0 : 0.04 * fit;
      if (fit < seen[i].least - slack || (seen[i].most > 0 && fit > seen[i].most + slack)) {
         s->wrong++;
      } else if (seen[i].most > 0 && seen[i].least > 0) {
         s->agree++;
         s->at_floor += fit == floor_of(s);
      }
   }
}

/* All shapes of so many entries: sets are a power of two, or three times one that is not small. */
static unsigned shapes_of(unsigned entries, Shape *out, unsigned n)
{
   if (n < MAX_SHAPES)
      out[n++] = (Shape){ .entries = entries, .ways = entries, .sets = 1 };
   for (unsigned ways = 1; ways <= MOST_WAYS && ways < entries; ways++) {
      if (entries % ways != 0)
         continue;
      const unsigned sets = entries / ways;
      const unsigned odd = sets >> log2_of(sets & (~sets + 1));
      if ((odd != 1 && (odd != 3 || sets < FEWEST_BY_3)) || sets >= 1 << 16)
         continue;
      if (n < MAX_SHAPES)
         out[n++] = (Shape){ .entries = entries, .ways = ways, .sets = sets };
      for (unsigned by = log2_of(sets); odd == 1 && sets > 1 && by <= log2_of(sets) + 2; by++) {
         if (n < MAX_SHAPES)
            out[n++] = (Shape){ .entries = entries, .ways = ways, .sets = sets, .xor = by };
      }
   }
   return n;
}

/* What a stride tells of level number `level` of the side: the step that leaves its height. */
static int see(const TgCurve *stride, const TgCurve *control, const TgSide *side, unsigned level,
               Seen *out)
{
   TgSide at;
   tg_levels_read(stride, control, &at);
   if (stride->n == 0)
      return 0;
   const TgLevel *const told = &side->level[level];
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
      const int hidden = level > 0
                         && l->before < (side->level[level - 1].before
                                         + side->level[level - 1].after) / 2;
      out->least = hidden ? 0 : (double)l->fits;
      out->most = hidden ? 1.75 * (double)l->misses : (double)l->misses - 1;
      return 1;
   }
   /* No step: at least as many fit as were tried, or not even the fewest. */
   TgExcess e;
   tg_excess_read(stride, control, &e);
   if (e.n < 6 || e.noise > 0.2 || at.n_levels > 0 || level > 0)
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
static double ramp_apart(const TgExcess *e, const TgLevel *level, const Shape *s)
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
   return (is_full(a) && is_full(b)) || (a->sets == b->sets && a->ways == b->ways);
}

/* What strides leave open, pages in a row can tell: strides of powers of two cannot tell 64 sets of
   24 from 192 of 8, and a level in front with more entries than this one has ways hides these. But
   under LRU, so many sets overflow one after the other. */
static const Shape *by_ramp(const TgCurve *pages, const TgCurve *control, const TgLevel *level,
                            const Shape *const *of, unsigned n)
{
   TgExcess e;
   const Shape *best = of[0];
   double least = 1, next = 1;
   if (!pages || level->miss_cycles.sure != TG_SURE)
      return NULL;
   tg_excess_read(pages, control, &e);
   for (unsigned i = 0; i < n; i++) {
      const double apart = ramp_apart(&e, level, of[i]);
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

static void tell(TgLevel *level, const Shape *s, int index, unsigned strides)
{
   level->ways.value = is_full(s) ? level->entries.value : s->ways;
   level->sets.value = is_full(s) ? 1 : s->sets;
   if (!is_full(s))
      level->entries.value = s->entries;
   level->index = is_full(s) || !index ? TG_INDEX_NOT_TOLD
                  : s->xor             ? TG_INDEX_XOR
                                       : TG_INDEX_MODULO;
   level->index_xor = level->index == TG_INDEX_XOR ? s->xor : 0;
   level->ways.sure = level->sets.sure = s->wrong == 0 && s->agree > FEWEST_AGREE ? TG_SURE
                                                                                  : TG_LIKELY;
   if (is_full(s))
      snprintf(level->ways.why, sizeof level->ways.why, "as many pages fit at %u of %u strides",
               s->agree, strides);
   else
      snprintf(level->ways.why, sizeof level->ways.why,
               "%u pages fit in the fewest sets; %u of %u strides agree", floor_of(s), s->agree,
               strides);
   memcpy(level->sets.why, level->ways.why, sizeof level->sets.why);
}

/* Whether the strides are wide enough to tell that there are not more sets. */
static int wide_enough(const Shape *s, const Seen *seen, unsigned n)
{
   unsigned widest = 0, fewer = 0;
   for (unsigned i = 0; i < n; i++) {
      if (seen[i].shift > widest)
         widest = seen[i].shift;
      fewer += seen[i].least > 0 && seen[i].most > 0 && fit_at(s, seen[i].shift) < s->entries;
   }
   return is_full(s) ? widest >= log2_of(s->entries) + 2
                     : s->at_floor >= 2 || (s->xor != 0 && fewer >= FEWEST_AGREE);
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
      while (k < found && !(same_sets(s, out[k]) && s->xor == out[k]->xor))
         k++;
      if (k == found)
         out[found++] = s;
      else if (s->wrong < out[k]->wrong)
         out[k] = s;
   }
   return found;
}

static void read_level(const TgCurve *pages, const TgCurve *control, const Seen *seen, unsigned n,
                       TgLevel *level)
{
   static Shape shape[MAX_SHAPES];
   static const Shape *of[MAX_SHAPES];
   unsigned shapes = 0;
   if (level->entries.sure == TG_NOT_TOLD) {
      say(level, "the entries are not told");
      return;
   }
   if (n < FEWEST_AGREE) {
      say(level, "too few strides tell of this level");
      return;
   }
   const uint64_t first = (uint64_t)((double)level->fits * 0.99), last = level->misses;
   for (uint64_t e = first > 0 ? first : 1; e < last && e < 1 << 16; e++)
      shapes = shapes_of((unsigned)e, shape, shapes);
   const unsigned found = agreeing(shape, shapes, seen, n, of);
   if (found == 0) {
      say(level, "no shape agrees with the strides");
      return;
   }
   const Shape *best = of[0];
   int alone = 1, index = 1;
   for (unsigned i = 1; i < found; i++)
      alone &= same_sets(of[i], best);
   if (alone && !wide_enough(best, seen, n)) {
      say(level, "the strides are not wide enough");
      return;
   }
   if (!alone)
      best = by_ramp(pages, control, level, of, found);
   if (!best) {
      say(level, "several shapes agree with the strides");
      return;
   }
   for (unsigned i = 0; i < found; i++)
      index &= !same_sets(of[i], best) || of[i]->xor == best->xor;
   tell(level, best, index, n);
}

void tg_sets_read(const TgCurve *stride, size_t n, const TgCurve *pages, const TgCurve *control,
                  TgSide *side)
{
   for (unsigned l = 0; l < side->n_levels; l++) {
      Seen seen[MAX_STRIDES];
      unsigned strides = 1;
      seen[0] = (Seen){ 0, (double)side->level[l].fits, (double)side->level[l].misses - 1 };
      for (size_t i = 0; i < n && strides < MAX_STRIDES; i++) {
         if (stride[i].kind == TG_CURVE_STRIDE && stride[i].ask == side->ask
             && stride[i].page_shift == side->page_shift && stride[i].stride_shift <= 24)
            strides += (unsigned)see(&stride[i], control, side, l, &seen[strides]);
      }
      read_level(pages, control, seen, strides, &side->level[l]);
   }
}
