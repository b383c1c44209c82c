/* The fast path of a miss. See engine/fast_path.h. */

#include "pub_tool_basics.h"

#include "engine/batch.h"
#include "sim/mmu/miss_counts.h"
#include "engine/fast_path.h"
#include "trace/segment_pages.h"
#include "trace/segment_run.h"
#include "sim/mmu/traits.h"

TgFastPath tg_fast_path[TLB_N_USERS];

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
   UInt entry = tlb_array_lookup(w->second, key, now);
   if (entry != TLB_MISS) {
      r->misses[TG_CYCLES - TG_MISS_1] += w->hit_cycles;
   } else {
      o.missed = 1u << 1;
      tlb_hierarchy_walk(h, &ref, &o);
      entry = tlb_array_fill(w->second, key, now);
      tlb_book_misses(r->misses, &o);
      tg_batch_walked();
   }
   tlb_rest(p)->place = entry;
}

/* --- Both --- */

Bool tg_fast_path_refer(tlb_user kind, TgRef* r, tlb_page* p, ULong now)
{
   const TgFastPath* w = &tg_fast_path[kind];
   const UInt shift = tg_mmus.traits.page_shift;
   const Bool split = tg_mmus.traits.split;
   const Bool code = kind == TLB_FETCH;
   if (w->search == TG_FAST_NONE || !tg_fast_path_is_open(w, kind, p, split))
      return False;
   const UWord probe_at = split ? tlb_probe_at(kind) : 0;
   uint64_t* const time = &tlb_probe(p, probe_at)->time;
   const tlb_key key = tg_fast_key(w, p, probe_at, shift, code);
   uint64_t* lost;
   if (w->search == TG_FAST_LRU) {
      const UInt entry = tg_fast_lru_oldest(TG_FAST_LRU, w, key);
      lost = w->short_cut[entry];
      tlb_array_replace(w->first, entry, key, now, time);
      *time = now;
   } else {
      lost = tg_fast_policy_refer(w, key, now, time);
   }
   tg_fast_exchange(p, tlb_page_of_time(lost, probe_at), probe_at, kind, shift, code,
                    tg_mmus.traits.writes, split);
   tg_ref_misses(r);
   tg_fast_path_missed(w, kind, r, p, key, now);
   return True;
}

/* --- Where there is one --- */

/* The second level, if it is the last, the only one there, and a hit in it only sets the time
   of the entry: not one that has to see hits, nor one of pairs. */
static tlb_array* simple_second(tlb_mmu* mmu, const tlb_stop* stop, UInt shift)
{
   tlb_array* a = &mmu->h.array[stop->array[0]];
   return mmu->h.levels == 2 && stop->n == 1 && stop->shift[0] == shift
             && a->policy->by != TLB_BY_HITS && a->halves == NULL && !a->also_behind ? a : NULL;
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
   if (first == NULL || mmu->h.entry_level[kind] != 0 || is_shared(first)
       || first->set_mask == TLB_NO_MASK)
      return;
   TgFastPath* w = &tg_fast_path[kind];
   w->search = first->plain ? TG_FAST_LRU : first->tree != NULL ? TG_FAST_TREE : TG_FAST_POLICY;
   w->plru_ways = first->policy->by == TLB_BY_TREE && (first->g.ways == 4 || first->g.ways == 8)
                     && first->second_time == 0 ? first->g.ways : 0;
   w->ways = first->g.ways;
   w->set_mask = first->set_mask;
   w->entries = first->g.entries;
   w->first = first;
   w->n_attached = &first->n_attached;
   w->key = first->key;
   w->short_cut = first->short_cut;
   w->size = tlb_key_of(0, shift, 0);
   w->second = simple_second(mmu, stop, shift);
   if (w->second != NULL) {
      w->second_key = w->second->key;
      w->second_time = w->second->time;
      w->hit_cycles
         = tlb_known_cycles(mmu->machine->array[stop->array[0]].hit_cycles);
   }
}

void tg_fast_path_find(void)
{
   for (UInt kind = 0; kind < TLB_N_USERS; kind++) {
      tg_fast_path[kind] = (TgFastPath){ .search = TG_FAST_NONE };
      if (tg_mmus.fast_path && tg_mmus.n_mmus == 1 && !tg_mmus.mmu[0].alone
          && !tlb_has_also_behind(&tg_mmus.mmu[0]))
         find(&tg_mmus.mmu[0], kind);
   }
   /* Where reads and writes are not told apart one stands for the other; and a data page notes
      one place. */
   TgFastPath* w = tg_fast_path;
   if (w[TLB_LOAD].second != w[TLB_STORE].second)
      w[TLB_LOAD].second = w[TLB_STORE].second = NULL;
}
