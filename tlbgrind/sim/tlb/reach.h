/* Reach: the misses of fully associative LRU arrays of all sizes, in one pass.

   An LRU array of E entries holds the E pages that were referenced last. So a reference hits
   if fewer than E other pages were referenced since the last reference to its page. That
   number is its stack distance; the counts of references by distance give the misses for all
   sizes at once (Mattson, Gecsei, Slutz and Traiger, "Evaluation techniques for storage
   hierarchies", IBM Systems Journal 9, 1970). Three page sizes are counted.

   The smallest array has TLB_REACH_SMALLEST entries. A reference to one of as many 4K pages
   that were referenced last hits in all arrays and for all page sizes, and changes only the
   order of these pages. They are *known*: the caller may answer references to them without a
   call, if it writes the time where this file can read it (short_cut.h). The times are read
   when a page that is not known comes, and one of the known pages has to go.

   One tlb_reach observes one stream: instructions or data of one core.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_REACH_H
#define TLB_REACH_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/api.h"
#include "sim/base/memory.h"

TLB_API_BEGIN

enum {
   TLB_REACH_SMALLEST = 8,    /* entries of the smallest array */
   TLB_REACH_LARGEST = 8192,  /* and of the largest; both and all between */
   TLB_REACH_SIZES = TLB_REACH_LARGEST - TLB_REACH_SMALLEST + 1,
   TLB_REACH_PAGE_SHIFT = 12, /* of the pages in references */
   TLB_REACH_BITS = 1 << 15   /* places in a stack, see reach.c */
};

typedef enum {
   TLB_REACH_4K,
   TLB_REACH_64K,
   TLB_REACH_2M,
   TLB_REACH_CURVES
} tlb_reach_size;

/* The logarithm of the page size that a curve is for. */
static inline unsigned tlb_reach_shift(tlb_reach_size size)
{
   return size == TLB_REACH_4K ? 12 : size == TLB_REACH_64K ? 16 : 21;
}

typedef void tlb_reach_release(uint64_t *time, void *opaque);

/* The 2M of memory that a page lies in; see reach.c. */
typedef struct tlb_reach_region tlb_reach_region;

/* The pages of one size that are not known, by the order of their last
   references; see reach.c. */
typedef struct {
   uint32_t base;  /* the number of the lowest place */
   uint32_t used;  /* places that have been used, all above were not */
   uint64_t bits[TLB_REACH_BITS / 64];
   uint64_t words[TLB_REACH_BITS / 64 / 8];
   uint16_t rows[TLB_REACH_BITS / 64 / 8];
   uint16_t blocks[TLB_REACH_BITS / 64 / 8 / 8];
   uint32_t owner[TLB_REACH_BITS];
   uint32_t covered; /* pages of this size around the known 4K pages */
   uint64_t at[TLB_REACH_LARGEST]; /* references by distance */
   uint64_t beyond;  /* references of a distance that is larger */
   uint64_t cold;    /* first references */
} tlb_reach_stack;

typedef struct {
   uint64_t own; /* time of the last reference, if the caller keeps none */
   tlb_reach_region *region;
   uint32_t page; /* number of the 4K page in its region */
} tlb_reach_known;

typedef struct {
   tlb_memory memory;
   tlb_reach_release *release;
   void *opaque;
   uint32_t second_time; /* where the other time of a page stands, counted in
                            times from the one given; 0: there is none */
   int failed;
   uint64_t *time[TLB_REACH_SMALLEST]; /* of each known page */
   tlb_reach_known known[TLB_REACH_SMALLEST];
   uint32_t n_known;
   tlb_reach_region *newest;   /* that was looked up */
   tlb_reach_region **region;  /* by number */
   tlb_reach_region **bucket;  /* by address, chained */
   uint32_t n_regions;
   uint32_t capacity;          /* of `region`, and of `bucket` */
   tlb_reach_stack stack[TLB_REACH_CURVES];
} tlb_reach;

/* Begins with no page referenced. A tlb_reach is some 750 KB large, for the
   caller to find a place for; what grows with the number of pages referenced
   is taken from `memory`: up to 2.3 KB for every 2M of addresses with a page
   that was referenced, so never more than the program itself uses. `release`
   may be NULL if the caller never gives a time. */
void tlb_reach_init(tlb_reach *r, tlb_memory memory,
                    tlb_reach_release *release, void *opaque);

/* Gives all memory back. */
void tlb_reach_destroy(tlb_reach *r);

/* A reference to a page, which is known from now on. `page`: its address
   (with the context above it, see tlb_key_of() in array.h) divided by 4K.
   `now` grows with every reference.

   `time`: where the caller will note the times of further references to the
   page; set to `now`. When the page stops being known, `release` is called
   with it, and it is not read again. With NULL the caller keeps no time and
   has to make this call for each reference to the page. A caller that keeps two
   times for a page, of which the later counts, sets second_time once after
   tlb_reach_init(); which of them is set to `now` is for the caller to do. */
void tlb_reach_reference(tlb_reach *r, uint64_t page, uint64_t now,
                         uint64_t *time);

/* The caller's `time` of a known page goes away: the page stays known, but
   the caller has to make the next reference to it through the call above.
   Nothing happens if no known page has this time. */
void tlb_reach_detach(tlb_reach *r, const uint64_t *time);

/* Forgets what has been counted, but not what was referenced when. */
void tlb_reach_zero(tlb_reach *r);

/* The misses of all arrays for pages of one size, cold ones included:
   misses[n - TLB_REACH_SMALLEST] is what an array of n entries misses. */
void tlb_reach_misses(const tlb_reach *r, tlb_reach_size size,
                      uint64_t misses[TLB_REACH_SIZES]);

/* Of them, the first references to each page: what an array without limits
   misses. */
static inline uint64_t tlb_reach_cold(const tlb_reach *r, tlb_reach_size size)
{
   return r->stack[size].cold;
}

/* Whether memory ran out. Then nothing has been counted since, and the counts
   mean nothing. */
static inline int tlb_reach_failed(const tlb_reach *r)
{
   return r->failed;
}

TLB_API_END

#endif
