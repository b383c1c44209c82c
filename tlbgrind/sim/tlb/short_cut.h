/* The entries of a translation array, and where the times of their last uses stand.

   Most references change nothing that matters: the key is in the array, and the time of
   its last use becomes `now`. A caller may answer such references without the array, if
   it writes the time where the array can read it: tlb_array_attach() gives an entry a
   short cut, a place in the caller's memory where its time is kept from then on. The
   array reads it when it chooses a victim. This is exact, not an approximation: between
   two choices no time is read.

   `release` is called when a short cut ends: the entry is evicted, so that the next reference
   to its key must come through the array again. An array in which a hit changes more than a
   time (policy.h: TLB_BY_HITS) has no short cuts.

   The time may stand in two places, of which the later counts (`second_time`), or in
   many: then the array calls a function for it, and only if the answer can decide which
   entry is evicted (tlb_array_attach_range()).

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_SHORT_CUT_H
#define TLB_SHORT_CUT_H

#include "sim/base/api.h"
#include "sim/tlb/key.h"

TLB_API_BEGIN

/* A short cut of the array has ended. `time`: its place; `opaque`: as for the array. */
typedef void tlb_release(uint64_t *time, tlb_key key, void *opaque);

/* A page is evicted, whose key is still there. `leaver`: as the array has it. */
typedef void tlb_leave(void *leaver, tlb_key key);

/* Returns the time of the last reference to anything that the entry of that key covers. */
typedef uint64_t tlb_range_time(tlb_key key, void *opaque);

/* The short cut of an entry whose times stand in many places; holds nothing. */
extern uint64_t tlb_range;

/* A time at or before that of a way's last reference, and below it the way, if it has room;
   policy_lru.c. One word, so that the older of two is the smaller one. */
typedef uint64_t tlb_bound;

/* The parts of an entry stand in arrays of their own, set after set: a look-up reads the
   keys of one set and nothing else. Initialized by tlb_array_init(). */
typedef struct {
   tlb_geometry g;
   uint32_t sets;
   uint32_t set_mask;    /* tlb_set_mask() */
   int plain, compared;  /* see array.h */
   uint32_t index_shift; /* 64 - log2(buckets) */
   tlb_key *key;
   uint64_t *time;       /* of the last reference; 0: never referenced. Not
                            kept up while there is a short cut */
   uint64_t **short_cut; /* where the time is kept instead, or NULL; the array
                            itself is NULL where nothing is ever attached */
   const struct tlb_policy_rules *policy; /* of g.policy */
   void *state;          /* the policy's own memory */
   uint32_t *filled;     /* per set: how many ways hold something */
   uint32_t *bucket;     /* the index of an array with many ways: the first
                            entry of each bucket, or END */
   uint32_t *chain;      /* the next entry of the same bucket, or END */
   tlb_bound *tree;      /* the state of LRU of many ways: the oldest of each half, quarter,
                            ... of a set; NULL: there are no trees */
   uint32_t way_bits;    /* of a bound there; 0: bounds do not tell the way */
   uint8_t *halves;      /* of paired entries, which have the key of a page of twice the size:
                            bit n: page n of the two is there; NULL: entries are single */
   int unindexed;        /* the index has to be made anew */
   int has_holes;        /* an entry has been emptied: the ways of a set need not be filled
                            in order */
   uint32_t n_filled;    /* entries that hold something */
   uint32_t n_attached;  /* entries with a short cut */
   uint32_t n_ranges;    /* of these, tlb_range */
   int also_behind;      /* some references reach it past another array: then an
                            entry's own time counts beside its short cut's */
   uint32_t second_time; /* where the other time stands, counted in times from
                            the one that a short cut names; 0: there is none */
   tlb_leave *gives_up;  /* called of each page that is evicted, and not of what is invalidated;
                            NULL: nobody asks */
   void *leaver;         /* for it */
   tlb_release *release;
   tlb_range_time *range_time; /* needed if a range is ever attached */
   void *opaque;
} tlb_array;

static inline uint32_t tlb_array_set(const tlb_array *a, tlb_key key)
{
   return tlb_set_of(tlb_key_page(key), a->sets, a->set_mask, a->g.index_xor);
}

/* Gives the entry just looked up or filled a short cut: from now on its time is *time,
   which starts as the entry's. With a second time, the caller writes the first itself. */
void tlb_array_attach(tlb_array *a, uint32_t entry, uint64_t *time);

/* The same for an entry whose last reference only range_time() returns. */
void tlb_array_attach_range(tlb_array *a, uint32_t entry);

/* Takes the time back; the next reference must come through the array. */
void tlb_array_detach(tlb_array *a, uint32_t entry);

/* tlb_array_detach(), and the array's `release` is called; nothing if there is no short
   cut. */
void tlb_array_release(tlb_array *a, uint32_t entry);

/* Ends the short cut of an entry that is evicted, whose time is not needed any more. */
void tlb_array_evict(tlb_array *a, uint32_t entry);

/* Whether every entry that holds a key has a short cut, so that a key without one is not
   in the array. */
static inline int tlb_array_all_attached(const tlb_array *a)
{
   return a->n_attached == a->n_filled;
}

/* The time that a short cut to one page leads to. */
static inline uint64_t tlb_array_attached_time(const tlb_array *a,
                                               const uint64_t *time)
{
   const uint64_t other = time[a->second_time];
   return *time > other ? *time : other;
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

TLB_API_END

#endif
