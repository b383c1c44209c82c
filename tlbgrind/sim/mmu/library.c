/* MMUs for other programs. See mmu.h. */

#include "sim/mmu/mmu.h"

#include "sim/mmu/flush.h"
#include "sim/mmu/l2_presence.h"
#include "sim/mmu/mmu_memory.h"
#include "sim/mmu/refer.h"
#include "sim/mmu/run_reach.h"
#include "sim/mmu/mmu_init.h"

/* Records of data pages that are found without a search: enough for 64 MiB of small pages. Tests
   make many cores for short streams, and want records that are searched for, too. */
#ifdef TLB_CHECK_EVERY
enum { NEAR = 1 << 10 };
#else
enum { NEAR = 1 << 14 };
#endif

/* How much later each reference is than the one before: each takes two, and what crosses to
   another page is two of them. */
enum { TICKS = 2 };

static void own_counts(tlb_mmus *all)
{
   for (unsigned user = 0; user < TLB_N_USERS; user++)
      all->counts[user] = tlb_mmus_take_zeroes(all, tlb_mmus_n_counts(all)
                                                       * sizeof *all->counts[user]);
}

tlb_mmus *tlb_mmus_new(const tlb_mmus_options *options)
{
   const tlb_memory memory = options->memory;
   const size_t bytes = sizeof(tlb_mmus) + _Alignof(tlb_mmus);
   uint8_t *const itself = memory.take(bytes, memory.opaque);
   for (size_t i = 0; i < bytes; i++)
      itself[i] = 0;
   const uintptr_t at = (uintptr_t)itself + _Alignof(tlb_mmus) - 1;
   tlb_mmus *const all = (tlb_mmus *)(at / _Alignof(tlb_mmus) * _Alignof(tlb_mmus));
   all->itself = itself;
   all->options.memory = memory;
   tlb_mmus_init(all, options, 0, tlb_mmus_take_zeroes(all, NEAR * sizeof *all->near), NEAR);
   own_counts(all);
   return all;
}

void tlb_mmus_free(tlb_mmus *all)
{
   const tlb_memory memory = all->options.memory;
   const tlb_pagemap *const map = all->options.map;
   for (unsigned i = 0; map != NULL && i < all->n_mmus; i++)
      map->view[all->mmu[i].view]->changed = NULL;
   tlb_flush_free(all);
   tlb_run_reach_free(all);
   tlb_mmus_give(all);
   memory.give(all->itself, memory.opaque);
}

/* --- References --- */

/* In a sanitized build all is checked after so many references. */
static void check_at_times(tlb_mmus *all)
{
#ifdef TLB_CHECK_EVERY
   if (++all->n_referred % TLB_CHECK_EVERY == 0 && tlb_mmus_check(all) != NULL)
      __builtin_trap();
#else
   (void)all;
#endif
}

static void refer(tlb_mmus *all, uint64_t *counts, tlb_user user, uint64_t page,
                  uint64_t now)
{
   const tlb_page_number number = (tlb_page_number)page;
   tlb_page *const p = tlb_page_of(all, tlb_side_of_user(user), number);
   tlb_refer_all(all, counts, p, number, user, now);
   check_at_times(all);
}

void tlb_mmus_refer_page(tlb_mmus *all, uint64_t *counts, tlb_user user, uint64_t page,
                         uint64_t now)
{
   all->now = now;
   tlb_missed_begin(all, 0, user);
   refer(all, counts, user, page, now);
}

void tlb_mmus_refer(tlb_mmus *all, tlb_user user, uint64_t address, unsigned size)
{
   const unsigned shift = all->traits.page_shift;
   const uint64_t last = (address + (size - 1)) >> shift;
   tlb_missed_begin(all, 0, user);
   all->now += TICKS;
   refer(all, all->counts[user], user, address >> shift, all->now);
   if (address >> shift != last) {
      all->now += TICKS;
      tlb_refer_second(all, all->counts[user],
                       tlb_page_of(all, tlb_side_of_user(user), (tlb_page_number)last),
                       (tlb_page_number)(address >> shift), (tlb_page_number)last, user, all->now);
      check_at_times(all);
   }
}

void tlb_mmus_prefetch(tlb_mmus *all, uint64_t address, bool present)
{
   all->now += TICKS;
   tlb_mmus_prefetch_page(all, all->counts[TLB_LOAD], address >> all->traits.page_shift, all->now,
                          present);
   check_at_times(all);
}
