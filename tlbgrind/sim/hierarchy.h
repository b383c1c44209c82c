/* The arrays of one core and the way of a translation through them.

   A reference asks the first-level array of its side (instruction or data).
   On a miss it asks the next level, and so on; behind the last level stands
   the page walk. Every array that missed is filled on the way back. An array
   that both sides share (a unified second level) stands at both sides.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_HIERARCHY_H
#define TLB_HIERARCHY_H

#include "array.h"
#include "machine.h"

typedef enum { TLB_INSTRUCTION, TLB_DATA, TLB_N_SIDES } tlb_side;

enum { TLB_MAX_CORES = 1 };

/* What is to be simulated: the geometry of each array, by level and side. */
typedef struct {
   unsigned levels;  /* 1 .. TLB_MAX_LEVELS */
   struct {
      int present;
      tlb_geometry g;
   } at[TLB_MAX_LEVELS][TLB_N_SIDES];
   int unified[TLB_MAX_LEVELS]; /* one array, described at TLB_DATA */
} tlb_design;

typedef struct {
   unsigned levels;
   tlb_array *at[TLB_MAX_CORES][TLB_MAX_LEVELS][TLB_N_SIDES]; /* or NULL */
   unsigned last_level[TLB_N_SIDES]; /* that has an array */
   tlb_array arrays[TLB_MAX_LEVELS * TLB_N_SIDES];
   unsigned n_arrays;
} tlb_hierarchy;

/* One translation asked for. */
typedef struct {
   uint64_t page;    /* virtual page number, below 2^TLB_KEY_PAGE_BITS */
   uint64_t now;     /* see array.h */
   uint16_t context; /* address space, up to TLB_MAX_CONTEXT */
   uint8_t core;     /* below TLB_MAX_CORES */
   uint8_t side;     /* tlb_side */
} tlb_reference;

/* Where it was found. */
typedef struct {
   unsigned missed;  /* bit l: the array of level l (from 0) was asked, missed */
   int walked;       /* every level missed */
   uint32_t entry;   /* in the first-level array of that side */
} tlb_outcome;

/* Whether such a hierarchy can be: both sides have a first level, each array
   passes tlb_geometry_check() and holds pages of 2^page_shift bytes. Returns
   1, or 0 with the reason. */
int tlb_design_check(const tlb_design *d, unsigned page_shift, tlb_reason *why);

/* Bytes of memory that tlb_hierarchy_init() wants. */
size_t tlb_hierarchy_bytes(const tlb_design *d);

/* Makes a hierarchy of empty arrays inside `memory` (aligned for uint64_t).
   `release` is told of the short cuts of first-level arrays, see array.h. */
void tlb_hierarchy_init(tlb_hierarchy *h, const tlb_design *d, void *memory,
                        tlb_release *release, void *opaque);

tlb_outcome tlb_translate(tlb_hierarchy *h, const tlb_reference *r);

/* What follows a miss in the first level that the caller has dealt with: asks
   the levels behind it. Returns `missed` with bit 0 set. */
unsigned tlb_translate_behind(tlb_hierarchy *h, const tlb_reference *r);

/* References one level only (from 0), which must exist on that side. Returns
   whether it missed; then it has been filled. */
int tlb_translate_level(tlb_hierarchy *h, const tlb_reference *r,
                        unsigned level);

static inline tlb_array *tlb_first_level(tlb_hierarchy *h, unsigned core,
                                         tlb_side side)
{
   return h->at[core][0][side];
}

#endif
