/* Reads whether large pages are translated whole, or in pieces of base pages, as where a hypervisor
   keeps its guest's memory in small pages; and what walks for such pieces cost. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/excess.h"
#include "measure/figure.h"

/* Such a part of the step of base pages is none, or is one: a walk for a piece of a large page is
   shorter by the last tables of the guest. */
static const double no_step = 0.1, a_step = 0.25;

static double rise(const TgExcess *e, double from, double to)
{
   return tg_excess_at(e, to) - tg_excess_at(e, from);
}

void tg_pieces_read(const TgCurve *pieces, const TgCurve *pages, const TgCurve *control,
                    const TgSide *base, TgLargeFacts *out)
{
   TgExcess large, small;
   memset(out, 0, sizeof *out);
   tg_figure_not_told(&out->walk_cycles, "no walk for a piece was seen");
   snprintf(out->why, sizeof out->why, "no level of base pages is told, or too few points are");
   if (!pieces)
      return;
   out->page_shift = pieces->page_shift;
   tg_excess_read(pieces, control, &large);
   tg_excess_read(pages, control, &small);
   if (!base || base->n_levels == 0 || large.n < 6 || small.n < 6)
      return;
   /* The last step is the highest, so it stands out of all noise. */
   const TgLevel *const first = &base->level[0], *const last = &base->level[base->n_levels - 1];
   const double from = 0.85 * (double)first->fits;
   const double to = fmin(large.pages[large.n - 1], 1.6 * (double)last->misses);
   const double there = rise(&small, from, to), here = rise(&large, from, to);
   const double noise = tg_excess_tolerance(&large, large.n - 1, 2);
   if (to < 1.2 * (double)last->misses || there < 3 * noise) {
      snprintf(out->why, sizeof out->why, "too little memory, or too much noise");
      return;
   }
   out->whole = here < no_step * there ? TG_WHOLE : here > a_step * there ? TG_IN_PIECES
                                                                          : TG_WHOLE_NOT_TOLD;
   snprintf(out->why, sizeof out->why,
            "%.0f lines, each in a base page's bytes, cost %.1f cycles more than %.0f, in base "
            "pages %.1f",
            to, here, from, there);
   if (out->whole == TG_IN_PIECES && base->last_walks)
      tg_figure_tell(&out->walk_cycles, here, TG_LIKELY, "%s", out->why);
}
