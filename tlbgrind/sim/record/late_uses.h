/* Uses that are recorded late: of the pages that the filters of code, or of data, have, where one
   of them has many ways in one set.

   If a filter has many pages, most of them are used between two recorded references, but only those
   matter now that leave it: a first level with LRU and no fewer ways has the others whatever their
   order. So a page's use is recorded when it is needed to tell which page leaves a filter.

   - The pages of a filter of many ways are kept in the order in which the recording has them last.
     If the first of these has not been used since, it is the one that was not used for longest, and
     leaves; else all uses are recorded that are missing, in their order.
   - Of a set of few ways, a recorded reference to another page finds the order of all its pages
     recorded, for the array may have a tree (PLRU). These uses do not tell how the pages of other
     sets stand between them: that is recorded again when all uses are.
   - So does one to a page in doubt. It may miss, and then a tree looks at the order of the others.
     (LRU does not: as long as such a page is in a filter, the array has one that is no newer.)
   - No page leaves a filter of many ways whose last use, or reference, is later than `last`: up to
     there the order in which the pages were used is that of the recording, for all pages. So what
     has left keeps its place among what leaves later.
   - A page that leaves a set of few ways need not wait for that. If it has been used since `last`,
     the filter of many ways has it, and its use is recorded with all others, or its next reference
     before. An array that only the few ways cover can have given it up by then: a use of a page
     that such an array has not is none to it (tlb_late_may_lack()). If the array still has it, the
     order of its set stays right: all pages that were used later are in the filter of many ways,
     too, and the recording has their uses, or references, behind this one.

   A tree's victim depends on nothing but the order of the last references to its pages, so uses
   that are recorded once more change nothing. Others (NRU) are not so: for them a filter has one
   way, and then uses are not recorded late. Where pages are large, all uses are recorded before a
   reference that a filter of theirs misses.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_LATE_USES_H
#define TLB_LATE_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/memory.h"
#include "sim/record/strength.h"

enum {
   TLB_LATE_FILTERS = 4, /* at most */
   TLB_LATE_BUCKETS = 256
};

/* A page that some filter has. */
typedef struct {
   void *page;           /* the caller's */
   uint64_t number;
   const uint64_t *time; /* of its last use */
   uint64_t recorded;    /* the number of what the recording has of it last */
   uint16_t next;        /* of its bucket, or of the free ones; 0: none */
   uint16_t n_filters;   /* that have it */
   bool is_in_doubt;     /* the filters have it, the arrays perhaps not */
   uint16_t place[TLB_LATE_FILTERS]; /* in each filter; TLB_LATE_NO_PLACE: it has it not */
   uint16_t older, newer; /* in the filter of many ways, by what is recorded; 0: none */
} tlb_late_page;

enum { TLB_LATE_NO_PLACE = 0xffff };

typedef struct {
   tlb_filter is;
   bool has_many_ways;
   uint16_t *at; /* by set and way: a page; 0: the place is empty */
   uint16_t leaves; /* what the reference at hand drives out; 0: nothing */
   uint16_t gets;   /* the place that its page gets, if it has none */
   uint16_t n;      /* of many ways: how many there are */
} tlb_late_filter;

/* A page leaves a filter: references to it are recorded from then on. `all`: no other filter has it
   any more. */
typedef void tlb_late_leaves(void *opaque, void *page, uint64_t number, bool all);

typedef struct {
   unsigned n; /* filters */
   tlb_late_filter filter[TLB_LATE_FILTERS];
   unsigned n_small; /* those of few ways */
   unsigned many; /* the other: of two of many ways a strength has the smaller alone */
   uint16_t oldest, newest; /* of its pages, by what is recorded */
   tlb_late_page *page; /* from 1 */
   uint16_t free;  /* one that is in no filter */
   uint16_t found; /* the page of the reference at hand; 0: no filter has it */
   uint16_t bucket[TLB_LATE_BUCKETS]; /* by the page's number */
   uint64_t n_recorded; /* references and uses */
   uint64_t last;    /* the time up to which the order is that of the recording */
   uint64_t in_order; /* what was recorded up to this number is of pages in that order */
   uint64_t uses[TLB_MAX_FILTER_WAYS]; /* page numbers: those to be recorded, in order */
} tlb_late;

/* Whether the uses of these users can be recorded late. */
bool tlb_late_can(const tlb_strength *s, uint32_t users);

/* Whether a use of these users can be of a page that the first level of a machine has given up, to
   which it is none: the machine is only covered by filters of few ways. */
bool tlb_late_may_lack(const tlb_strength *s, const tlb_machine *m, uint32_t users);

/* Whether there can be such uses in a recording. */
bool tlb_late_lets_go(const tlb_strength *s);

/* Makes the filters of these users, empty. */
void tlb_late_init(tlb_late *l, const tlb_strength *s, uint32_t users, const tlb_memory *memory);

/* Before a reference to the page is recorded. Returns how many of `uses` are to be recorded before
   it. `all`: whatever leaves. */
unsigned tlb_late_before(tlb_late *l, uint64_t number, bool all);

/* All uses, though no reference comes. Returns how many are to be recorded. */
unsigned tlb_late_all(tlb_late *l);

/* The reference of tlb_late_before() has been recorded: all filters have the page from now on. */
void tlb_late_refer(tlb_late *l, void *page, uint64_t number, const uint64_t *time,
                    tlb_late_leaves *leaves, void *opaque);

/* The arrays may have lost the page, one from 1 up to tlb_late_pages(). References to it are
   recorded from now on: until one is, it is in doubt. All uses have been recorded. */
void tlb_late_doubt(tlb_late *l, unsigned page);

/* The pages that any filter has are those with n_filters > 0, from 1 up to this. */
unsigned tlb_late_pages(const tlb_late *l);

#endif
