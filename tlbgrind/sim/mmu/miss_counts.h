/* Books misses to the code, and looks up the second level of machines that missed the first.

   `counts` are those of the place for references of one kind, see tlb_mmus_n_counts().

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_MISS_COUNTS_H
#define TLB_MISS_COUNTS_H

#include "sim/mmu/l2_presence.h"
#include "sim/mmu/mmu_data.h"

void tlb_missed_init(tlb_mmus *all);

/* For tlb_missed_begin(). */
void tlb_missed_begin_parts(tlb_mmus *all, tlb_user user);

/* A reference begins. `in_parts`: machines that can miss more than once, for it crosses
   to another page, or is a read and a write where these are told apart; what a machine
   misses in one part of it is a miss for each part. `user`: what it is counted as. */
static inline void tlb_missed_begin(tlb_mmus *all, uint64_t in_parts, tlb_user user)
{
   all->parts.in_parts = in_parts;
   if (in_parts != 0)
      tlb_missed_begin_parts(all, user);
}

/* Costs of one part of a reference that another has had already: how much the sums of
   misses are above the references that missed. */
static inline uint64_t (*tlb_missed_extra(const tlb_mmus *all, unsigned mmu))[TLB_N_COSTS]
{
   return all->parts.extra[mmu];
}

void tlb_missed_zero_extra(tlb_mmus *all);

/* Books one miss: adds it to the costs of one machine. */
static inline void tlb_book_misses(uint64_t *cost, const tlb_outcome *o)
{
   cost[TLB_COST_WALK_REFERENCES] += o->walk_references;
   cost[TLB_COST_CYCLES] += o->cycles;
   for (unsigned bits = tlb_misses_of(o); bits != 0; bits >>= 1, cost++)
      *cost += bits & 1;
}

/* Books what the MMU's machine has missed. */
void tlb_missed_book(tlb_mmus *all, uint64_t *counts, const tlb_mmu *mmu,
                     const tlb_outcome *o);

/* So many sizes of a miss group miss at the time `now` what stands at `page`: adds to *out
   which machines these are, and counts it. `groups`: the counts of miss groups. */
static inline void tlb_missed_group(tlb_missed *out, uint64_t *groups,
                                    tlb_lazy_lru_page *page, const tlb_miss_group *s,
                                    unsigned n_sizes, uint64_t now)
{
   const unsigned nth = n_sizes - 1;
   const tlb_missed *const by = &s->by[nth];
   out->asked |= by->asked;
   if (by->counted == 0)
      return;
   const unsigned at = s->first + nth;
   out->counted |= by->counted;
   out->lazy |= by->lazy;
   groups[at]++;
   page->time[at] = now;
}

/* Looks up what lies behind the first levels. `page`: what stands at the page of the
   reference; not needed with one machine. */
void tlb_missed_ask(tlb_mmus *all, uint64_t *counts, const tlb_missed *missed,
                    tlb_side table, tlb_lazy_lru_page *page, const tlb_reference *ref);

/* Misses at that address are likely to come soon, in all machines: see tlb_walk_fetch(). */
static inline void tlb_missed_fetch(const tlb_mmus *all, uint64_t address)
{
   for (unsigned i = 0; i < all->n_mmus; i++)
      tlb_walk_fetch(&all->mmu[i].h.walker, address);
}

/* Whether tlb_missed_ask() would do no more than note the time, since all that was
   missed is what is common; then that is done. There is more than one machine, or one of
   them is asked. */
static inline bool tlb_missed_is_common(const tlb_mmus *all, const tlb_missed *missed,
                                        tlb_side table, tlb_lazy_lru_page *page,
                                        uint64_t now)
{
   if (missed->asked != 0 || (missed->counted & all->parts.in_parts) != 0
       || (missed->lazy & ~page->held[table]) != 0)
      return false;
   page->last = now;
   return true;
}

#endif
