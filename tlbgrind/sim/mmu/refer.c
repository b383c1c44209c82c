/* One reference to one page. See refer.h. */

#include "sim/mmu/refer.h"

#include "sim/mmu/l1_lookup.h"
#include "sim/mmu/l1_sharing.h"
#include "sim/mmu/one_machine.h"
#include "sim/mmu/run_reach.h"

/* What the machine and those that follow it have missed in their first levels. */
static void miss(tlb_mmus *all, uint64_t *counts, const tlb_mmu *leader, tlb_side table,
                 tlb_page *p, const tlb_reference *ref)
{
   const unsigned large = leader->large;
   const tlb_miss_group *const s = &leader->miss_group[tlb_mmu_side(leader, ref->user)];
   tlb_missed missed = { 0, 0, 0 };
   tlb_lazy_lru_page *l2 = NULL;
   if (all->n_mmus > 1)
      l2 = tlb_l2_of_page(all, table, tlb_first_page(p, (tlb_page_number)ref->page, large),
                          large);
   tlb_missed_group(&missed, counts + tlb_miss_groups_at(all), l2, s,
                    tlb_sizes_missed(all, s, l2, all->evicted), ref->now);
   tlb_missed_ask(all, counts, &missed, table, l2, ref);
}

/* Machines of no group, one after the other. Not part of the common way, which has to be
   short: there are programs with more hot code than a processor's first cache holds. */
static __attribute__((noinline))
void refer_each(tlb_mmus *all, uint64_t *counts, tlb_page *p, tlb_page_number number,
                tlb_user user, uint64_t now, uint64_t observers)
{
   const tlb_side table = tlb_side_of_user(user);
   if ((observers & TLB_OBSERVER_REACH) != 0)
      tlb_run_reach_refer(all, table, p, number, now);
   observers &= TLB_OBSERVERS_MMUS;
   for (; observers != 0; observers &= observers - 1) {
      tlb_mmu *const mmu = &all->mmu[__builtin_ctzll(observers)];
      tlb_reference ref;
      all->evicted = NULL;
      if (tlb_l1_refer(mmu, p, number, user, now, &ref))
         miss(all, counts, mmu, table, p, &ref);
   }
}

static inline __attribute__((always_inline))
void refer(tlb_mmus *all, uint64_t *counts, tlb_page *p, tlb_page_number number,
           tlb_user user, uint64_t now, uint64_t observers)
{
   const bool split = all->traits.split;
   for (unsigned i = 0; i < all->l1.n_groups; i++) {
      const tlb_l1_group *const f = &all->l1.group[i];
      const uint64_t of_group = observers & f->mmus[user];
      if (of_group == 0)
         continue;
      observers &= ~of_group;
      observers |= tlb_l1_group_miss(all, f, counts, p, number, user, of_group, now);
   }
   if (observers != 0)
      refer_each(all, counts, p, number, user, now, observers);
   tlb_probe(p, split ? tlb_probe_at(user) : 0)->time = now;
   if (all->fast_path)
      tlb_page_settle(all, tlb_side_of_user(user), p);
}

void tlb_refer_all(tlb_mmus *all, uint64_t *counts, tlb_page *p, tlb_page_number number,
                   tlb_user user, uint64_t now)
{
   if (tlb_one_machine_refer(all, counts, p, number, user, now))
      return;
   const uint64_t observers = *tlb_observers_of(p, user, all->traits.split);
   refer(all, counts, p, number, user, now,
         observers & (TLB_OBSERVERS_MMUS | TLB_OBSERVER_REACH));
}

void tlb_refer_second(tlb_mmus *all, uint64_t *counts, tlb_page *p, tlb_page_number before,
                      tlb_page_number number, tlb_user user, uint64_t now)
{
   const uint64_t observers = *tlb_observers_of(p, user, all->traits.split);
   uint64_t same = 0;
   for (uint64_t left = observers & all->traits.once; left != 0; left &= left - 1) {
      const tlb_mmu *const mmu = &all->mmu[__builtin_ctzll(left)];
      tlb_reference unused;
      if ((before ^ number) >> (mmu->base_shift - all->traits.page_shift) != 0)
         continue;
      same |= mmu->bit;
      if (mmu->asks)
         tlb_l1_ask(mmu, p, number, user, &unused);
   }
   if (same == 0)
      tlb_refer_all(all, counts, p, number, user, now);
   else
      refer(all, counts, p, number, user, now,
            observers & (TLB_OBSERVERS_MMUS | TLB_OBSERVER_REACH) & ~same);
}

void tlb_refer_mmus(tlb_mmus *all, uint64_t *counts, tlb_page *p, tlb_page_number number,
                    tlb_user user, uint64_t now, uint64_t mmus)
{
   refer(all, counts, p, number, user, now, mmus);
}

void tlb_refer_ask(const tlb_mmus *all, const tlb_page *p, tlb_page_number number, tlb_user user)
{
   tlb_reference unused;
   for (const tlb_mmu *mmu = all->mmu; mmu < all->mmu + all->n_mmus; mmu++) {
      if (mmu->asks)
         tlb_l1_ask(mmu, p, number, user, &unused);
   }
}
