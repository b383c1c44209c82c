/* The short way of the common miss. See engine/fast_lru.h. */

#include "pub_tool_basics.h"

#include "sim/tlb/policy.h"

#include "engine/batch.h"
#include "sim/mmu/miss_counts.h"
#include "engine/fast_lru.h"
#include "trace/segment_pages.h"
#include "trace/segment_run.h"
#include "sim/mmu/traits.h"
#include "faults/page_use.h"

TgFastPath tg_fast_path[TLB_N_USERS];
Bool tg_fast_path_is_lru;

/* --- Behind the first level --- */

static tlb_reference reference_of(tlb_user kind, tlb_key key, ULong now)
{
   const UChar shift = (UChar)tg_mmus.mmu[0].h.base_shift;
   return (tlb_reference){ .page = tlb_key_page(key), .now = now,
                           .user = (uint8_t)kind, .page_shift = shift,
                           .block_shift = shift };
}

void tg_fast_path_second(tlb_user kind, TgRef* r, tlb_page* p, tlb_key key,
                         ULong now)
{
   tlb_hierarchy* h = &tg_mmus.mmu[0].h;
   const TgFastPath* w = &tg_fast_path[kind];
   const tlb_reference ref = reference_of(kind, key, now);
   tlb_outcome o = { .missed = 0 };
   if (w->second == NULL) {
      tlb_translate_behind(h, &ref, &o);
      o.missed &= ~1u; /* which has been booked */
      tlb_book_misses(r->misses, &o);
      return;
   }
   UInt entry = tlb_plain_find(w->second, key);
   if (entry != TLB_MISS) {
      w->second->time[entry] = now;
      r->misses[TG_CYCLES - TG_MISS_1] += w->hit_cycles;
   } else {
      o.missed = 1u << 1;
      tlb_hierarchy_walk(h, &ref, &o);
      entry = tlb_array_fill(w->second, key, now);
      tlb_book_misses(r->misses, &o);
      if (!tg_page_use_on)
         tg_batch_walked();
   }
   tlb_rest(p)->place = entry;
}

void tg_fast_missed(tlb_user kind, TgRef* r, tlb_page* p, tlb_key key, ULong now)
{
   tg_ref_misses(r);
   tg_fast_path_missed(&tg_fast_path[kind], kind, r, p, key, now);
}

/* --- Several pages of data --- */

static inline __attribute__((always_inline))
Bool several(const TgSegment* s, UInt n_groups, Bool writes)
{
   for (;;) {
      UInt unknown;
      const UInt nth = tg_first_unknown(s, n_groups, writes, &unknown);
      if (nth == TG_NO_REF)
         break;
      TgRef* r = &tg_segment_refs(s)[nth];
      tlb_page* p = tg_segment_page[unknown];
      if (writes && tg_write_is_observed(&s->group[unknown], p))
         return False;
      if (!tg_fast_lru_miss(&tg_fast_path[TLB_LOAD], r->kind, r, p, s,
                               tg_time_of_ref(s, nth), False, n_groups, False,
                               writes, False))
         return False;
   }
   tg_note_times(s, n_groups, False);
   return True;
}

Bool tg_fast_lru_several(const TgSegment* s, UInt n_groups, Bool writes)
{
   return writes ? several(s, n_groups, True) : several(s, n_groups, False);
}

/* --- First levels of any kind --- */

/* The entry's time is the page's from now on, and references to it change
   nothing more. */
static void become_known(tlb_array* a, UInt entry, tlb_page* p, tlb_user kind)
{
   tlb_array_attach(a, entry, &p->time);
   tlb_rest(p)->observers = 0;
   if (kind == TLB_FETCH)
      tlb_code_settle(p);
   else
      tlb_data_settle(&tg_mmus, p);
}

/* Where it is not one for loads or stores alone. */
static Bool refer_any(TgRef* r, tlb_page* p, tlb_key key, ULong now)
{
   tlb_array* a = tg_fast_path[r->kind].first;
   if (a->g.policy == TLB_NRU) {
      /* It may be there, with its used bit off. */
      const UInt entry = tlb_array_lookup(a, key, now);
      if (entry != TLB_MISS) {
         become_known(a, entry, p, r->kind);
         return True;
      }
   } else if (!tlb_array_all_attached(a)) {
      return False;
   }
   become_known(a, tlb_array_fill(a, key, now), p, r->kind);
   tg_fast_missed(r->kind, r, p, key, now);
   return True;
}

