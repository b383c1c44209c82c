/* One translation array: a TLB level, an ERAT, a uTLB.

   The array holds keys (page numbers, see tlb_key) in sets of ways. A look-up
   either finds the key, which counts as a reference to it, or the caller
   fills it in and the set's policy names the entry that has to go.

   Time. Every reference carries `now`, a number above 0 that grows with every
   reference to the array. LRU and PLRU follow from the times of the last
   references alone, so that is all an entry keeps.

   Short cuts. Most references change nothing that matters: the key is there,
   and all that happens is that its time becomes `now`. A caller may answer
   those by itself, provided that it notes the time where the array can read
   it: tlb_array_attach() hands an entry's time over to the caller's memory,
   and from then on the array looks there when it chooses a victim. This is
   exact, not an approximation: between two decisions nobody reads the time.
   `release` tells the caller when its knowledge ends: the entry is evicted,
   or (NRU) its used bit is cleared, so that the next reference matters again.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_ARRAY_H
#define TLB_ARRAY_H

#include "geometry.h"

/* What an entry is found by: the page number and the context (address space)
   it belongs to. */
typedef uint64_t tlb_key;

enum { TLB_KEY_PAGE_BITS = 52, TLB_MAX_CONTEXT = (1 << 12) - 2 };

static inline tlb_key tlb_key_of(uint64_t page, uint32_t context)
{
   return page | (uint64_t)context << TLB_KEY_PAGE_BITS;
}

/* No page of any context has this key. */
#define TLB_NO_KEY UINT64_MAX

typedef void tlb_release(uint64_t *time, void *opaque);

typedef struct {
   uint64_t bound;
   uint32_t way;
} tlb_heap_node;

/* Parts of an entry stand in arrays of their own, set after set: a look-up
   reads the keys of a set and nothing else. */
typedef struct {
   tlb_geometry g;
   uint32_t sets;
   uint32_t set_mask;    /* sets - 1 where sets is a power of two, else
                            TLB_NO_MASK */
   int plain;            /* see below */
   uint32_t index_shift; /* 64 - log2(buckets) */
   tlb_key *key;
   uint64_t *time;       /* of the last reference; 0: never referenced. Not
                            kept up while there is a short cut */
   uint64_t **short_cut; /* where the time is kept instead, or NULL; the array
                            itself is NULL where nothing is ever attached */
   uint8_t *used;        /* NRU's used bits */
   uint32_t *filled;     /* per set: how many ways hold something */
   uint32_t *next;       /* per set: FIFO's next victim; NRU's count of used */
   uint32_t *bucket;     /* the index of an array with many ways: the first
                            entry of each bucket, or END */
   uint32_t *chain;      /* the next entry of the same bucket, or END */
   tlb_heap_node *heap;  /* per set: ways ordered by time, see policy.c */
   uint32_t n_filled;    /* entries that hold something */
   uint32_t n_attached;  /* entries with a short cut */
   uint64_t random;
   tlb_release *release;
   void *opaque;
} tlb_array;

#define TLB_NO_MASK UINT32_MAX

/* Bytes of memory that tlb_array_init() wants for this geometry. */
size_t tlb_array_bytes(const tlb_geometry *g);

/* Makes an empty array inside `memory` (tlb_array_bytes() of it, aligned for
   uint64_t). The geometry must have passed tlb_geometry_check(). `release` may
   be NULL if nothing is ever attached. */
void tlb_array_init(tlb_array *a, const tlb_geometry *g, void *memory,
                    tlb_release *release, void *opaque);

/* References key. Returns the number of its entry, or TLB_MISS. */
#define TLB_MISS UINT32_MAX
uint32_t tlb_array_lookup(tlb_array *a, tlb_key key, uint64_t now);

/* Puts in a key that was just missed; this is its first reference. Returns
   the number of its entry, whose former key is gone. */
uint32_t tlb_array_fill(tlb_array *a, tlb_key key, uint64_t now);

