/* Flushes. See flush.h. */

#include "sim/mmu/flush.h"

#include "sim/machine/siblings.h"
#include "sim/mmu/cores.h"
#include "sim/mmu/l1_misses.h"
#include "sim/mmu/mmu_memory.h"
#include "sim/mmu/others.h"

/* What is flushed: base pages of the run. */
typedef struct {
   tlb_page_number first, last;
   bool all;  /* of the whole address space */
   bool none; /* nothing but page tables is freed: no page is within */
   uint64_t bytes; /* of the kernel's range, which can be longer; or 0 */
} range;

void tlb_flush_init(tlb_mmus *all)
{
   for (unsigned i = 0; i < all->n_mmus; i++) {
      tlb_mmu *const mmu = &all->mmu[i];
      if (mmu->flush.how == TLB_FLUSH_NONE)
         continue;
      mmu->h.lost = tlb_mmus_take(all, sizeof *mmu->h.lost);
      tlb_lost_init(mmu->h.lost, &all->options.memory);
   }
}

void tlb_flush_free(tlb_mmus *all)
{
   tlb_cores_free(all);
   for (unsigned i = 0; i < all->n_mmus; i++) {
      if (all->mmu[i].h.lost != NULL)
         tlb_lost_free(all->mmu[i].h.lost);
   }
}

/* --- One by one, or everything? --- */

/* The step in which the kernel goes through the range: its smallest page. Without a page map, a
   base page. */
static unsigned stride_of(const tlb_mmu *mmu, const range *r)
{
   const tlb_pagemap *const map = mmu->all->options.map;
   const unsigned base = mmu->h.base_shift;
   unsigned stride = TLB_MAX_PAGE_SHIFT;
   /* An entry for a page table. */
   if (r->none)
      return 2 * mmu->base_shift - 3;
   if (!mmu->asks || map == NULL || r->all)
      return mmu->base_shift;
   for (uint64_t n = r->first; n <= r->last && stride > mmu->base_shift;) {
      const unsigned shift = tlb_pagemap_shift(map, mmu->view, n << base);
      stride = shift < stride ? shift : stride;
      n = ((n >> (shift - base)) + 1) << (shift - base);
   }
   return stride;
}

/* Entries for the data's base pages in the last level that has some. */
static uint32_t entries_of(const tlb_mmu *mmu)
{
   const tlb_machine *const m = mmu->machine;
   unsigned level = 0;
   uint32_t entries = 0;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      if ((a->users & TLB_LOADS) == 0 || (a->g.page_sizes >> mmu->base_shift & 1) == 0
          || a->level < level)
         continue;
      entries = a->level > level ? a->g.entries : entries + a->g.entries;
      level = a->level;
   }
   return entries;
}

static bool is_full(const tlb_mmu *mmu, const range *r, uint64_t pages)
{
   if (r->all)
      return true;
   switch (mmu->flush.how) {
   case TLB_FLUSH_CEILING: return pages > mmu->flush.n;
   case TLB_FLUSH_SHIFT: return pages > entries_of(mmu) >> mmu->flush.n;
   case TLB_FLUSH_ALL: case TLB_FLUSH_NONE: break;
   }
   return true;
}

/* --- What goes --- */

/* Translations of others stay: those of the kernel are global, and those of other processes have
   an address-space identifier of theirs. */

static bool is_within(const tlb_mmu *mmu, tlb_key key, const range *r)
{
   const unsigned more = tlb_key_shift(key) - mmu->h.base_shift;
   const uint64_t begin = tlb_key_page(key) << more;
   return !r->none && begin <= r->last && begin + ((UINT64_C(1) << more) - 1) >= r->first;
}

/* Whether hardware threads share the array. */
static bool is_shared(const tlb_mmu *mmu, unsigned i)
{
   return tlb_cores_share(mmu->all) && !tlb_siblings_have_own(&mmu->machine->array[i]);
}

/* Whether another array has it, too, and counts it: one that hardware threads share, or else one
   behind number i. */
static bool is_elsewhere(tlb_mmu *mmu, unsigned i, tlb_key key)
{
   const bool shared = is_shared(mmu, i);
   for (unsigned j = 0; j < mmu->machine->n_arrays; j++) {
      if ((is_shared(mmu, j) == shared ? j > i : !shared)
          && tlb_array_find(&mmu->h.array[j], key) != TLB_MISS)
         return true;
   }
   return false;
}

/* Counts the translations that go, and notes those that go without need. */
static void count(tlb_mmu *mmu, uint64_t *counts, const range *r, bool full)
{
   const bool at_home = tlb_cores_at_home(mmu->all);
   for (unsigned i = 0; i < mmu->machine->n_arrays; i++) {
      const tlb_array *const a = &mmu->h.array[i];
      if (is_shared(mmu, i) && !at_home)
         continue;
      for (uint32_t e = 0; e < a->g.entries && a->n_filled > 0; e++) {
         for (unsigned part = 0; part < tlb_array_parts(a); part++) {
            const tlb_key key = tlb_array_part(a, e, part);
            if (key == TLB_NO_KEY || tlb_walk_is_step(key) || tlb_is_others(key))
               continue;
            const bool within = is_within(mmu, key, r);
            if ((!within && !full) || is_elsewhere(mmu, i, key))
               continue;
            counts[within ? TLB_FLUSHED_WITHIN : TLB_FLUSHED_OUTSIDE]++;
            if (!within)
               tlb_lost_add(mmu->h.lost, key, &counts[TLB_FLUSHED_AGAIN]);
         }
      }
   }
}

