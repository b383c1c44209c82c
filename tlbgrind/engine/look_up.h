/* The look-up of a segment's pages, all at once: what the check does (engine/check.h). */

#ifndef TG_LOOK_UP_H
#define TG_LOOK_UP_H

#include "pub_tool_basics.h"

#include "engine/batch.h"
#include "engine/segment_miss.h"
#include "trace/run_mmus.h"
#include "trace/segment_run.h"

/* What translated code calls at the end of a segment. It takes the running thread's guest state and
   the segment. */
typedef void TgCheck(UChar* guest_state, TgSegment* s);

/* With n_groups, more_fetches, shift and the Bools constants, a straight line of
   code. `now`: what the clock shows; `spread`: of a copy of the program, tg_copies_spread;
   `writes`, `split`: see tlb_run_traits. */
static inline __attribute__((always_inline))
void tg_look_up(const TgShadowArea* shadow, TgSegment* s, ULong now, UInt n_groups,
                UInt more_fetches, UInt shift, UWord spread, Bool writes, Bool split)
{
   tlb_page* page[TG_MAX_GROUPS];
   UWord differs = s->fetch->tag | tg_batching;

   for (UInt i = 0; i < more_fetches; i++)
      differs |= tg_segment_fetches(s)[i]->tag;
   #pragma GCC unroll 16
   for (UInt i = 0; i < n_groups; i++) {
      const TgGroup* g = &s->group[i];
      const Addr first = shadow->base[g->base] + g->first;
      page[i] = tg_near_page_behind(first, shift, spread);
      differs |= (first + g->span)
                 ^ tg_group_probe(g, page[i], writes)->tag;
      /* One group after the other: for all at once there are not enough
         registers. */
      __asm__("" : "+r"(differs), "+r"(s));
   }
   /* Bits below the page number say nothing. */
   if (UNLIKELY(differs >> shift != 0)) {
      for (UInt i = 0; i < n_groups; i++)
         tg_segment_page[i] = page[i];
      tg_segment_miss(shadow, s, differs >> shift, n_groups, more_fetches);
      return;
   }
   /* Times that are in the right order, and later than those of all segments
      before. Those of fetches and of data are not compared with each other. */
   s->fetch->time = now - more_fetches;
   for (UInt i = 0; i < more_fetches; i++)
      tg_segment_fetches(s)[i]->time = now - (more_fetches - 1 - i);
   #pragma GCC unroll 16
   for (UInt i = 0; i < n_groups; i++)
      tg_group_probe(&s->group[i], page[i], split)->time
         = now - (n_groups - 1 - i);
}

#endif