/* The same in two steps. The entry that the key would go to; under LRU this
   changes nothing and may be asked in vain, under the other policies it must
   be followed by the second step. */
uint32_t tlb_array_place(tlb_array *a, tlb_key key);
void tlb_array_fill_entry(tlb_array *a, uint32_t entry, tlb_key key,
                          uint64_t now);

/* Whether every key in the array has a short cut, so that one without is not
   there. */
static inline int tlb_array_all_attached(const tlb_array *a)
{
   return a->n_attached == a->n_filled;
}

/* Lets the caller answer references to the entry just looked up or filled:
   from now on its time is *time, which starts as the entry's. */
void tlb_array_attach(tlb_array *a, uint32_t entry, uint64_t *time);

/* Takes the time back; the next reference must come through the array. */
void tlb_array_detach(tlb_array *a, uint32_t entry);

/* For policy.c: takes the time back and tells the caller so, if need be. */
void tlb_array_release(tlb_array *a, uint32_t entry);

/* Whether the times of references matter to this array's choices. Where they
   do not, a short cut need not note them. */
int tlb_array_needs_time(const tlb_array *a);

/* The time of an entry's last reference, wherever it is kept. */
static inline uint64_t tlb_array_time(const tlb_array *a, uint32_t entry)
{
   return a->short_cut != NULL && a->short_cut[entry] != NULL
             ? *a->short_cut[entry]
             : a->time[entry];
}

/* Sets are chosen by the page number alone: contexts share the sets. */
static inline uint32_t tlb_array_set(const tlb_array *a, tlb_key key)
{
   const uint64_t page = key & ((UINT64_C(1) << TLB_KEY_PAGE_BITS) - 1);
   return a->set_mask != TLB_NO_MASK ? (uint32_t)page & a->set_mask
                                     : (uint32_t)(page % a->sets);
}

/* --- Plain arrays --- */

/* An array is plain if it is LRU and small enough in its ways that both look-ups
   and victims are found by going through a set: the first levels of most
   processors, and their second. What a miss does to them is written out here
   once more, for a caller that knows what it does and counts instructions; the
   functions above do the same for every array. */

/* The entry of the key, or TLB_MISS. Changes nothing. Here and below all ways
   are gone through, even behind the one that is found: a processor foresees how
   many there are, not which one it is. */
static inline uint32_t tlb_plain_find(const tlb_array *a, tlb_key key)
{
   const uint32_t ways = a->g.ways;
   const uint32_t first = tlb_array_set(a, key) * ways;
   const tlb_key *const keys = a->key + first;
   uint32_t found = TLB_MISS;
   for (uint32_t way = 0; way < ways; way++)
      found = keys[way] == key ? first + way : found;
   return found;
}

/* The oldest entry of the set that the key belongs to, all of which is filled
   and has short cuts. */
static inline uint32_t tlb_plain_oldest(const tlb_array *a, tlb_key key)
{
   const uint32_t ways = a->g.ways;
   const uint32_t first = tlb_array_set(a, key) * ways;
   uint64_t *const *const time = a->short_cut + first;
   uint32_t oldest = 0;
   uint64_t oldest_time = *time[0];
   for (uint32_t way = 1; way < ways; way++) {
      const uint64_t t = *time[way];
      oldest = t < oldest_time ? way : oldest;
      oldest_time = t < oldest_time ? t : oldest_time;
   }
   return first + oldest;
}

/* Whether a plain array's set is as tlb_plain_oldest() wants it. */
static inline int tlb_plain_is_full(const tlb_array *a, tlb_key key)
{
   return a->filled[tlb_array_set(a, key)] == a->g.ways
          && tlb_array_all_attached(a);
}

/* Puts the key in the place of such an entry, with `time` as its short cut. The
   caller deals with the short cut of the key that was there. */
static inline void tlb_plain_replace(tlb_array *a, uint32_t entry, tlb_key key,
                                     uint64_t *time)
{
   a->key[entry] = key;
   a->short_cut[entry] = time;
}

#endif
