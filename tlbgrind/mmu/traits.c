/* Traits of machines. See mmu/traits.h. */

#include "pub_tool_basics.h"

#include "mmu/traits.h"

Bool tg_is_mixed(const TgLane* lane)
{
   for (UInt i = 0; i < lane->machine->m.n_arrays; i++) {
      if (tlb_asks_first(&lane->h, TLB_FETCH, i)
          && (lane->machine->m.array[i].users & (TLB_LOADS | TLB_STORES)) != 0)
         return True;
   }
   return False;
}

static Bool is_in(const tlb_stop* stop, UInt array)
{
   for (UInt i = 0; i < stop->n; i++) {
      if (stop->array[i] == array)
         return True;
   }
   return False;
}

/* Whether of those who ask the array first only some do so for pages of a size, as there
   is an array of just that size for the others: what is known of such a page to the one
   is not to the other. */
static Bool is_asked_by_some(const TgLane* lane, UInt array, UInt size, UInt block)
{
   UInt asked = 0;
   UInt not_asked = 0;
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      if (!tlb_asks_first(&lane->h, user, array))
         continue;
      if (is_in(&lane->h.route[user][size][block].at[lane->h.entry_level[user]], array))
         asked++;
      else
         not_asked++;
   }
   return asked > 0 && not_asked > 0;
}

Bool tg_has_doubles(const TgLane* lane)
{
   for (UInt array = 0; array < lane->machine->m.n_arrays; array++) {
      for (UInt size = 0; size < TLB_N_SIZES; size++) {
         for (UInt block = 0; block < TLB_N_BLOCK_SHIFTS; block++) {
            if (is_asked_by_some(lane, array, size, block))
               return True;
         }
      }
   }
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      for (UInt size = 0; size < TLB_N_SIZES; size++) {
         for (UInt block = 0; block < TLB_N_BLOCK_SHIFTS; block++) {
            const tlb_stop* stop = &lane->h.route[user][size][block]
                                       .at[lane->h.entry_level[user]];
            const tlb_machine_array* a = lane->machine->m.array;
            if (stop->n > 1
                && (stop->shift[0] != stop->shift[1]
                    || a[stop->array[0]].users != a[stop->array[1]].users))
               return True;
         }
      }
   }
   return False;
}

/* Where base pages of the machine go first. */
static const tlb_stop* first_stop(const TgLane* lane, UInt kind)
{
   const tlb_reference r = { .user = (uint8_t)kind,
                             .page_shift = (uint8_t)lane->base_shift,
                             .block_shift = (uint8_t)lane->h.base_shift };
   return tlb_first_stop(&lane->h, &r);
}

UInt tg_base_arrays(TgLane* lane, TgKind kind,
                    tlb_array* array[TG_MAX_BASE_ARRAYS])
{
   const tlb_stop* stop = first_stop(lane, kind);
   if (lane->asked_always || !tg_lane_is_plain(lane) || stop->n > TG_MAX_BASE_ARRAYS
       || tg_is_mixed(lane))
      return 0;
   for (UInt i = 0; i < stop->n; i++) {
      if (stop->shift[i] != lane->base_shift)
         return 0;
      array[i] = &lane->h.array[stop->array[i]];
   }
   return stop->n;
}

tlb_array* tg_base_array(TgLane* lane, TgKind kind)
{
   tlb_array* array[TG_MAX_BASE_ARRAYS];
   return tg_base_arrays(lane, kind, array) == 1 ? array[0] : NULL;
}

Bool tg_has_also_behind(const TgLane* lane)
{
   for (UInt i = 0; i < lane->machine->m.n_arrays; i++) {
      if (lane->h.array[i].also_behind)
         return True;
   }
   return False;
}

Bool tg_has_code_behind(const TgLane* lane)
{
   for (UInt i = 0; i < lane->machine->m.n_arrays; i++) {
      if (lane->h.array[i].also_behind
          && (lane->machine->m.array[i].users & TLB_FETCHES) != 0
          && !tlb_asks_first(&lane->h, TLB_FETCH, i))
         return True;
   }
   return False;
}

Bool tg_clears_used_bits(const TgLane* lane)
{
   for (UInt i = 0; i < lane->machine->m.n_arrays; i++) {
      const tlb_array* a = &lane->h.array[i];
      if (a->short_cut != NULL && a->g.policy == TLB_NRU && a->g.ways > 1)
         return True;
   }
   return False;
}

Bool tg_needs_exact_times(const TgLane* lane)
{
   for (UInt i = 0; i < lane->machine->m.n_arrays; i++) {
      const tlb_array* a = &lane->h.array[i];
      if (a->short_cut != NULL && a->g.policy == TLB_PLRU)
         return True;
   }
   return tg_has_also_behind(lane);
}

UInt tg_large_of(const TgLane* lane)
{
   const UInt large = lane->base_shift - lane->h.base_shift;
   if (lane->asks || lane->asked_always || large > TG_CHUNK_BITS || tg_is_mixed(lane)
       || tg_needs_exact_times(lane))
      return 0;
   for (UInt kind = 0; kind < TG_N_KINDS; kind++) {
      const tlb_stop* stop = first_stop(lane, kind);
      if (stop->n != 1 || stop->shift[0] != lane->base_shift
          || lane->h.array[stop->array[0]].g.policy != TLB_LRU)
         return 0;
   }
   return large;
}

Bool tg_tells_apart(const TgLane* lane)
{
   for (UInt i = 0; i < lane->machine->m.n_arrays; i++) {
      if (tlb_asks_first(&lane->h, TLB_LOAD, i)
          != tlb_asks_first(&lane->h, TLB_STORE, i))
         return True;
   }
   return False;
}
