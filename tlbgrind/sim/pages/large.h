/* Large mappings, by number: what the rules anon#N, text#N, data#N and file#N name.

   A mapping is large if the call that made it maps 2M or more. The first touch of one gives it
   its number: 1 for the first anonymous one, 2 for the next, and so for text, data and files.
   So a number needs nothing but what has happened before the first touch, and each run with
   such a rule gives the same memory the same number.

   The mappings of the page map cannot have it, for neighbours become one there: what malloc
   maps for several blocks is one mapping of Linux, and as many here as there were calls.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_LARGE_H
#define TLB_LARGE_H

#include <stdint.h>

#include "sim/base/api.h"
#include "sim/pages/mappings.h"
#include "sim/pages/pagerules.h"

TLB_API_BEGIN

/* More than TLB_MAX_NUMBER mappings have the number after it. */
enum { TLB_LARGE_SHIFT = 21, TLB_LAST_NUMBER = TLB_MAX_NUMBER + 1 };

typedef struct {
   const char *name; /* of the file, or NULL; of the first with this number */
   uint64_t start;   /* where the first with this number began */
   uint64_t bytes;   /* of all with this number when they were numbered */
   uint64_t count;   /* how many have this number */
} tlb_large_mapping;

typedef struct {
   int is_used;         /* a rule names mappings by their number */
   tlb_mappings ranges; /* the large mappings; `number` is 0 before the first touch */
   uint64_t n_calls;
   unsigned n_numbered[TLB_OF_PATTERN];                           /* by the rules' kinds */
   tlb_large_mapping by_number[TLB_OF_PATTERN][TLB_LAST_NUMBER + 1];
} tlb_large;

void tlb_large_init(tlb_large *l, const tlb_memory *memory);
void tlb_large_free(tlb_large *l);

/* From now on they are counted; `mapped` is what is there already. */
void tlb_large_use(tlb_large *l, const tlb_mappings *mapped);

/* A new mapping, in the place of what was there. */
void tlb_large_map(tlb_large *l, const tlb_mapping *m);

void tlb_large_unmap(tlb_large *l, uint64_t start, uint64_t end);

/* mremap(): what is at `to` is what was at `from`, with its number. */
void tlb_large_move(tlb_large *l, uint64_t from, uint64_t to, uint64_t length);

/* The part of mapping *m that is in the large mapping around `address`, which is touched for
   the first time, with its number; *m itself if there is none. */
tlb_mapping tlb_large_part(tlb_large *l, const tlb_mapping *m, uint64_t address);

TLB_API_END

#endif
