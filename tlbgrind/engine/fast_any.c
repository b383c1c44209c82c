/* The short way of other first levels. See engine/fast_any.h. */

#include "pub_tool_basics.h"

#include "trace/segment_pages.h"
#include "trace/segment_run.h"
#include "engine/fast_any.h"

static inline __attribute__((always_inline))
void several(const TgShadowArea* shadow, TgSegment* s, UInt n_groups, Bool writes)
{
   const TgFastPath* w = &tg_fast_path[TLB_LOAD];
   UInt unknown;
   UInt nth;
   tg_simulated = s;
   while ((nth = tg_first_unknown(s, n_groups, writes, &unknown)) != TG_NO_REF) {
      TgRef* r = &tg_segment_refs(s)[nth];
      tlb_page* p = tg_segment_page[unknown];
      if (UNLIKELY((writes && tg_write_is_observed(&s->group[unknown], p))
                   || !tg_fast_any_known(w) || tlb_rest(p)->observers != 1)) {
         tg_replay_from(shadow, s, nth);
         return;
      }
      const ULong now = tg_time_of_ref(s, nth);
      const tlb_key key = tg_fast_any_key(w, p, False, TG_4K_SHIFT);
      Bool is_missed;
      tg_note_before(s, n_groups, nth, False);
      const tlb_page* lost = tg_fast_any_refer(w, r->kind, p, key, now, TG_4K_SHIFT,
                                                False, writes, &is_missed);
      if (is_missed)
         tg_fast_missed(r->kind, r, p, key, now);
      if (UNLIKELY(tg_is_among(lost, tg_segment_page, n_groups))) {
         tg_replay_from(shadow, s, nth + 1);
         return;
      }
   }
   tg_exact_times(s, n_groups, False);
}

void tg_fast_any_several(const TgShadowArea* shadow, TgSegment* s, UInt n_groups, Bool writes)
{
   if (writes)
      several(shadow, s, n_groups, True);
   else
      several(shadow, s, n_groups, False);
}

Bool tg_fast_any_see(TgRef* r, tlb_page* p, tlb_user kind, ULong now)
{
   const TgFastPath* w = &tg_fast_path[kind];
   const UInt shift = tg_mmus.traits.page_shift;
   const Bool code = kind == TLB_FETCH;
   if (!tg_fast_any_known(w) || tlb_rest(p)->observers != 1)
      return False;
   const tlb_key key = tg_fast_any_key(w, p, code, shift);
   Bool is_missed;
   tg_fast_any_refer(w, kind, p, key, now, shift, code, tg_mmus.traits.writes,
                        &is_missed);
   if (is_missed)
      tg_fast_missed(kind, r, p, key, now);
   return True;
}
