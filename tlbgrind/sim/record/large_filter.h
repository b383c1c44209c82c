/* A filter of large pages, as a run is recorded: see strength.h.

   It holds the large pages of each set that were used last, with the base page of each by which,
   for each kind of reference. For that the caller notes each reference that is recorded, and,
   before it looks at the order of pages, those that were left out.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_LARGE_FILTER_H
#define TLB_LARGE_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/memory.h"
#include "sim/record/strength.h"
#include "sim/tlb/hierarchy.h"

typedef struct {
   uint64_t number; /* of the large page, plus 1; 0: the place is empty */
   uint8_t others;  /* a user behind has it, by number, plus 1; 0: the filter's own have */
   int is_in_doubt; /* the next reference to it misses, but it has its place */
   struct {
      uint64_t time;     /* of the last use; 0: none */
      uint64_t page;     /* the base page's number */
      uint64_t recorded; /* the caller's: which of the records in its set is the last of it */
   } by[TLB_N_USERS];
} tlb_large_entry;

enum { TLB_LARGE_FOUND = 64 };

typedef struct {
   tlb_filter is;
   unsigned bits; /* a large page has 2^this base pages */
   tlb_large_entry *at; /* by set, the ways of each */
   tlb_large_entry *found[TLB_LARGE_FOUND]; /* by the page's number modulo these: tried first */
} tlb_large_filter;

void tlb_large_filter_init(tlb_large_filter *f, const tlb_filter *is, unsigned base_page_shift,
                           const tlb_memory *memory);

static inline int tlb_large_filter_is_of(const tlb_large_filter *f, unsigned user)
{
   return (f->is.users >> user & 1) != 0;
}

/* The same, where it was not there last. */
tlb_large_entry *tlb_large_filter_search(tlb_large_filter *f, uint64_t number);

/* The place of the large page around a base page, or NULL. */
static inline tlb_large_entry *tlb_large_filter_find(tlb_large_filter *f, uint64_t page)
{
   const uint64_t number = page >> f->bits;
   tlb_large_entry *const e = f->found[number % TLB_LARGE_FOUND];
   return e->number == number + 1 && e->others == 0 ? e : tlb_large_filter_search(f, number);
}

/* Whether a reference to the base page hits. */
static inline int tlb_large_filter_hits(tlb_large_filter *f, uint64_t page)
{
   const tlb_large_entry *const e = tlb_large_filter_find(f, page);
   return e != NULL && !e->is_in_doubt;
}

/* The large page around a base page, which missed, is there from then on. Returns the number plus 1
   of that of the filter's users which has to make room for it; 0: none has to. */
uint64_t tlb_large_filter_enter(tlb_large_filter *f, uint64_t page);

/* The same for a reference of a user behind, which has its large page apart from the others. */
uint64_t tlb_large_filter_enter_others(tlb_large_filter *f, unsigned user, uint64_t page,
                                       uint64_t time);

/* Base page `page` of the large page there was used then, unless that is known already. */
static inline void tlb_large_entry_use(tlb_large_entry *e, unsigned user, uint64_t page,
                                       uint64_t time)
{
   if (time <= e->by[user].time)
      return;
   e->by[user].time = time;
   e->by[user].page = page;
}

/* The same, if the large page is there. */
void tlb_large_filter_use(tlb_large_filter *f, unsigned user, uint64_t page, uint64_t time);

/* Whether it has large pages, not in doubt, with base pages from number `first` to `last`; and from
   then on these are in doubt. */
int tlb_large_filter_has(const tlb_large_filter *f, uint64_t first, uint64_t last);
void tlb_large_filter_doubt(tlb_large_filter *f, uint64_t first, uint64_t last);

#endif
