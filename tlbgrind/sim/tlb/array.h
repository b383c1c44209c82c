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
   The caller may keep an entry's time in two places, of which the later
   counts (`second_time`), or in many: then the array asks a function, and only
   when the answer can decide who is evicted (tlb_array_attach_range()).

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_ARRAY_H
#define TLB_ARRAY_H

#include "sim/machine/geometry.h"

/* What an entry is found by: the number of the page (its address divided by its
   size), a mark of its size, lest pages of two sizes be taken for one, and the
   context (address space) it belongs to. */
typedef uint64_t tlb_key;

enum {
   TLB_KEY_PAGE_BITS = 52,
   TLB_KEY_SIZE_BITS = 5,
   TLB_MAX_CONTEXT = (1 << 7) - 2
};

static inline tlb_key tlb_key_of(uint64_t page, unsigned page_shift,
                                 uint32_t context)
{
   return page
          | (uint64_t)(page_shift - TLB_MIN_PAGE_SHIFT) << TLB_KEY_PAGE_BITS
          | (uint64_t)context << (TLB_KEY_PAGE_BITS + TLB_KEY_SIZE_BITS);
}

static inline uint64_t tlb_key_page(tlb_key key)
{
   return key & ((UINT64_C(1) << TLB_KEY_PAGE_BITS) - 1);
}

static inline unsigned tlb_key_shift(tlb_key key)
{
   return TLB_MIN_PAGE_SHIFT
          + (unsigned)(key >> TLB_KEY_PAGE_BITS & ((1 << TLB_KEY_SIZE_BITS) - 1));
}

/* No page of any context has this key. */
#define TLB_NO_KEY UINT64_MAX

typedef void tlb_release(uint64_t *time, tlb_key key, void *opaque);
/* The last reference to anything that the entry of that key covers. */
typedef uint64_t tlb_range_time(tlb_key key, void *opaque);

/* Stands for a short cut to the times of many places; holds nothing. */
extern uint64_t tlb_range;

/* A way, and a time at or before that of its last reference, see policy.c. */
typedef struct {
   uint64_t time;
   uint32_t way;
} tlb_bound;

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
   uint64_t *cleared;    /* NRU, per set: when the used bits were cleared */
   uint32_t *watched;    /* NRU, per set: a way whose bit is off, see policy.c */
   uint32_t *filled;     /* per set: how many ways hold something */
   uint32_t *next;       /* per set: FIFO's next victim; NRU: the bits of all ways
                            before it are on */
   uint32_t *bucket;     /* the index of an array with many ways: the first
                            entry of each bucket, or END */
   uint32_t *chain;      /* the next entry of the same bucket, or END */
   tlb_bound *tree;      /* LRU of many ways: the oldest of each half, quarter,
                            ... of a set; NULL: there are no trees */
   uint32_t leaves;      /* of a set's tree: its ways, rounded up to 2^n */
   uint64_t *latest;     /* PLRU: room for the last reference in each half,
                            quarter, ... of a set; above 2n and 2n + 1 stands n */
   int unindexed;        /* the index has to be made anew */
   uint32_t n_filled;    /* entries that hold something */
   uint32_t n_attached;  /* entries with a short cut */
   uint32_t n_ranges;    /* of these, tlb_range */
   int also_behind;      /* some references reach it past another array: then an
                            entry's own time counts beside its short cut's */
   uint32_t second_time; /* where the other time stands, counted in times from
                            the one that a short cut names; 0: there is none */
   uint64_t random;
   tlb_release *release;
   tlb_range_time *range_time; /* needed if a range is ever attached */
   void *opaque;
} tlb_array;

#define TLB_NO_MASK UINT32_MAX

static inline uint32_t tlb_set_mask(uint32_t sets)
{
   return (sets & (sets - 1)) == 0 ? sets - 1 : TLB_NO_MASK;
}

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

/* The same in two steps. The entry that the key would go to; this changes
   nothing that matters and may be asked in vain. */
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
   from now on its time is *time, which starts as the entry's. Of two times it is
   for the caller to note which of them is now. */
