/* Segments of which several data pages are unknown. See engine/several_misses.h. */

#include "pub_tool_basics.h"

#include "engine/fast_path.h"
#include "engine/several_misses.h"
#include "trace/run_mmus.h"
#include "trace/segment_pages.h"

/* Whether another page of the segment is in the set of page p, which has that key. */
static inline __attribute__((always_inline))
Bool meets_another(const TgFastPath* w, tlb_key key, const tlb_page* p, UInt n_groups)
{
   Bool found = False;
   #pragma GCC unroll 4
   for (UInt i = 0; i < n_groups; i++) {
      const tlb_page* other = tg_segment_page[i];
      const UWord number = tlb_page_number_of_data(other, TG_4K_SHIFT);
      found |= other != p && ((number ^ key) & w->set_mask) == 0;
   }
   return found;
}

/* Which entry is evicted for the key of page p by reference number nth. Only pages of the
   segment that are in the same set have times that say too little, if they have been referenced
   in this segment already: these are noted first. (To LRU they make no difference, if it is not
   one of these pages that is evicted, for the true times are later.) Returns False if a page of
   the segment is evicted, or if the policy is another. */
static inline __attribute__((always_inline))
Bool find_victim(const TgFastPath* w, tlb_key key, const TgSegment* s, const tlb_page* p,
                 UInt n_groups, UInt nth, UInt* entry)
{
   if (w->plru_ways != 0) {
      if (meets_another(w, key, p, n_groups))
         tg_note_before(s, n_groups, nth, False);
      *entry = tg_fast_plru_victim(w, key);
   } else if (w->search == TG_FAST_LRU) {
      *entry = tg_fast_lru_oldest(TG_FAST_LRU, w, key);
   } else if (w->search == TG_FAST_TREE) {
      *entry = tg_fast_lru_oldest(TG_FAST_TREE, w, key);
   } else {
      return False;
   }
   return !tg_is_among(tlb_page_of_time(w->short_cut[*entry], 0), tg_segment_page, n_groups);
}

/* Simulates the first reference to the page of group number `which`. Returns False, and has done
   nothing, if it is not as simple as that. */
static inline __attribute__((always_inline))
Bool miss_page(const TgSegment* s, UInt n_groups, UInt which, Bool writes)
{
   const TgGroup* g = &s->group[which];
   TgRef* r = (TgRef*)(Addr)(s->group + n_groups) + g->oldest;
   tlb_page* p = tg_segment_page[which];
   const tlb_user kind = r->kind == TLB_STORE ? TLB_STORE : TLB_LOAD;
   const TgFastPath* w = &tg_fast_path[TLB_LOAD];
   const tlb_key key = tg_fast_key(w, p, 0, TG_4K_SHIFT, False);
   const ULong now = tg_time_of_ref(s, g->oldest);
   UInt entry;
   if (w->search == TG_FAST_NONE || (writes && tg_write_is_observed(g, p)) || r->misses == NULL
       || !tg_fast_path_is_open(w, kind, p, False)
       || !find_victim(w, key, s, p, n_groups, g->oldest, &entry))
      return False;
   uint64_t* lost = w->search == TG_FAST_TREE
                       ? tg_fast_lru_replace(TG_FAST_TREE, w, entry, key, now, &p->time)
                       : tg_fast_replace(w, entry, key, &p->time);
   p->time = now;
   tg_fast_exchange(p, tlb_page_of_time(lost, 0), 0, kind, TG_4K_SHIFT, False, writes, False);
   tg_fast_path_missed(w, kind, r, p, key, now);
   return True;
}

/* Which of these groups' pages are not known. */
static inline __attribute__((always_inline))
UInt still_unknown(const TgSegment* s, UInt bits, Bool writes)
{
   UInt unknown = 0;
   for (; bits != 0; bits &= bits - 1) {
      const UInt i = (UInt)__builtin_ctz(bits);
      const tlb_page* p = tg_group_probe(&s->group[i], tg_segment_page[i], writes);
      unknown |= (UInt)tlb_is_data_unknown(p) << i;
   }
   return unknown;
}

/* n_groups: a constant. What is simulated makes none of the segment's pages unknown. */
static inline __attribute__((always_inline))
Bool miss_several(const TgSegment* s, UInt n_groups)
{
   const Bool writes = tg_mmus.traits.writes;
   UInt bits = 0;
   #pragma GCC unroll 4
   for (UInt i = 0; i < n_groups; i++) {
      const tlb_page* p = tg_group_probe(&s->group[i], tg_segment_page[i], writes);
      bits |= (UInt)tlb_is_data_unknown(p) << i;
   }
   while (bits != 0) {
      UInt first = (UInt)__builtin_ctz(bits);
      for (UInt rest = bits & (bits - 1); rest != 0; rest &= rest - 1) {
         const UInt i = (UInt)__builtin_ctz(rest);
         first = s->group[i].oldest < s->group[first].oldest ? i : first;
      }
      if (UNLIKELY(!miss_page(s, n_groups, first, writes)))
         return False;
      bits = still_unknown(s, bits & ~(1u << first), writes);
   }
   tg_note_times(s, n_groups, False);
   return True;
}

Bool tg_several_misses_2(const TgSegment* s)
{
   return miss_several(s, 2);
}

Bool tg_several_misses_3(const TgSegment* s)
{
   return miss_several(s, 3);
}

Bool tg_several_misses_4(const TgSegment* s)
{
   return miss_several(s, 4);
}

Bool tg_several_misses_n(const TgSegment* s)
{
   return miss_several(s, s->n_groups);
}
