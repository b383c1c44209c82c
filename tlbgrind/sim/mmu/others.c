/* Others on the core: the kernel, and other processes. See mmu.h.

   What they refer to stands beside the program's translations and is not counted. */

#include "sim/mmu/mmu.h"

#include "sim/mmu/known_hits.h"
#include "sim/mmu/l1_lookup.h"
#include "sim/mmu/l1_misses.h"
#include "sim/mmu/others.h"

/* What leaves time for a reference and what its walk leaves in the last level. */
enum { TICKS = 2 };

static uint64_t time_of(tlb_mmus *all, uint64_t now)
{
   all->now = now != 0 ? now : all->now + TICKS;
   return all->now;
}

void tlb_mmus_empty(tlb_mmus *all, uint64_t mmus)
{
   if (all->options.idle)
      return;
   for (uint64_t bits = mmus; bits != 0; bits &= bits - 1) {
      tlb_mmu *const mmu = &all->mmu[__builtin_ctzll(bits)];
      for (unsigned i = 0; i < mmu->machine->n_arrays; i++) {
         tlb_array *const a = &mmu->h.array[i];
         for (uint32_t e = 0; e < a->g.entries && a->n_filled > 0; e++) {
            if (a->key[e] != TLB_NO_KEY)
               tlb_array_invalidate(a, e);
         }
      }
      tlb_walker_empty(&mmu->h.walker);
      /* It would have gone now in any case. */
      if (mmu->h.lost != NULL)
         tlb_lost_forget_all(mmu->h.lost);
   }
   tlb_l1_groups_refill(all, mmus);
}

void tlb_mmus_refer_others(tlb_mmus *all, uint64_t mmus, tlb_user user, uint64_t nth,
                           uint64_t now)
{
   if (all->options.idle)
      return;
   const uint64_t time = time_of(all, now);
   for (uint64_t bits = mmus; bits != 0; bits &= bits - 1) {
      tlb_mmu *const mmu = &all->mmu[__builtin_ctzll(bits)];
      const unsigned base = mmu->h.base_shift;
      const tlb_reference ref = { .page = (TLB_OTHERS >> base) + (nth << (mmu->base_shift - base)),
                                  .now = time, .user = (uint8_t)user,
                                  .page_shift = (uint8_t)mmu->base_shift,
                                  .block_shift = (uint8_t)base };
      tlb_translate(&mmu->h, &ref);
   }
   tlb_l1_groups_refill(all, mmus);
}

/* The page's record has its times for all machines: of those that see the reference, the arrays
   keep the time. Idle machines have no more of it than that what backs the page is asked. */
void tlb_mmus_refer_uncounted(tlb_mmus *all, uint64_t mmus, tlb_user user, uint64_t page,
                              uint64_t now)
{
   const tlb_page_number number = (tlb_page_number)page;
   const uint64_t time = time_of(all, now);
   tlb_page *const p = tlb_page_of(all, tlb_side_of_user(user), number);
   for (uint64_t bits = mmus; bits != 0; bits &= bits - 1) {
      tlb_mmu *const mmu = &all->mmu[__builtin_ctzll(bits)];
      tlb_reference ref;
      tlb_l1_ask(mmu, p, number, user, &ref);
      if (all->options.idle)
         continue;
      ref.now = time;
      tlb_l1_release_between(mmu, number, number);
      tlb_translate(&mmu->h, &ref);
   }
   tlb_l1_groups_refill(all, mmus);
}