void tlb_array_attach(tlb_array *a, uint32_t entry, uint64_t *time);

/* The same for an entry whose last reference only range_time() knows. */
void tlb_array_attach_range(tlb_array *a, uint32_t entry);

/* Takes the time back; the next reference must come through the array. */
void tlb_array_detach(tlb_array *a, uint32_t entry);

/* For policy.c: takes the time back and tells the caller so, if need be. */
void tlb_array_release(tlb_array *a, uint32_t entry);

/* Whether the times of references matter to this array's choices. Where they
   do not, a short cut need not note them. */
int tlb_array_needs_time(const tlb_array *a);

/* The time that a short cut to one page leads to. */
static inline uint64_t tlb_array_attached_time(const tlb_array *a,
                                               const uint64_t *time)
{
   const uint64_t other = time[a->second_time];
   return *time > other ? *time : other;
}

/* The oldest way of a set and its bound, where there is a tree; see policy.c. */
static inline const tlb_bound *tlb_array_root(const tlb_array *a, uint32_t set)
{
   return a->tree + (size_t)set * 2 * a->leaves + 1;
}

/* The time of an entry's last reference, wherever it is kept. */
static inline uint64_t tlb_array_time(const tlb_array *a, uint32_t entry)
{
   uint64_t *const time = a->short_cut == NULL ? NULL : a->short_cut[entry];
   if (time == NULL)
      return a->time[entry];
   const uint64_t t = time == &tlb_range
                         ? a->range_time(a->key[entry], a->opaque)
                         : tlb_array_attached_time(a, time);
   /* The array's own time is that of the last reference that it saw, and
      older, unless others than those of the short cut come, too. */
   return t > a->time[entry] ? t : a->time[entry];
}

/* Sets are chosen by the page number alone: contexts share the sets. `mask`:
   set_mask. */
static inline uint32_t tlb_set_of(uint64_t page, uint32_t sets, uint32_t mask)
{
   return mask != TLB_NO_MASK ? (uint32_t)page & mask : (uint32_t)(page % sets);
}

static inline uint32_t tlb_array_set(const tlb_array *a, tlb_key key)
{
   return tlb_set_of(tlb_key_page(key), a->sets, a->set_mask);
}

/* --- Plain arrays --- */

/* An array is plain if it is LRU and small enough in its ways that both look-ups
   and victims are found by going through a set: the first levels of most
   processors, and their second. What a look-up does is written out here once more,
   for a caller that knows what it does and counts instructions; the functions above
   do the same for every array. */

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

/* Of any LRU array, the oldest entry of the set that the key belongs to, all of which
   is filled and has short cuts to one page each. */
static inline uint32_t tlb_plain_oldest(const tlb_array *a, tlb_key key)
{
   const uint32_t ways = a->g.ways;
   const uint32_t first = tlb_array_set(a, key) * ways;
   uint64_t *const *const time = a->short_cut + first;
   uint32_t oldest = 0;
   uint64_t oldest_time = tlb_array_attached_time(a, time[0]);
   for (uint32_t way = 1; way < ways; way++) {
      const uint64_t t = tlb_array_attached_time(a, time[way]);
      oldest = t < oldest_time ? way : oldest;
      oldest_time = t < oldest_time ? t : oldest_time;
   }
   return first + oldest;
}

/* --- Arrays all of which is known --- */

/* Puts the key in the place of an entry of an array that is full and all of which has
   short cuts, with `time` as its own. The caller deals with the short cut of the key
   that was there. It is the key's first reference. */
void tlb_array_replace(tlb_array *a, uint32_t entry, tlb_key key, uint64_t now,
                       uint64_t *time);

/* The caller has done so by hand: written to `key` and `short_cut`, and called
   tlb_policy_bound() where there is a tree. (Nothing is looked up in such an array, so
   its index can wait.) */
static inline void tlb_array_replaced(tlb_array *a)
{
   a->unindexed = 1;
}

#endif
