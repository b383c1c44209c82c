/* One reference to one page, as all MMUs see it: those that observe the page look it up,
   for the others its time is noted.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_REFER_H
#define TLB_REFER_H

#include "sim/mmu/known_hits.h"
#include "sim/mmu/l1_misses.h"
#include "sim/mmu/miss_counts.h"
#include "sim/mmu/mmu_data.h"

/* References page p, whose number is `number`; page faults aside, which the caller has
   dealt with. tlb_missed_begin() has been called. `counts`: where misses are booked; not
   read if no MMU observes the page. */
void tlb_refer_all(tlb_mmus *all, uint64_t *counts, tlb_page *p, tlb_page_number number,
                   tlb_user user, uint64_t now);

/* The second part of a reference whose first one is to the page `before`, for the caller has parted
   it at the run's pages. Both can lie in one page of a machine with larger ones, which translates
   it once. */
void tlb_refer_second(tlb_mmus *all, uint64_t *counts, tlb_page *p, tlb_page_number before,
                      tlb_page_number number, tlb_user user, uint64_t now);

/* As tlb_refer_all() for some of the MMUs that observe the page, a bit for each: the others do not
   see it. */
void tlb_refer_mmus(tlb_mmus *all, uint64_t *counts, tlb_page *p, tlb_page_number number,
                    tlb_user user, uint64_t now, uint64_t mmus);

/* The same for the common case: of many machines, only those whose first levels are looked
   up at once, with base pages no larger than others', observe the page. (No other
   consumer does.) Returns false, and has done nothing or not all, if that is not so: then
   tlb_refer_all() does the rest. `split`: as in tlb_run_traits. */
static inline __attribute__((always_inline))
bool tlb_refer_group(tlb_mmus *all, uint64_t *counts, tlb_page *p, tlb_page_number number,
                     tlb_user user, uint64_t now, bool split)
{
   const tlb_l1_group *const f = &all->l1.group[0];
   const uint64_t observers = *tlb_observers_of(p, user, split);
   if (TLB_UNLIKELY((observers & ~f->mmus[user]) != 0))
      return false;
   tlb_missed_begin(all, 0, user);
   if (observers != 0
       && tlb_l1_group_miss(all, f, counts, p, number, user, observers, now) != 0)
      return false;
   tlb_probe(p, split ? tlb_probe_at(user) : 0)->time = now;
   tlb_page_settle(all, tlb_side_of_user(user), p);
   return true;
}

/* No MMU sees the reference, but those that would ask what backs the page ask. */
void tlb_refer_ask(const tlb_mmus *all, const tlb_page *p, tlb_page_number number, tlb_user user);

#endif
