/* The short way of the common miss. See tg_short.h. */

#include "pub_tool_basics.h"

#include "tg_short.h"

TgShortWay tg_short_way[TG_N_KINDS];

void tg_short_way_search(TgRef* r, TgPage* p, tlb_key key, ULong now)
{
   tlb_hierarchy* h = &tg_lanes[0].h;
   const TgShortWay* w = &tg_short_way[r->kind];
   UInt entry = tlb_plain_find(w->second, key);
   if (entry != TLB_MISS) {
      w->second->time[entry] = now;
      r->misses[TG_CYCLES - TG_MISS_1] += w->hit_cycles;
   } else {
      const tlb_reference ref = { .page = tlb_key_page(key), .now = now,
                                  .user = r->kind,
                                  .page_shift = (UChar)h->base_shift,
                                  .block_shift = (UChar)h->base_shift };
      tlb_outcome o = { .missed = 0 };
      entry = tlb_array_fill(w->second, key, now);
      tlb_hierarchy_walk(h, &ref, &o);
      r->misses[TG_MISS_2 - TG_MISS_1]++;
      r->misses[TG_WALKS - TG_MISS_1]++;
      r->misses[TG_WALK_REFS - TG_MISS_1] += o.walk_references;
      r->misses[TG_CYCLES - TG_MISS_1] += o.cycles;
   }
   tg_rest(p)->second = entry;
}

static Bool is_plain(const tlb_array* a)
{
   return a->plain && a->set_mask != TLB_NO_MASK;
}

static void find(TgKind kind)
{
   const TgLane* lane = &tg_lanes[0];
   const UInt shift = lane->h.base_shift;
   const tlb_stop* stop = &tlb_route_of(&lane->h, kind, shift, shift)->at[1];
   tlb_array* first = lane->front[kind].array;
   tlb_array* second = (tlb_array*)(Addr)&lane->h.array[stop->array[0]];
   if (first == NULL || !is_plain(first) || first->second_time != 0
       || lane->h.entry_level[kind] != 0 || lane->h.levels != 2 || stop->n != 1
       || stop->shift[0] != shift || !second->plain)
      return;
   const uint32_t cycles = lane->machine->m.array[stop->array[0]].hit_cycles;
   tg_short_way[kind] = (TgShortWay){
      .first = first, .second = second, .size = tlb_key_of(0, shift, 0),
      .hit_cycles = cycles == TLB_UNKNOWN ? 0 : cycles };
}

void tg_short_way_find(Bool fast_path)
{
   for (UInt kind = 0; kind < TG_N_KINDS; kind++) {
      tg_short_way[kind].first = NULL;
      if (fast_path && tg_n_lanes == 1 && !tg_knowledge.split
          && !tg_knowledge.exact_times)
         find(kind);
   }
}