Bool tg_go_fast_path(tlb_user kind, TgRef* r, tlb_page* p, ULong now)
{
   const TgFastPath* w = &tg_fast_path[kind];
   const UInt shift = tg_mmus.traits.page_shift;
   const Bool split = tg_mmus.traits.split;
   const UWord probe_at = split ? tlb_probe_at(kind) : 0;
   tlb_array* a = w->first;
   if (a == NULL || *tg_observers_of(p, kind, split) != 1)
      return False;
   const UWord number
      = kind == TLB_FETCH ? tlb_code_page_number(p, shift)
                         : tlb_page_number_of_data(tlb_probe(p, probe_at), shift);
   const tlb_key key = number | w->size;
   const UInt set = (UInt)number & a->set_mask;
   if ((!w->plain && !w->tree) || a->filled[set] != a->g.ways
       || !tlb_array_all_attached(a))
      return !split && refer_any(r, p, key, now);
   const UInt entry = w->plain ? tg_fast_path_oldest(w, set)
                               : tlb_policy_oldest_known(a, 0);
   tlb_page* victim = tg_page_of_time(w->short_cut[entry], probe_at);
   uint64_t* time = &tlb_probe(p, probe_at)->time;
   tlb_array_replace(a, entry, key, now, time);
   *time = now;
   tg_fast_exchange(p, victim, probe_at, kind, shift, kind == TLB_FETCH,
                     tg_mmus.traits.writes, split);
   tg_fast_missed(kind, r, p, key, now);
   return True;
}

/* --- Where there is one --- */

/* The second level, if it is the last, the only one there, and plain. */
static tlb_array* plain_second(tlb_mmu* mmu, const tlb_stop* stop, UInt shift)
{
   tlb_array* a = &mmu->h.array[stop->array[0]];
   return mmu->h.levels == 2 && stop->n == 1 && stop->shift[0] == shift
             && a->plain ? a : NULL;
}

/* An array that both loads and stores ask, where something else tells them
   apart: its pages have two times. */
static Bool is_shared(const tlb_array* a)
{
   const tlb_port* port = a->opaque;
   return tg_mmus.traits.split && port->reads && port->writes;
}

static void find(tlb_mmu* mmu, tlb_user kind)
{
   const UInt shift = mmu->h.base_shift;
   const tlb_stop* stop = &tlb_route_of(&mmu->h, kind, shift, shift)->at[1];
   tlb_array* first = tlb_base_array(mmu, kind);
   if (first == NULL || mmu->h.entry_level[kind] != 0 || is_shared(first))
      return;
   TgFastPath* w = &tg_fast_path[kind];
   w->first = first;
   w->plain = first->plain && first->set_mask != TLB_NO_MASK;
   w->tree = first->tree != NULL && first->sets == 1;
   w->other = !w->plain && !tg_mmus.traits.split && first->set_mask != TLB_NO_MASK;
   const Bool watches = first->g.policy == TLB_NRU && first->g.ways > 1;
   w->few_watched = watches && first->g.ways == 4;
   w->known = first->g.entries - (watches ? first->sets : 0);
   w->n_attached = &first->n_attached;
   w->entries = first->g.entries
                + (w->plain && !tlb_needs_exact_times(mmu) ? 0 : 1);
   w->ways = first->g.ways;
   w->set_mask = first->set_mask;
   w->key = first->key;
   w->short_cut = first->short_cut;
   w->size = tlb_key_of(0, shift, 0);
   w->second = plain_second(mmu, stop, shift);
   if (w->second != NULL) {
      w->second_key = w->second->key;
      w->second_time = w->second->time;
      w->hit_cycles
         = tlb_known_cycles(mmu->machine->array[stop->array[0]].hit_cycles);
   }
}

void tg_fast_path_find(Bool fast_path)
{
   static const uint32_t none;
   tg_fast_path_is_lru = False;
   for (UInt kind = 0; kind < TLB_N_USERS; kind++) {
      tg_fast_path[kind] = (TgFastPath){ .n_attached = &none, .entries = 1 };
      if (fast_path && tg_mmus.n_mmus == 1 && !tlb_has_also_behind(&tg_mmus.mmu[0]))
         find(&tg_mmus.mmu[0], kind);
      tg_fast_path_is_lru |= tg_fast_path[kind].plain;
   }
   /* Who does not tell reads and writes apart takes the one for the other. */
   TgFastPath* w = tg_fast_path;
   if (!tg_mmus.traits.split && w[TLB_LOAD].second != w[TLB_STORE].second)
      w[TLB_LOAD].second = w[TLB_STORE].second = NULL;
}
