/* Segments of which one page is not known: nine of ten that are more than the check can
   do, with many machines; with one, those that neither tg_fast_lru() nor
   tg_fast_any() can do. */

#ifndef TG_ONE_MISS_H
#define TG_ONE_MISS_H

#include "pub_tool_basics.h"

#include "trace/superblocks.h"
#include "sim/mmu/refer.h"
#include "trace/run_mmus.h"
#include "trace/segment_pages.h"
#include "trace/segment_run.h"
#include "engine/replay.h"
#include "engine/fast_lru.h"
#include "engine/fast_any.h"
#include "engine/translate.h"

/* Simulates reference r to page p, whose number is `number`, as far as it is one of that
   kind, at the time `now`, for many machines. Where loads and stores are told apart, one
   that modifies is two of them. */
static inline __attribute__((always_inline))
void tg_many_see(TgRef* r, tlb_page* p, tlb_page_number number, tlb_user kind, ULong now,
                 Bool split)
{
   if (UNLIKELY((split && r->modifies) || r->locked
                || !tlb_refer_group(&tg_mmus, tg_ref_misses(r), p, number, kind, now, split)))
      tg_translate(r, p, number, now, True);
}

/* The same for one machine, no other page of the segment being unknown. */
static inline void tg_one_sees(TgRef* r, tlb_page* p, UWord number, tlb_user kind, ULong now)
{
   if (tg_fast_path[kind].other && tg_fast_any_see(r, p, kind, now))
      return;
   if (!tg_go_fast_path(kind, r, p, now))
      tg_translate(r, p, number, now, True);
}

static inline __attribute__((always_inline))
void tg_see(TgRef* r, tlb_page* p, UWord number, tlb_user kind, ULong now, Bool split,
            Bool many)
{
   if (many)
      tg_many_see(r, p, number, kind, now, split);
   else
      tg_one_sees(r, p, number, kind, now);
}

/* Simulates a segment of which one page is not known, or, with several machines (`many`),
   several pages of data; `differs`: see tg_replay(). The Bools are constants. Returns
   False, and has done nothing, if it is not that simple. */
static inline __attribute__((always_inline))
Bool tg_one_unknown(const TgShadowArea* shadow, TgSegment* s, UWord differs, UInt n_groups,
                    Bool writes, Bool split, Bool many)
{
   TgRef* const ref = (TgRef*)(Addr)(s->group + n_groups);
   tg_simulated = s;
   if (differs == TLB_CODE_UNKNOWN) {
      /* Who holds code alone evicts none of the data. */
      if (UNLIKELY(ref->kind != TLB_FETCH || tg_mmus.traits.code_behind))
         return False;
      tg_see(ref, s->fetch, tlb_code_page_number(s->fetch, TG_4K_SHIFT), TLB_FETCH,
             tg_time_of_ref(s, 0), split, many);
      tg_note_times(s, n_groups, split);
      return True;
   }
   UInt unknown;
   if (n_groups == 0 || differs != TLB_DATA_UNKNOWN)
      return False;
   if (tg_count_unknown(s, n_groups, writes, &unknown) != 1) {
      if (many)
         tg_replay_unknown(shadow, s);
      return many;
   }
   const TgGroup* g = &s->group[unknown];
   const UInt nth = g->oldest;
   TgRef* r = &ref[nth];
   tlb_page* p = tg_segment_page[unknown];
   if (!split && tg_write_is_observed(g, p))
      return False;
   const tlb_user kind = !split ? r->kind : tg_group_writes(g) ? TLB_STORE : TLB_LOAD;
   tg_note_before(s, n_groups, nth, split);
   tg_see(r, p, tlb_page_number_of_data(p, TG_4K_SHIFT), kind,
          tg_time_of_ref(s, nth), split, many);
   if (UNLIKELY(n_groups > 1
                && (tg_count_unknown(s, n_groups, writes, &unknown) != 0
                    || s->fetch->tag != 0)))
      tg_replay_from(shadow, s, nth + 1);
   else if (UNLIKELY(tg_mmus.traits.own_times))
      tg_exact_times(s, n_groups, split);
   else
      tg_note_times(s, n_groups, split);
   return True;
}

#endif