/* INVLPG also empties the caches of page walks: Intel, Software Developer's Manual, volume 3,
   4.10.4.1; AMD, Architecture Programmer's Manual, volume 2, 5.5.3. Of others it is assumed that
   they stay, as after TLBI VALE1IS of arm64, until everything goes. */
static bool empties_walks(const tlb_mmu *mmu)
{
   const char *const isa = mmu->machine->isa;
   return isa[0] == 'x' && isa[1] == '8' && isa[2] == '6';
}

static void invalidate(tlb_mmu *mmu, const range *r, bool full)
{
   const bool walks = full || empties_walks(mmu);
   for (unsigned i = 0; i < mmu->machine->n_arrays; i++) {
      tlb_array *const a = &mmu->h.array[i];
      for (uint32_t e = 0; e < a->g.entries && a->n_filled > 0; e++) {
         for (unsigned part = 0; part < tlb_array_parts(a); part++) {
            const tlb_key key = tlb_array_part(a, e, part);
            if (key != TLB_NO_KEY && (tlb_walk_is_step(key) || !tlb_is_others(key))
                && (full || (tlb_walk_is_step(key) ? walks : is_within(mmu, key, r))))
               tlb_array_remove_part(a, e, part);
         }
      }
   }
   if (walks)
      tlb_walker_empty(&mmu->h.walker);
}

/* A flush on one core. Hardware threads share arrays: all of them count before the first one
   invalidates, so what is counted does not depend on their order. */
typedef struct {
   uint64_t *counts;
   const range *r;
   bool remote, counts_it, invalidates;
} one_flush;

static void flush(tlb_mmu *mmu, const one_flush *f)
{
   const range *const r = f->r;
   uint64_t *const counts = f->counts + tlb_mmus_flushes_at(mmu->all, mmu->number);
   const unsigned shift = stride_of(mmu, r);
   const unsigned stride = shift - mmu->h.base_shift;
   const uint64_t within = r->none ? 0 : (r->last >> stride) - (r->first >> stride) + 1;
   const uint64_t pages = r->bytes >> shift > within ? r->bytes >> shift : within;
   const bool full = is_full(mmu, r, pages);
   if (f->counts_it) {
      counts[TLB_FLUSHES_OF_ALL] += full && !f->remote;
      counts[TLB_FLUSHES_OF_PAGES] += full || f->remote ? 0 : pages;
      if (r->all)
         tlb_lost_forget_all(mmu->h.lost);
      else if (!r->none)
         tlb_lost_forget(mmu->h.lost, r->first, r->last, mmu->h.base_shift);
      count(mmu, counts, r, full);
   }
   if (f->invalidates)
      invalidate(mmu, r, full);
}

static void flush_here(tlb_mmus *all, void *opaque)
{
   const one_flush *const f = opaque;
   uint64_t flushed = 0;
   for (unsigned i = 0; i < all->n_mmus; i++) {
      if (all->mmu[i].flush.how == TLB_FLUSH_NONE)
         continue;
      flush(&all->mmu[i], f);
      flushed |= all->mmu[i].bit;
   }
   if (f->invalidates)
      tlb_l1_groups_refill(all, flushed);
}

/* Returns whether there are other cores. */
static bool flush_on_all(tlb_mmus *all, one_flush f)
{
   f.remote = false;
   flush_here(all, &f);
   f.remote = true;
   return tlb_cores_others(all, flush_here, &f);
}

void tlb_mmus_flush(tlb_mmus *all, uint64_t *counts, uint64_t start, uint64_t end,
                    uint64_t bytes)
{
   const unsigned shift = all->traits.page_shift;
   const range r = { .first = (tlb_page_number)(start >> shift),
                     .last = (tlb_page_number)((end - 1) >> shift),
                     .all = start == 0 && end == 0,
                     .none = start == end && end != 0, .bytes = bytes };
   if (all->options.idle)
      return;
   one_flush f = { .counts = counts == NULL ? all->counts[TLB_LOAD] : counts, .r = &r,
                   .counts_it = true, .invalidates = !tlb_cores_share(all) };
   bool others = flush_on_all(all, f);
   if (tlb_cores_share(all)) {
      f.counts_it = false;
      f.invalidates = true;
      others = flush_on_all(all, f);
   }
   if (!others)
      return;
   for (unsigned i = 0; i < all->n_mmus; i++) {
      if (all->mmu[i].flush.how != TLB_FLUSH_NONE)
         f.counts[tlb_mmus_flushes_at(all, i) + TLB_FLUSHES_REMOTE]++;
   }
}
