/* Translations that a flush of everything has thrown away without need, until they are walked
   for again.

   Each of them leads to the counts of the flush, so that the page walk that brings it back is
   booked where the flush was called.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_LOST_H
#define TLB_LOST_H

#include "sim/base/api.h"
#include "sim/base/memory.h"
#include "sim/tlb/key.h"

TLB_API_BEGIN

typedef struct {
   tlb_key key;     /* TLB_NO_KEY: the place is free */
   uint64_t *count;
} tlb_lost_entry;

/* A hash table with open addressing. */
typedef struct {
   tlb_memory memory;
   tlb_lost_entry *entry; /* NULL: nothing was ever lost */
   size_t room;           /* a power of two, more than 4/3 of n */
   size_t n;
   uint32_t sizes;        /* bit s: there are keys of pages of 2^(TLB_MIN_PAGE_SHIFT + s) bytes */
} tlb_lost;

void tlb_lost_init(tlb_lost *l, const tlb_memory *memory);
void tlb_lost_free(tlb_lost *l);

/* The translation of that key is lost; *count is raised when it comes back. */
void tlb_lost_add(tlb_lost *l, tlb_key key, uint64_t *count);

/* A walk for the base page of that number (address divided by 2^base_shift): what was lost of it
   comes back. */
void tlb_lost_walked(tlb_lost *l, uint64_t page, unsigned base_shift, uint32_t context);

/* What is lost of base pages `first` to `last` would have gone now in any case. */
void tlb_lost_forget(tlb_lost *l, uint64_t first, uint64_t last, unsigned base_shift);

/* All of it would. */
void tlb_lost_forget_all(tlb_lost *l);

TLB_API_END

#endif
