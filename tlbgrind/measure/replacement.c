/* Tells whether a level overflows as under LRU: pages that are used in turn then all miss in a set
   that has one too few ways. Under PLRU or random some stay. */

#include <math.h>
#include <stdio.h>

#include "measure/facts.h"
#include "measure/excess.h"
#include "measure/overflow.h"

/* So much of the step may noise and single entries that the kernel takes explain. */
static const double alike = 0.12;
static const double unlike = 0.18;

static void say(TgLevel *level, TgBehind behind, const char *why)
{
   level->behind = behind;
   snprintf(level->behind_why, sizeof level->behind_why, "%s", why);
}

/* Without the sets: LRU is over the step at 1.5 times the entries, unless it is direct-mapped. */
static void by_height_alone(const TgExcess *e, TgLevel *level)
{
   const double entries = level->entries.value, height = level->after - level->before;
   unsigned near = 0, far = 0, full = 0, low = 0;
   for (size_t i = 0; i < e->n; i++) {
      const double n = e->pages[i] / entries, part = (e->over[i] - level->before) / height;
      if (n >= 1.03 && n <= 1.15) {
         near++;
         full += part >= 1 - alike;
      } else if (n >= 1.55 && n <= 2.2) {
         far++;
         low += part < 1 - alike;
      }
   }
   if (near >= 1 && full == near)
      say(level, TG_BEHIND_LRU_LIKE, "all miss from 3 % more pages on");
   else if (low >= 2 && 2 * low > far)
      say(level, TG_BEHIND_SLOPE, "some still hit with half as many pages more");
   else
      say(level, TG_BEHIND_NOT_TOLD, "without the ways, this slope may be one set after the other");
}

static void by_sets(const TgExcess *e, TgLevel *level)
{
   const double ways = level->ways.value, sets = level->sets.value;
   const double entries = ways * sets, height = level->after - level->before;
   double sum = 0;
   unsigned n = 0, below = 0;
   for (size_t i = 0; i < e->n; i++) {
      const double pages = e->pages[i];
      const double lru = tg_lru_misses(pages, sets, ways);
      if (pages < entries * 1.02 || pages > entries * 1.7 || lru < 0.3)
         continue;
      const double apart = (e->over[i] - level->before) / height - lru;
      sum += apart;
      n++;
      below += apart < -unlike;
   }
   if (n < 2)
      say(level, TG_BEHIND_NOT_TOLD, "too few points behind the step");
   else if (fabs(sum / n) <= alike && below * 4 <= n)
      say(level, TG_BEHIND_LRU_LIKE, "misses grow as under LRU with these ways");
   else if (below >= 2 && below * 3 >= n)
      say(level, TG_BEHIND_SLOPE, "fewer miss than would under LRU with these ways");
   else
      say(level, TG_BEHIND_NOT_TOLD, "neither as LRU nor clearly below");
}

void tg_replacement_read(const TgCurve *pages, const TgCurve *control, TgLevel *level)
{
   TgExcess e;
   tg_excess_read(pages, control, &e);
   if (level->entries.sure == TG_NOT_TOLD || level->after <= level->before) {
      say(level, TG_BEHIND_NOT_TOLD, "the entries are not told");
      return;
   }
   if (level->after - level->before < 2 * e.taken * e.cycles[e.n - 1]
       || e.pages[e.n - 1] < 1.6 * level->entries.value) {
      say(level, TG_BEHIND_NOT_TOLD, "too much noise, or too few points behind the step");
      return;
   }
   if (level->miss_cycles.sure != TG_SURE)
      say(level, TG_BEHIND_NOT_TOLD, "behind the step the cycles go on growing");
   else if (level->ways.sure != TG_NOT_TOLD && level->sets.sure != TG_NOT_TOLD)
      by_sets(&e, level);
   else
      by_height_alone(&e, level);
}
