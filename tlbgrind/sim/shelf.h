/* A shelf: an LRU array whose pages say themselves that they are in it.

   Many machines have each an array behind their first level, and most of what they
   look for there is found. To ask each of them costs more than all else. If it
   stands at the page which of the shelves hold it, a bit for each, one look
   answers for all; and one note of the time is enough for all that were asked
   together (a stream). Only when a shelf has to choose whom to evict it collects
   the times. What it keeps of each entry's time is a lower bound: if the oldest
   bound is true, the entry is the oldest of all, for times only grow; if not, it
   is corrected.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_SHELF_H
#define TLB_SHELF_H

#include "array.h"

/* Who looks for a page: as code or as data. And in how many spans of a page's times the
   shelf's may stand. */
enum { TLB_SHELF_SIDES = 2, TLB_SHELF_SPANS = 3 };

typedef struct {
   uint64_t number;
   uint64_t held[TLB_SHELF_SIDES]; /* by which shelves, see tlb_shelf.bit */
   uint64_t last;                  /* when any of them was asked for it */
   uint64_t time[];                /* as `last`, by stream */
} tlb_shelf_page;

typedef struct {
   uint64_t bound; /* 0: nobody is there */
   uint64_t what;  /* a page's address, or a key, see tlb_shelf_find() */
} tlb_shelf_entry;

typedef struct {
   tlb_shelf_entry *entry; /* set after set */
   uint32_t sets, set_mask; /* as in an array */
   uint32_t ways;
   uint64_t bit[TLB_SHELF_SIDES]; /* the shelf's, on each side that asks it, else 0 */
   /* Which of a page's times are those when the shelf was asked. */
   uint32_t from[TLB_SHELF_SPANS], to[TLB_SHELF_SPANS];
} tlb_shelf;

/* Bytes of memory for a shelf. */
static inline size_t tlb_shelf_bytes(uint32_t sets, uint32_t ways)
{
   return (size_t)sets * ways * sizeof(tlb_shelf_entry);
}

/* An empty shelf, asked by nobody, inside `memory`, aligned for a pointer. */
void tlb_shelf_init(tlb_shelf *s, uint32_t sets, uint32_t ways, void *memory);

/* The set that a page of that number goes to. */
static inline tlb_shelf_entry *tlb_shelf_set(const tlb_shelf *s, uint64_t page)
{
   return s->entry + (size_t)tlb_set_of(page, s->sets, s->set_mask) * s->ways;
}

/* Puts the page in, which is not there; `now` is later than all times so far. For
   the caller to note it at the page. In two steps, so that who has several shelves to
   fill need not wait for the memory of each: first, who is probably evicted, for which
   the processor is asked; nothing else may be put in before the second. */
tlb_shelf_entry *tlb_shelf_ahead(const tlb_shelf *s, const tlb_shelf_page *p);
void tlb_shelf_fill(tlb_shelf *s, tlb_shelf_page *p, tlb_shelf_entry *oldest,
                    uint64_t now);

/* What is no page can be in it too, by its key, of context 0: as an array does it. */
int tlb_shelf_find(tlb_shelf *s, tlb_key key, uint64_t now);
void tlb_shelf_fill_key(tlb_shelf *s, tlb_key key, uint64_t now);

/* Puts into an empty array what the shelf has in as many of its ways, from `way`
   on, as pages of 2^shift bytes. The array has as many sets. */
void tlb_shelf_move(const tlb_shelf *s, uint32_t way, tlb_array *a,
                    unsigned shift);

#endif
