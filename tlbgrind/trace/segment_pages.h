/* The pages of the segment that was run last: which of its groups begin on an unknown
   page, and the times that its references leave at the others. */

#ifndef TG_SEGMENT_PAGES_H
#define TG_SEGMENT_PAGES_H

#include "pub_tool_basics.h"

#include <stddef.h>

#include "trace/segment_run.h"
#include "trace/superblocks.h"
#include "trace/run_mmus.h"

static inline Bool tg_is_among(const tlb_page* p, tlb_page* const* page, UInt n)
{
   Bool found = False;
   for (UInt i = 0; i < n; i++)
      found |= page[i] == p;
   return found;
}

/* Whether anything observes the first write of a group to a page, which need
   not be its first reference. */
static inline Bool tg_write_is_observed(const TgGroup* g, const tlb_page* p)
{
   return tg_group_writes(g) && tlb_rest(p)->write_observers != 0;
}

/* How many of the segment's groups begin on a page that is not known; *which is one of
   them. */
static inline __attribute__((always_inline))
UInt tg_count_unknown(const TgSegment* s, UInt n_groups, Bool writes, UInt* which)
{
   UInt n = 0;
   UInt found = 0;
   #pragma GCC unroll 4
   for (UInt i = 0; i < n_groups; i++) {
      const tlb_page* p = tg_group_probe(&s->group[i], tg_segment_page[i], writes);
      const Bool is_unknown = tlb_is_data_unknown(p);
      n += is_unknown;
      found = is_unknown ? i : found;
   }
   *which = found;
   return n;
}

/* No reference has this number. */
#define TG_NO_REF (~0u)

/* Notes the times of a segment's groups before number `nth` of its references. */
static inline __attribute__((always_inline))
void tg_note_before(const TgSegment* s, UInt n_groups, UInt nth, Bool split)
{
   if (n_groups < 2)
      return;
   #pragma GCC unroll 4
   for (UInt i = 0; i < n_groups; i++) {
      const TgGroup* g = &s->group[i];
      if (g->oldest >= nth)
         continue;
      tlb_page* p = tg_group_probe(g, tg_segment_page[i], split);
      const ULong time
         = tg_time_of_ref(s, g->newest < nth ? g->newest : tg_last_before(s, g, nth));
      p->time = p->time > time ? p->time : time;
   }
}

/* Notes the times of a segment all of which is known. */
static inline __attribute__((always_inline))
void tg_note_times(const TgSegment* s, UInt n_groups, Bool split)
{
   tlb_page* const* page = tg_segment_page;
   const ULong now = tg_clock;
   s->fetch->time = now;
   #pragma GCC unroll 4
   for (UInt i = 0; i < n_groups; i++)
      tg_group_probe(&s->group[i], page[i], split)->time
         = now - (n_groups - 1 - i);
}

/* The same where times are compared with others than those of pages: of each group that
   of its last reference. */
static inline __attribute__((always_inline))
void tg_exact_times(const TgSegment* s, UInt n_groups, Bool split)
{
   s->fetch->time = tg_clock;
   #pragma GCC unroll 4
   for (UInt i = 0; i < n_groups; i++) {
      const TgGroup* g = &s->group[i];
      tg_group_probe(g, tg_segment_page[i], split)->time = tg_time_of_ref(s, g->newest);
   }
}

#endif
