/* Known hits: the records of pages (page_record.h), found by page number, and the ends of
   what they know.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_KNOWN_HITS_H
#define TLB_KNOWN_HITS_H

#include "sim/mmu/mmu_data.h"

/* Begins with no records. `near` has room for n records, a power of two, all zero, and
   aligned as they are. */
void tlb_known_init(tlb_mmus *all, tlb_page_record *near, tlb_page_number n);

/* A page of code that is always known. */
tlb_page *tlb_no_page(tlb_mmus *all);

/* The record of a page, made if it is new. */
tlb_page *tlb_record_of(tlb_mmus *all, tlb_side table, tlb_page_number number);

/* The address space of a page, and the page's number in it. */
static inline tlb_page_number tlb_space_of(const tlb_mmus *all, tlb_page_number number)
{
   return number >> all->space_shift;
}

static inline tlb_page_number tlb_in_space(const tlb_mmus *all, tlb_page_number number)
{
   return number & (((tlb_page_number)1 << all->space_shift) - 1);
}

/* How far apart the records of one page in two address spaces stand, so that those of several
   are near: a multiple of a chunk that no two spaces of a run have in common. */
static inline tlb_page_number tlb_near_spread(tlb_page_number space)
{
   return space * (UINT32_C(0x9E3779B1) >> 7 << TLB_RECORD_CHUNK_BITS);
}

/* The record of a data page is looked for first by the lower bits of the page's number
   (all->near). Of chunks of pages for which these are equal the first that is used stands
   there; the others' pages have to be looked for each time. What is not used is zero: so
   it has the tags of page 0, which is near. */
static inline tlb_page_record *tlb_near_record(const tlb_mmus *all, tlb_page_number number)
{
   return &all->near[(number + tlb_near_spread(tlb_space_of(all, number))) & all->near_mask];
}

static inline tlb_page *tlb_data_page(tlb_mmus *all, tlb_page_number number)
{
   tlb_page *const p = &tlb_near_record(all, number)->page;
   return tlb_page_number_of_data(p, all->traits.page_shift) == number
             ? p : tlb_record_of(all, TLB_DATA, number);
}

/* The same of either table. */
static inline tlb_page *tlb_page_of(tlb_mmus *all, tlb_side table, tlb_page_number number)
{
   return table == TLB_CODE ? tlb_record_of(all, TLB_CODE, number)
                            : tlb_data_page(all, number);
}

/* What backs the page in the view: an answer of l1_lookup.c, or TLB_NOT_ASKED. */
static inline uint8_t *tlb_backing_at(const tlb_mmus *all, const tlb_page *p, unsigned view)
{
   tlb_page_rest *const rest = tlb_rest(p);
   return all->n_views > TLB_VIEWS_IN_RECORD ? &rest->many_backing[view] : &rest->backing[view];
}

/* Sets the tags to what `observers` says. */
static inline void tlb_data_settle(const tlb_mmus *all, tlb_page *p)
{
   const tlb_page_rest *const rest = tlb_rest(p);
   if (rest->observers == 0)
      tlb_data_known(p, all->traits.page_shift);
   if (rest->write_observers == 0 && (all->traits.split || rest->observers == 0))
      tlb_data_known(tlb_writes(p), all->traits.page_shift);
}

static inline void tlb_page_settle(const tlb_mmus *all, tlb_side table, tlb_page *p)
{
   if (table == TLB_CODE)
      tlb_code_settle(p);
   else
      tlb_data_settle(all, p);
}

/* The next reference to the page matters to those of the mask: the next read (or fetch),
   the next write, or both. (Where writes are not told apart they are looked up as reads
   are.) */
void tlb_page_observe(const tlb_mmus *all, tlb_side table, tlb_page *p, bool reads,
                      bool writes, uint64_t mask);

/* The same for all pages that have a record, from number `first` on, `n` of them; what
   backs them in the view is asked again. The mask has all machines of the view that have
   asked: they rely on the answer. */
void tlb_pages_forget(tlb_mmus *all, tlb_side table, tlb_page_number first,
                      tlb_page_number n, uint64_t mask, unsigned view);

/* Pages that can be known to a machine with large entries are listed, so that not all of a
   large page has to be gone through: lists the page. */
void tlb_page_list(tlb_mmus *all, tlb_side table, tlb_page_number number);

typedef void tlb_each_page(tlb_mmus *all, tlb_page *p, void *opaque);

/* Calls `each` for the listed ones among `n` pages from `first` on. It may call
   tlb_page_observe(). */
void tlb_pages_listed(tlb_mmus *all, tlb_side table, tlb_page_number first,
                      tlb_page_number n, tlb_each_page *each, void *opaque);

/* Calls `each` for all pages that have a record. */
void tlb_pages_each(tlb_mmus *all, tlb_side table, tlb_each_page *each, void *opaque);

#endif
