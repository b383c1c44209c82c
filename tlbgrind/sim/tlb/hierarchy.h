/* The translation arrays of one core, and the way of a reference through them.

   A reference is looked up in the arrays of the first level that serve its kind (fetch, load
   or store) and hold its page. On a miss it is looked up in the next level, and so on; a miss
   in the last level is a page walk. Each level that missed is then filled. A level none of
   whose arrays can hold the page is passed by and counts no miss. What an inclusive or exclusive
   level does beside that is in inclusion.h.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_HIERARCHY_H
#define TLB_HIERARCHY_H

#include "sim/base/api.h"
#include "sim/machine/machine.h"
#include "sim/tlb/array.h"
#include "sim/tlb/inclusion.h"
#include "sim/tlb/lost.h"
#include "sim/tlb/walk.h"

TLB_API_BEGIN

typedef enum { TLB_FETCH, TLB_LOAD, TLB_STORE, TLB_N_USERS } tlb_user;

enum {
   TLB_MAX_CORES = 1,
   TLB_N_SIZES = TLB_MAX_PAGE_SHIFT - TLB_MIN_PAGE_SHIFT + 1,
   TLB_N_BLOCKS_OF_PAGES = TLB_MAX_BLOCK_BITS + 1 /* of 1, 2, 4, ... pages */
};

/* Where a page goes at one level: into which arrays, and as entries of which
   size (2^shift bytes) in each. */
typedef struct {
   uint8_t n;
   uint8_t array[TLB_MAX_SIDE_BY_SIDE];
   uint8_t shift[TLB_MAX_SIDE_BY_SIDE];
} tlb_stop;

typedef struct {
   tlb_stop at[TLB_MAX_LEVELS];
} tlb_route;

typedef struct {
   const tlb_machine *machine;
   unsigned base_shift; /* of the pages that references are given in */
   unsigned levels;
   unsigned entry_level[TLB_N_USERS]; /* the first (from 0) that serves it:
                                         stores of some processors have no
                                         first level */
   tlb_array array[TLB_MAX_ARRAYS];
   tlb_route route[TLB_N_USERS][TLB_N_SIZES][TLB_N_BLOCKS_OF_PAGES];
   tlb_walker walker;
   tlb_inclusion_state inclusion;
   tlb_lost *lost;      /* what flushes have thrown away; NULL: there are no flushes */
} tlb_hierarchy;

/* One reference to one page. */
typedef struct {
   uint64_t page;       /* number of the base page, below 2^TLB_KEY_PAGE_BITS */
   uint64_t now;        /* above 0 and growing; two more than the last where page walks
                           leave something in the last level (walk.h), for
                           that has a time of its own */
   uint16_t context;    /* address space, up to TLB_MAX_CONTEXT */
   uint8_t core;        /* below TLB_MAX_CORES */
   uint8_t user;        /* tlb_user */
   uint8_t page_shift;  /* of the page that backs it; at least the base page */
   uint8_t block_shift; /* see pagemap.h; the base page where nothing is known */
} tlb_reference;

/* Its outcome. */
typedef struct {
   unsigned missed; /* bit l: level l (from 0) was looked up and missed */
   int walked;      /* every level missed */
   uint8_t array;   /* where it is now in the first level */
   uint8_t shift;   /* as an entry of that size */
   uint32_t entry;
   uint32_t cycles; /* beyond a first-level hit, as far as they are known */
   uint32_t walk_references; /* to page tables */
} tlb_outcome;

/* Bytes of memory that tlb_hierarchy_init() wants. */
size_t tlb_hierarchy_bytes(const tlb_machine *m);

/* Makes a hierarchy of empty arrays inside `memory` (aligned for uint64_t).
   References are given in pages of 2^base_shift bytes, no larger than the
   machine's base pages. `nested`: page walks are a guest's. The machine must have
   passed tlb_machine_check() and stay. `release` and `range_time` are given to the
   arrays in which some kind of reference is looked up first, with `opaque`; short_cut.h. */
