/* The short way where the first level is of another kind than tg_fast_lru() is for:
   of many ways, or of another policy. One machine; see engine/fast_lru.h. */

#ifndef TG_FAST_ANY_H
#define TG_FAST_ANY_H

#include "pub_tool_basics.h"

#include "sim/tlb/policy.h"

#include "trace/superblocks.h"
#include "trace/shadow_area.h"
#include "trace/run_mmus.h"
#include "trace/segment_pages.h"
#include "trace/segment_run.h"
#include "engine/replay.h"
#include "engine/fast_lru.h"

/* What tells the page from others in the first level; `code` is a constant. */
static inline tlb_key tg_fast_any_key(const TgFastPath* w, const tlb_page* p, Bool code,
                                   UInt shift)
{
   return w->size
          | (code ? tlb_code_page_number(p, shift) : tlb_page_number_of_data(p, shift));
}

/* Whether all is known that the first level holds, but what NRU watches: then what is
   wanted is either watched or not there. */
static inline Bool tg_fast_any_known(const TgFastPath* w)
{
   const tlb_array* a = w->first;
   return a->n_filled == a->g.entries && a->n_attached == w->known;
}

/* References page p, whose key that is, and which is wanted by the one machine alone; of
   the first level all is known. `code` and `writes` are constants. Returns the page that
   is wanted instead. */
static inline __attribute__((always_inline))
tlb_page* tg_fast_any_refer(const TgFastPath* w, tlb_user kind, tlb_page* p, tlb_key key,
                             ULong now, UInt shift, Bool code, Bool writes,
                             Bool* missed)
{
   tlb_array* a = w->first;
   const UInt set = (UInt)key & w->set_mask;
   int is_missed;
   uint64_t* time
      = w->few_watched
           ? tlb_policy_refer_few(a, set, key, now, &p->time, &is_missed, 4)
           : tlb_policy_refer_known(a, set, key, now, &p->time, &is_missed);
   tlb_page* lost = tg_page_of_time(time, 0);
   tg_fast_exchange(p, lost, 0, kind, shift, code, writes, False);
   *missed = is_missed != 0;
   return lost;
}

/* A segment of which only page p is unknown, to which reference number `nth` is the
   first. Returns False, and has done nothing, if it is not that simple. `n_groups` and
   the Bools are constants. */
static inline __attribute__((always_inline))
Bool tg_fast_any_segment(const TgShadowArea* shadow, TgSegment* s, UInt n_groups, tlb_page* p,
                            UInt nth, Bool code, Bool writes)
{
   TgRef* r = (TgRef*)(Addr)(s->group + n_groups) + nth;
   const tlb_user kind = code ? TLB_FETCH : r->kind;
   const TgFastPath* w = &tg_fast_path[code ? TLB_FETCH : TLB_LOAD];
   if (UNLIKELY(!tg_fast_any_known(w) || tlb_rest(p)->observers != 1 || r->misses == NULL))
      return False;
   const ULong now = tg_time_of_ref(s, nth);
   const tlb_key key = tg_fast_any_key(w, p, code, TG_4K_SHIFT);
   Bool missed;
   if (!code)
      tg_note_before(s, n_groups, nth, False);
   tlb_page* lost = tg_fast_any_refer(w, kind, p, key, now, TG_4K_SHIFT, code, writes,
                                       &missed);
   if (!code && UNLIKELY(tg_is_among(lost, tg_segment_page, n_groups))) {
      if (missed)
         tg_fast_path_missed(w, kind, r, p, key, now);
      tg_simulated = s;
      tg_replay_from(shadow, s, nth + 1);
      return True;
   }
   if (code)
      tg_note_times(s, n_groups, False);
   else
      tg_exact_times(s, n_groups, False);
   if (missed)
      tg_fast_path_missed(w, kind, r, p, key, now);
   return True;
}

/* A segment several of whose data pages are unknown. */
void tg_fast_any_several(const TgShadowArea* shadow, TgSegment* s, UInt n_groups, Bool writes);

/* Simulates a segment of which only code or only data is unknown, as tg_fast_lru();
   loads and stores are not told apart. Returns False, and has done nothing, if it is not
   that simple. */
static inline __attribute__((always_inline))
Bool tg_fast_any(const TgShadowArea* shadow, TgSegment* s, UWord differs, UInt n_groups,
                    Bool writes)
{
   if (differs == TLB_CODE_UNKNOWN)
      return tg_fast_path[TLB_FETCH].other && LIKELY(tg_segment_refs(s)->kind == TLB_FETCH)
             && tg_fast_any_segment(shadow, s, n_groups, s->fetch, 0, True, writes);
   if (n_groups == 0 || differs != TLB_DATA_UNKNOWN || !tg_fast_path[TLB_LOAD].other)
      return False;
   UInt unknown;
   if (tg_count_unknown(s, n_groups, writes, &unknown) != 1) {
      tg_fast_any_several(shadow, s, n_groups, writes);
      return True;
   }
   const TgGroup* g = &s->group[unknown];
   tlb_page* p = tg_segment_page[unknown];
   if (writes && tg_write_is_observed(g, p))
      return False;
   return tg_fast_any_segment(shadow, s, n_groups, p, g->oldest, False, writes);
}

/* Simulates one reference of that kind to page p. Returns False, and has done nothing, if
   it is not that simple. */
Bool tg_fast_any_see(TgRef* r, tlb_page* p, tlb_user kind, ULong now);

#endif
