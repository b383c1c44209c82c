/* A lazy LRU array: presence bits and last-use times are stored at the pages.

   Many machines have each an array behind the first level, and most look-ups there hit. To
   look a page up in each array would cost more than all else. So each page has a bit for each
   array that holds it: one look answers for all arrays. And one time of last use serves all
   arrays that are looked up together (a miss group).

   The array itself keeps a lower bound of each entry's time, and for each set the order of
   these bounds. To evict, it compares the oldest bound with the time at the page. If they are
   equal, that entry is the oldest of all, for times only grow; if not, the bound is corrected.
   So an eviction mostly looks at one entry.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_LAZY_LRU_H
#define TLB_LAZY_LRU_H

#include "sim/base/api.h"
#include "sim/tlb/array.h"

TLB_API_BEGIN

/* A page is looked up as code or as data. The times of an array stand in up to so many spans
   of a page's times. */
enum { TLB_LAZY_LRU_SIDES = 2, TLB_LAZY_LRU_SPANS = 3 };

/* Keys of which a lazy LRU array has notes, so that they are found without a search: one of those
   with equal lowest bits. */
enum { TLB_LAZY_LRU_NOTES = 64 };

typedef struct {
   uint64_t what; /* as in an entry; 0: nothing */
   uint64_t time; /* when it was looked up last */
} tlb_lazy_lru_note;

/* A set's order has four bits for each way. */
enum { TLB_LAZY_LRU_MAX_WAYS = 16 };

typedef struct {
   uint64_t number;
   uint64_t held[TLB_LAZY_LRU_SIDES]; /* by which lazy LRU arrays, see tlb_lazy_lru.bit */
   uint64_t last;                  /* when it was looked up in any of them */
   uint64_t time[];                /* as `last`, by stream */
} tlb_lazy_lru_page;

typedef struct {
   uint64_t bound; /* 0: the way is empty */
   uint64_t what;  /* a page's address, or a key, see tlb_lazy_lru_find() */
} tlb_lazy_lru_entry;

/* The order stands beside the entries, in the same line of the processor's cache if the
   set is small. */
typedef struct {
   uint64_t order;  /* of the ways, by bound, the oldest lowest */
   uint64_t unused; /* so that no entry lies on two lines */
   tlb_lazy_lru_entry entry[];
} tlb_lazy_lru_set;

typedef struct {
   void *memory;        /* set after set */
   tlb_lazy_lru_note *note; /* of keys that are there */
   uint32_t sets, set_mask, index_xor; /* as in an array */
   uint32_t ways;
   uint32_t set_bytes;
   /* Which of a page's times are those of look-ups in this array. */
   uint16_t from[TLB_LAZY_LRU_SPANS], to[TLB_LAZY_LRU_SPANS];
   uint64_t bit[TLB_LAZY_LRU_SIDES]; /* the array's, on each side that is looked up in it, else 0 */
} tlb_lazy_lru;

static inline uint32_t tlb_lazy_lru_set_bytes(uint32_t ways)
{
   return (uint32_t)(sizeof(tlb_lazy_lru_set) + ways * sizeof(tlb_lazy_lru_entry));
}

/* Bytes of memory for a lazy LRU array. */
static inline size_t tlb_lazy_lru_bytes(uint32_t sets, uint32_t ways)
{
   return (size_t)sets * tlb_lazy_lru_set_bytes(ways)
          + TLB_LAZY_LRU_NOTES * sizeof(tlb_lazy_lru_note);
}

/* An empty lazy LRU array of up to TLB_LAZY_LRU_MAX_WAYS ways, with no bits, inside `memory`,
   aligned for a pointer. */
void tlb_lazy_lru_init(tlb_lazy_lru *s, uint32_t sets, uint32_t ways, uint32_t index_xor,
                       void *memory);

/* Puts the page in, which is not there; `now` is later than all times so far. For
   the caller to note it at the page. */
void tlb_lazy_lru_fill(tlb_lazy_lru *s, tlb_lazy_lru_page *p, uint64_t now);

static inline tlb_lazy_lru_set *tlb_lazy_lru_set_at(const tlb_lazy_lru *s, uint32_t set)
{
   return (tlb_lazy_lru_set *)(void *)((char *)s->memory + (size_t)set * s->set_bytes);
}

/* The set that a page of that number goes to. */
static inline tlb_lazy_lru_set *tlb_lazy_lru_set_of(const tlb_lazy_lru *s, uint64_t page)
{
   return tlb_lazy_lru_set_at(s, tlb_set_of(page, s->sets, s->set_mask,
                                             s->index_xor));
}

/* A caller that fills several lazy LRU arrays need not wait for the memory of each: it prefetches
   first for all sets, then for the entries that are probably evicted, and then
   for their pages. */
static inline void tlb_lazy_lru_fetch_set(const tlb_lazy_lru *s, uint64_t page)
{
   __builtin_prefetch(tlb_lazy_lru_set_of(s, page), 1);
}

static inline tlb_lazy_lru_entry *tlb_lazy_lru_oldest(tlb_lazy_lru_set *set)
{
   return &set->entry[set->order & (TLB_LAZY_LRU_MAX_WAYS - 1)];
}

static inline void tlb_lazy_lru_fetch_entry(const tlb_lazy_lru *s, uint64_t page)
{
   __builtin_prefetch(tlb_lazy_lru_oldest(tlb_lazy_lru_set_of(s, page)), 1);
}

static inline void tlb_lazy_lru_fetch_page(const tlb_lazy_lru *s, uint64_t page)
{
   const tlb_lazy_lru_entry *const e = tlb_lazy_lru_oldest(tlb_lazy_lru_set_of(s, page));
   __builtin_prefetch((const void *)(uintptr_t)e->what, 1);
}

/* What is no page can be in it too, by its key, of context 0: as an array does it. */
int tlb_lazy_lru_find(tlb_lazy_lru *s, tlb_key key, uint64_t now);
void tlb_lazy_lru_fill_key(tlb_lazy_lru *s, tlb_key key, uint64_t now);

/* Whether its parts agree with each other and with its pages: NULL, or what is wrong. */
const char *tlb_lazy_lru_check(const tlb_lazy_lru *s);

/* Whether the page is in it, found without its bits. */
int tlb_lazy_lru_has(const tlb_lazy_lru *s, const tlb_lazy_lru_page *p);

/* Puts into an empty array what the lazy LRU array has in as many of its ways, from `way`
   on, as pages of 2^shift bytes. The array has as many sets. */
void tlb_lazy_lru_move(const tlb_lazy_lru *s, uint32_t way, tlb_array *a,
                    unsigned shift);

TLB_API_END

#endif