void tlb_hierarchy_init(tlb_hierarchy *h, const tlb_machine *m,
                        unsigned base_shift, int nested, void *memory,
                        tlb_release *release, tlb_range_time *range_time,
                        void *opaque);

/* Whether every kind of reference finds a first level that holds base pages of
   2^base_shift bytes. Returns 1, or 0 with the reason. */
int tlb_machine_holds(const tlb_machine *m, unsigned base_shift,
                      tlb_reason *why);

/* Where a reference to a page of 2^page_shift bytes goes first in such a machine, of which no pages
   are coalesced. */
tlb_stop tlb_machine_first_stop(const tlb_machine *m, unsigned user, unsigned page_shift);

/* References all levels, and fills those that missed. */
tlb_outcome tlb_translate(tlb_hierarchy *h, const tlb_reference *r);

/* What follows a miss in the first level of the reference, which the caller has dealt
   with: looks up the levels behind it and adds to `out`. */
void tlb_translate_behind(tlb_hierarchy *h, const tlb_reference *r,
                          tlb_outcome *out);

/* The same for the levels from `level` (from 0) on: the caller has dealt with those
   before it. */
void tlb_translate_from(tlb_hierarchy *h, const tlb_reference *r, unsigned level,
                        tlb_outcome *out);

/* What follows a miss in the last level, a walk, which adds to `out`; all of it but what varies
   with the references to page tables; how many these are; and the cycles that vary with them, of
   the walk whose references were just asked for. */
void tlb_hierarchy_walk(tlb_hierarchy *h, const tlb_reference *r,
                        tlb_outcome *out);
void tlb_hierarchy_pay_walk(const tlb_hierarchy *h, unsigned page_shift, tlb_outcome *out);
uint32_t tlb_hierarchy_references(tlb_hierarchy *h, const tlb_reference *r);
uint32_t tlb_hierarchy_varying_cycles(const tlb_hierarchy *h, uint32_t references);

/* Whether some level has it. Changes nothing. */
int tlb_hierarchy_has(tlb_hierarchy *h, const tlb_reference *r);

/* Which of the arrays at a stop takes a page that none of them has. */
unsigned tlb_roomier(tlb_hierarchy *h, const tlb_reference *r,
                     const tlb_stop *stop);

/* References one level only (from 0), which must exist for it. Returns whether
   it missed; then it has been filled. */
int tlb_translate_level(tlb_hierarchy *h, const tlb_reference *r,
                        unsigned level);

/* Whether that kind of reference is looked up in array number i before any other. */
static inline int tlb_asks_first(const tlb_hierarchy *h, unsigned user,
                                 unsigned i)
{
   const tlb_machine_array *const a = &h->machine->array[i];
   return (a->users >> user & 1) != 0 && a->level == h->entry_level[user] + 1;
}

static inline const tlb_route *tlb_route_of(const tlb_hierarchy *h,
                                            unsigned user, unsigned page_shift,
                                            unsigned block_shift)
{
   const unsigned most = page_shift + TLB_MAX_BLOCK_BITS;
   const unsigned block = block_shift > most         ? (unsigned)TLB_MAX_BLOCK_BITS
                          : block_shift > page_shift ? block_shift - page_shift
                                                     : 0;
   return &h->route[user][page_shift - TLB_MIN_PAGE_SHIFT][block];
}

/* Where the reference goes first. */
static inline const tlb_stop *tlb_first_stop(const tlb_hierarchy *h,
                                             const tlb_reference *r)
{
   return &tlb_route_of(h, r->user, r->page_shift, r->block_shift)
              ->at[h->entry_level[r->user]];
}

/* The key of a base page's translation as an entry of 2^shift bytes. */
static inline tlb_key tlb_entry_key(const tlb_hierarchy *h,
                                    const tlb_reference *r, unsigned shift)
{
   return tlb_key_of(r->page >> (shift - h->base_shift), shift, r->context);
}

TLB_API_END

#endif
