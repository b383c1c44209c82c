/* Reads what walks cost: with the tables near, and more as they outgrow each cache. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/excess.h"
#include "measure/figure.h"

enum { ENTRY_BYTES = 8 };

/* A cache has no sharp end: below and above this ratio to its size it certainly is the one, or
   certainly no longer. Far beyond the last there would be too many tables. */
static const double within = 0.5, beyond = 4, beyond_last = 2;

/* Bytes of last-level tables in use for so many pages that far apart. */
static double table_bytes(const TgCurve *tables, unsigned line_bytes, double pages)
{
   const double apart = ldexp(ENTRY_BYTES, (int)tables->stride_shift);
   return pages * fmin(apart, line_bytes);
}

/* Of half of the rounds with so many pages, as they were measured. */
static double median_at(const TgCurve *tables, double pages)
{
   for (size_t i = 0; i < tables->n; i++) {
      if ((double)tables->point[i].pages == pages)
         return tables->point[i].cycles + tables->point[i].spread;
   }
   return 0;
}

/* The least cost of a walk with tables of [from, to] bytes, and its median; the least is the
   processor's, for noise only adds. */
static int cost_within(const TgExcess *e, const TgCurve *tables, unsigned line_bytes, size_t first,
                       double base, double from, double to, double *out, double *usual)
{
   for (size_t i = first; i < e->n; i++) {
      const double bytes = table_bytes(tables, line_bytes, e->pages[i]);
      if (bytes < from || bytes > to)
         continue;
      /* The middle of a rising stretch would be another cache's; its begin is of this one. */
      *out = e->over[i] - base;
      *usual = fmax(*out, median_at(tables, e->pages[i]) - base);
      return 1;
   }
   return 0;
}

/* Where the rounds differ by more than that, others use the cache. */
static const double many_times = 1.25;

static void tell_usual(double cycles, double usual, TgFigure *f)
{
   const size_t n = strlen(f->why);
   if (usual > many_times * cycles)
      snprintf(f->why + n, sizeof f->why - n, "; %.1f or more in half of the rounds", usual);
}

static void tell_behind(const TgExcess *e, const TgCurve *tables, unsigned line_bytes, size_t first,
                        double base, const TgCacheFacts *cache, unsigned n_caches,
                        int is_guest, TgWalkFacts *out)
{
   double least = 0, most = 0;
   out->n_behind = n_caches > 0 ? n_caches + 1 : 0;
   for (unsigned i = 0; i < out->n_behind; i++) {
      TgFigure *const f = &out->behind[i];
      /* The hypervisor's tables fill as much of the last cache as the guest's. */
      const double ratio = i < n_caches ? beyond : is_guest ? beyond_last / 2 : beyond_last;
      const double from = i == 0 ? 0 : ratio * cache[i - 1].about;
      const double to = i == n_caches ? INFINITY : within * cache[i].about;
      double cycles, usual;
      if (i == 0) {
         tg_figure_tell(f, 0, TG_SURE, "the others are compared with it");
      } else if (out->near_cycles.sure == TG_NOT_TOLD) {
         tg_figure_not_told(f, "no walk was seen");
      } else if (!cost_within(e, tables, line_bytes, first, base, from, to, &cycles,
                              &usual)) {
         tg_figure_not_told(f, "no tables of a size between those of the caches were measured");
      } else {
         least = fmax(least, cycles - out->near_cycles.value);
         tg_figure_tell(f, least, TG_LIKELY,
                        "a walk costs %.1f cycles with tables beyond %.0f KB, %.1f with near ones",
                        cycles, from / 1024, out->near_cycles.value);
         tell_usual(cycles, usual, f);
         most = fmax(most, least);
         if (usual > many_times * cycles)
            most = fmax(most, usual - out->near_cycles.value);
         out->usual[i] = most;
      }
   }
}

/* What a walk costs by the bytes of tables, from one power of two to the next. */
static void tell_costs(const TgExcess *e, const TgCurve *tables, unsigned line_bytes, size_t first,
                       double base, TgWalkFacts *out)
{
   double next = 0;
   for (size_t i = first; i < e->n && out->n_costs < TG_MAX_TABLE_COSTS; i++) {
      const double bytes = table_bytes(tables, line_bytes, e->pages[i]);
      if (bytes < next)
         continue;
      out->cost[out->n_costs++] = (TgTableCost){ (uint64_t)bytes, e->over[i] - base };
      next = 1.9 * bytes;
   }
}

void tg_walk_read(const TgCurve *tables, unsigned line_bytes, const TgSide *side,
                  const TgCacheFacts *cache, unsigned n_caches, int is_guest, TgWalkFacts *out)
{
   TgExcess e;
   memset(out, 0, sizeof *out);
   out->page_shift = side->page_shift;
   tg_figure_not_told(&out->overlap, "no independent walks were measured");
   if (side->n_levels == 0 || !side->last_walks) {
      tg_figure_not_told(&out->near_cycles, side->n_levels == 0 ? side->why
                                                                : "no walk was seen");
      return;
   }
   const TgLevel *const first = &side->level[0], *const last = &side->level[side->n_levels - 1];
   const double in_pages = last->after - first->before;
   tg_figure_tell(&out->near_cycles, in_pages, last->miss_cycles.sure, "%s", last->miss_cycles.why);
   tg_excess_read(tables, NULL, &e);
   if (e.n < 6 || e.noise > 0.2)
      return;
   /* From where on they are walks: above the middle of the last level's step. */
   const double base = e.over[0];
   const double middle = (last->before + last->after) / 2 - first->before;
   size_t walks = 0;
   while (walks < e.n && e.over[walks] - base < middle)
      walks++;
   /* All of them are, a little behind. */
   const double all = walks < e.n ? 1.3 * e.pages[walks] : 0;
   while (walks < e.n && e.pages[walks] < all)
      walks++;
   if (walks == e.n)
      return;
   const double here = e.over[walks] - base;
   const double bytes = table_bytes(tables, line_bytes, e.pages[walks]);
   if (here < in_pages || out->near_cycles.sure == TG_NOT_TOLD) {
      tg_figure_tell(&out->near_cycles, here,
                     n_caches > 0 && bytes <= cache[0].about ? TG_SURE : TG_LIKELY,
                     "a walk costs %.1f cycles with %.0f KB of tables in use, %u rounds", here,
                     bytes / 1024, e.rounds);
      out->near_bytes = bytes;
   }
   tell_costs(&e, tables, line_bytes, walks, base, out);
   tell_behind(&e, tables, line_bytes, walks, base, cache, n_caches, is_guest, out);
}
