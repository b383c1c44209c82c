/* Traits of machines. See mmu/traits.h. */

#include "pub_tool_basics.h"

#include "mmu/traits.h"

Bool tg_is_mixed(const TgMmu* mmu)
{
   for (UInt i = 0; i < mmu->machine->m.n_arrays; i++) {
      if (tlb_asks_first(&mmu->h, TLB_FETCH, i)
          && (mmu->machine->m.array[i].users & (TLB_LOADS | TLB_STORES)) != 0)
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
static Bool is_asked_by_some(const TgMmu* mmu, UInt array, UInt size, UInt block)
{
   UInt asked = 0;
   UInt not_asked = 0;
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      if (!tlb_asks_first(&mmu->h, user, array))
         continue;
      if (is_in(&mmu->h.route[user][size][block].at[mmu->h.entry_level[user]], array))
         asked++;
      else
         not_asked++;
   }
   return asked > 0 && not_asked > 0;
}

Bool tg_has_doubles(const TgMmu* mmu)
{
   for (UInt array = 0; array < mmu->machine->m.n_arrays; array++) {
      for (UInt size = 0; size < TLB_N_SIZES; size++) {
         for (UInt block = 0; block < TLB_N_BLOCK_SHIFTS; block++) {
            if (is_asked_by_some(mmu, array, size, block))
               return True;
         }
      }
   }
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      for (UInt size = 0; size < TLB_N_SIZES; size++) {
         for (UInt block = 0; block < TLB_N_BLOCK_SHIFTS; block++) {
            const tlb_stop* stop = &mmu->h.route[user][size][block]
                                       .at[mmu->h.entry_level[user]];
            const tlb_machine_array* a = mmu->machine->m.array;
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
static const tlb_stop* first_stop(const TgMmu* mmu, UInt kind)
{
   const tlb_reference r = { .user = (uint8_t)kind,
                             .page_shift = (uint8_t)mmu->base_shift,
                             .block_shift = (uint8_t)mmu->h.base_shift };
   return tlb_first_stop(&mmu->h, &r);
}

UInt tg_base_arrays(TgMmu* mmu, TgKind kind,
                    tlb_array* array[TG_MAX_BASE_ARRAYS])
{
   const tlb_stop* stop = first_stop(mmu, kind);
   if (mmu->asked_always || !tg_mmu_is_plain(mmu) || stop->n > TG_MAX_BASE_ARRAYS
       || tg_is_mixed(mmu))
      return 0;
   for (UInt i = 0; i < stop->n; i++) {
      if (stop->shift[i] != mmu->base_shift)
         return 0;
      array[i] = &mmu->h.array[stop->array[i]];
   }
   return stop->n;
}

tlb_array* tg_base_array(TgMmu* mmu, TgKind kind)
{
   tlb_array* array[TG_MAX_BASE_ARRAYS];
   return tg_base_arrays(mmu, kind, array) == 1 ? array[0] : NULL;
}

Bool tg_has_also_behind(const TgMmu* mmu)
{
   for (UInt i = 0; i < mmu->machine->m.n_arrays; i++) {
      if (mmu->h.array[i].also_behind)
         return True;
   }
   return False;
}

Bool tg_has_code_behind(const TgMmu* mmu)
{
   for (UInt i = 0; i < mmu->machine->m.n_arrays; i++) {
      if (mmu->h.array[i].also_behind
          && (mmu->machine->m.array[i].users & TLB_FETCHES) != 0
          && !tlb_asks_first(&mmu->h, TLB_FETCH, i))
         return True;
   }
   return False;
}

Bool tg_clears_used_bits(const TgMmu* mmu)
{
   for (UInt i = 0; i < mmu->machine->m.n_arrays; i++) {
      const tlb_array* a = &mmu->h.array[i];
      if (a->short_cut != NULL && a->g.policy == TLB_NRU && a->g.ways > 1)
         return True;
   }
   return False;
}

Bool tg_needs_exact_times(const TgMmu* mmu)
{
   for (UInt i = 0; i < mmu->machine->m.n_arrays; i++) {
      const tlb_array* a = &mmu->h.array[i];
      if (a->short_cut != NULL && a->g.policy == TLB_PLRU)
         return True;
   }
   return tg_has_also_behind(mmu);
}

UInt tg_large_of(const TgMmu* mmu)
{
   const UInt large = mmu->base_shift - mmu->h.base_shift;
   if (mmu->asks || mmu->asked_always || large > TG_CHUNK_BITS || tg_is_mixed(mmu)
       || tg_needs_exact_times(mmu))
      return 0;
   for (UInt kind = 0; kind < TG_N_KINDS; kind++) {
      const tlb_stop* stop = first_stop(mmu, kind);
      if (stop->n != 1 || stop->shift[0] != mmu->base_shift
          || mmu->h.array[stop->array[0]].g.policy != TLB_LRU)
         return 0;
   }
   return large;
}

Bool tg_tells_apart(const TgMmu* mmu)
{
   for (UInt i = 0; i < mmu->machine->m.n_arrays; i++) {
      if (tlb_asks_first(&mmu->h, TLB_LOAD, i)
          != tlb_asks_first(&mmu->h, TLB_STORE, i))
         return True;
   }
   return False;
}
