/* The short way of other first levels. See engine/fast_any.h. */

#include "pub_tool_basics.h"

#include "engine/fast_any.h"

static inline __attribute__((always_inline))
void several(const TgHot* hot, TgSegment* s, UInt n_groups, Bool writes)
{
   const TgShortWay* w = &tg_short_way[TG_READ];
   UInt unknown;
   UInt nth;
   tg_simulated = s;
   while ((nth = tg_first_unknown(s, n_groups, writes, &unknown)) != TG_NO_REF) {
      TgRef* r = &tg_segment_refs(s)[nth];
      TgPage* p = tg_segment_page[unknown];
      if (UNLIKELY((writes && tg_write_is_wanted(&s->group[unknown], p))
                   || !tg_short_other_known(w) || tg_rest(p)->wanted != 1)) {
         tg_replay_from(hot, s, nth);
         return;
      }
      const ULong now = tg_time_of_ref(s, nth);
      const tlb_key key = tg_short_key(w, p, False, TG_SHORT_SHIFT);
      Bool is_missed;
      tg_note_before(s, n_groups, nth, False);
      const TgPage* lost = tg_short_other_refer(w, r->kind, p, key, now, TG_SHORT_SHIFT,
                                                False, writes, &is_missed);
      if (is_missed)
         tg_short_missed(r->kind, r, p, key, now);
      if (UNLIKELY(tg_is_among(lost, tg_segment_page, n_groups))) {
         tg_replay_from(hot, s, nth + 1);
         return;
      }
   }
   tg_exact_times(s, n_groups, False);
}

void tg_short_other_several(const TgHot* hot, TgSegment* s, UInt n_groups, Bool writes)
{
   if (writes)
      several(hot, s, n_groups, True);
   else
      several(hot, s, n_groups, False);
}

Bool tg_short_other_see(TgRef* r, TgPage* p, TgKind kind, ULong now)
{
   const TgShortWay* w = &tg_short_way[kind];
   const UInt shift = tg_knowledge.page_shift;
   const Bool code = kind == TG_FETCH;
   if (!tg_short_other_known(w) || tg_rest(p)->wanted != 1)
      return False;
   const tlb_key key = tg_short_key(w, p, code, shift);
   Bool is_missed;
   tg_short_other_refer(w, kind, p, key, now, shift, code, tg_knowledge.writes,
                        &is_missed);
   if (is_missed)
      tg_short_missed(kind, r, p, key, now);
   return True;
}
