/* Flushes. See flush.h. */

#include "sim/mmu/flush.h"

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

/* Whether one of the arrays behind number i has it, too: then it is counted there. */
static bool is_behind(tlb_mmu *mmu, unsigned i, tlb_key key)
{
   while (++i < mmu->machine->n_arrays) {
      if (tlb_array_find(&mmu->h.array[i], key) != TLB_MISS)
         return true;
   }
   return false;
}

/* Counts the translations that go, and notes those that go without need. */
static void count(tlb_mmu *mmu, uint64_t *counts, const range *r, bool full)
{
   for (unsigned i = 0; i < mmu->machine->n_arrays; i++) {
      const tlb_array *const a = &mmu->h.array[i];
      for (uint32_t e = 0; e < a->g.entries && a->n_filled > 0; e++) {
         for (unsigned part = 0; part < tlb_array_parts(a); part++) {
            const tlb_key key = tlb_array_part(a, e, part);
            if (key == TLB_NO_KEY || tlb_walk_is_step(key) || tlb_is_others(key))
               continue;
            const bool within = is_within(mmu, key, r);
            if ((!within && !full) || is_behind(mmu, i, key))
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

static void flush(tlb_mmu *mmu, uint64_t *counts, const range *r, bool remote)
{
   const unsigned shift = stride_of(mmu, r);
   const unsigned stride = shift - mmu->h.base_shift;
   const uint64_t within = r->none ? 0 : (r->last >> stride) - (r->first >> stride) + 1;
   const uint64_t pages = r->bytes >> shift > within ? r->bytes >> shift : within;
   const bool full = is_full(mmu, r, pages);
   counts[TLB_FLUSHES_OF_ALL] += full && !remote;
   counts[TLB_FLUSHES_OF_PAGES] += full || remote ? 0 : pages;
   if (r->all)
      tlb_lost_forget_all(mmu->h.lost);
   else if (!r->none)
      tlb_lost_forget(mmu->h.lost, r->first, r->last, mmu->h.base_shift);
   count(mmu, counts, r, full);
   invalidate(mmu, r, full);
}

/* A flush on one core. */
typedef struct {
   uint64_t *counts;
   const range *r;
   bool remote;
} one_flush;

static void flush_here(tlb_mmus *all, void *opaque)
{
   const one_flush *const f = opaque;
   uint64_t flushed = 0;
   for (unsigned i = 0; i < all->n_mmus; i++) {
      if (all->mmu[i].flush.how == TLB_FLUSH_NONE)
         continue;
      flush(&all->mmu[i], f->counts + tlb_mmus_flushes_at(all, i), f->r, f->remote);
      flushed |= all->mmu[i].bit;
   }
   tlb_l1_groups_refill(all, flushed);
}

void tlb_mmus_flush(tlb_mmus *all, uint64_t *counts, uint64_t start, uint64_t end,
                    uint64_t bytes)
{
   const unsigned shift = all->traits.page_shift;
   const range r = { .first = (tlb_page_number)(start >> shift),
                     .last = (tlb_page_number)((end - 1) >> shift),
                     .all = start == 0 && end == 0,
                     .none = start == end && end != 0, .bytes = bytes };
   one_flush f = { counts == NULL ? all->counts[TLB_LOAD] : counts, &r, false };
   if (all->options.idle)
      return;
   flush_here(all, &f);
   f.remote = true;
   if (!tlb_cores_others(all, flush_here, &f))
      return;
   for (unsigned i = 0; i < all->n_mmus; i++) {
      if (all->mmu[i].flush.how != TLB_FLUSH_NONE)
         f.counts[tlb_mmus_flushes_at(all, i) + TLB_FLUSHES_REMOTE]++;
   }
}
