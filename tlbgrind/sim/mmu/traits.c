/* Traits of machines. See traits.h. */

#include "sim/mmu/traits.h"

#include "sim/tlb/policy.h"

bool tlb_is_mixed(const tlb_mmu *mmu)
{
   for (unsigned i = 0; i < mmu->machine->n_arrays; i++) {
      if (tlb_asks_first(&mmu->h, TLB_FETCH, i)
          && (mmu->machine->array[i].users & (TLB_LOADS | TLB_STORES)) != 0)
         return true;
   }
   return false;
}

static bool is_in(const tlb_stop *stop, unsigned array)
{
   for (unsigned i = 0; i < stop->n; i++) {
      if (stop->array[i] == array)
         return true;
   }
   return false;
}

/* Whether, of the kinds of references that look up the array first, only some do so for pages
   of a size, as there is an array of just that size for the others: such a page can be known
   for loads and not for stores. */
static bool is_asked_by_some(const tlb_mmu *mmu, unsigned array, unsigned size, unsigned block)
{
   unsigned asked = 0;
   unsigned not_asked = 0;
   for (unsigned user = 0; user < TLB_N_USERS; user++) {
      if (!tlb_asks_first(&mmu->h, user, array))
         continue;
      if (is_in(&mmu->h.route[user][size][block].at[mmu->h.entry_level[user]], array))
         asked++;
      else
         not_asked++;
   }
   return asked > 0 && not_asked > 0;
}

bool tlb_has_pairs_first(const tlb_mmu *mmu)
{
   for (unsigned i = 0; i < mmu->machine->n_arrays; i++) {
      for (unsigned user = 0; user < TLB_N_USERS; user++) {
         if (mmu->machine->array[i].g.paired && tlb_asks_first(&mmu->h, user, i))
            return true;
      }
   }
   return false;
}

bool tlb_has_doubles(const tlb_mmu *mmu)
{
   for (unsigned array = 0; array < mmu->machine->n_arrays; array++) {
      for (unsigned size = 0; size < TLB_N_SIZES; size++) {
         for (unsigned block = 0; block < TLB_N_BLOCKS_OF_PAGES; block++) {
            if (is_asked_by_some(mmu, array, size, block))
               return true;
         }
      }
   }
   for (unsigned user = 0; user < TLB_N_USERS; user++) {
      for (unsigned size = 0; size < TLB_N_SIZES; size++) {
         for (unsigned block = 0; block < TLB_N_BLOCKS_OF_PAGES; block++) {
            const tlb_stop *stop = &mmu->h.route[user][size][block]
                                       .at[mmu->h.entry_level[user]];
            const tlb_machine_array *a = mmu->machine->array;
            if (stop->n > 1
                && (stop->shift[0] != stop->shift[1]
                    || a[stop->array[0]].users != a[stop->array[1]].users))
               return true;
         }
      }
   }
   return false;
}

/* Where base pages of the machine go first. */
static const tlb_stop *first_stop(const tlb_mmu *mmu, unsigned user)
{
   const tlb_reference r = { .user = (uint8_t)user,
                             .page_shift = (uint8_t)mmu->base_shift,
                             .block_shift = (uint8_t)mmu->h.base_shift };
   return tlb_first_stop(&mmu->h, &r);
}

unsigned tlb_base_arrays(tlb_mmu *mmu, tlb_user user,
                         tlb_array *array[TLB_MAX_BASE_ARRAYS])
{
   const tlb_stop *stop = first_stop(mmu, user);
   if (mmu->asked_always || !tlb_mmu_is_plain(mmu) || stop->n > TLB_MAX_BASE_ARRAYS)
      return 0;
   for (unsigned i = 0; i < stop->n; i++) {
      if (stop->shift[i] != mmu->base_shift)
         return 0;
      array[i] = &mmu->h.array[stop->array[i]];
   }
   return stop->n;
}

tlb_array *tlb_base_array(tlb_mmu *mmu, tlb_user user)
{
   tlb_array *array[TLB_MAX_BASE_ARRAYS];
   return tlb_base_arrays(mmu, user, array) == 1 ? array[0] : NULL;
}

bool tlb_has_also_behind(const tlb_mmu *mmu)
{
   for (unsigned i = 0; i < mmu->machine->n_arrays; i++) {
      if (mmu->h.array[i].also_behind)
         return true;
   }
   return false;
}

bool tlb_has_code_behind(const tlb_mmu *mmu)
{
   for (unsigned i = 0; i < mmu->machine->n_arrays; i++) {
      if (mmu->h.array[i].also_behind
          && (mmu->machine->array[i].users & TLB_FETCHES) != 0
          && !tlb_asks_first(&mmu->h, TLB_FETCH, i))
         return true;
   }
   return false;
}

bool tlb_sees_hits_first(const tlb_mmu *mmu)
{
   for (unsigned i = 0; i < mmu->machine->n_arrays; i++) {
      const tlb_array *a = &mmu->h.array[i];
      if (a->short_cut != NULL && a->policy->by == TLB_BY_HITS)
         return true;
   }
   return false;
}

bool tlb_needs_exact_times(const tlb_mmu *mmu)
{
   for (unsigned i = 0; i < mmu->machine->n_arrays; i++) {
      const tlb_array *a = &mmu->h.array[i];
      if (a->short_cut != NULL && tlb_policy_needs_exact_times(a->policy))
         return true;
   }
   return tlb_has_also_behind(mmu);
}

bool tlb_has_inclusion(const tlb_mmu *mmu, tlb_inclusion inclusion)
{
   for (unsigned i = 0; i < mmu->machine->n_arrays; i++) {
      if (mmu->machine->array[i].inclusion == inclusion)
         return true;
   }
   return false;
}

bool tlb_drives_out_code(const tlb_mmu *mmu)
{
   for (unsigned i = 0; i < mmu->machine->n_arrays; i++) {
      const tlb_machine_array *const a = &mmu->machine->array[i];
      if (a->inclusion == TLB_INCLUSIVE && (a->users & TLB_FETCHES) != 0
          && (a->users & (TLB_LOADS | TLB_STORES)) != 0)
         return true;
   }
   return false;
}

unsigned tlb_large_of(const tlb_mmu *mmu)
{
   const unsigned large = mmu->base_shift - mmu->h.base_shift;
   if (mmu->asks || mmu->asked_always || large > TLB_RECORD_CHUNK_BITS
       || tlb_needs_exact_times(mmu))
      return 0;
   for (unsigned user = 0; user < TLB_N_USERS; user++) {
      const tlb_stop *stop = first_stop(mmu, user);
      if (stop->n != 1 || stop->shift[0] != mmu->base_shift
          || mmu->h.array[stop->array[0]].policy->by != TLB_BY_OLDEST)
         return 0;
   }
   return large;
}

bool tlb_tells_apart(const tlb_mmu *mmu)
{
   for (unsigned i = 0; i < mmu->machine->n_arrays; i++) {
      if (tlb_asks_first(&mmu->h, TLB_LOAD, i)
          != tlb_asks_first(&mmu->h, TLB_STORE, i))
         return true;
   }
   return false;
}
