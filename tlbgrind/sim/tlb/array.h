/* One translation array: a TLB level, an ERAT, a micro-TLB.

   The array holds keys (key.h) in sets of ways. A look-up either finds the key, which
   counts as a reference to it, or the caller fills it in, and the replacement policy
   (policy.h) chooses the entry of the set that is evicted.

   Every reference carries `now`, a number above 0 that grows with every reference to the
   array. LRU and PLRU follow from the times of the last references alone, so an entry
   keeps nothing else. A caller can keep an entry's time in its own memory and so answer
   references without the array: short_cut.h.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_ARRAY_H
#define TLB_ARRAY_H

#include "sim/base/api.h"
#include "sim/tlb/short_cut.h"

TLB_API_BEGIN

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

/* Where the key is, or TLB_MISS; no reference to it. */
uint32_t tlb_array_find(tlb_array *a, tlb_key key);

/* The nth page of an entry, of tlb_array_parts(), or TLB_NO_KEY: it is not there. */
static inline unsigned tlb_array_parts(const tlb_array *a)
{
   return a->halves == NULL ? 1 : 2;
}
tlb_key tlb_array_part(const tlb_array *a, uint32_t entry, unsigned nth);

/* Removes a page that is there; its entry is empty when none is left. */
void tlb_array_remove_part(tlb_array *a, uint32_t entry, unsigned nth);

/* Whether the key evicts nothing from its place: it is free, or that of its pair. */
int tlb_array_has_room(const tlb_array *a, uint32_t place, tlb_key key);

/* Empties an entry that holds something. Empty entries of a set are filled before any is
   evicted, the first of them first. */
void tlb_array_invalidate(tlb_array *a, uint32_t entry);

/* Puts in a key that was just missed; this is its first reference. Returns
   the number of its entry, whose former key is gone. */
uint32_t tlb_array_fill(tlb_array *a, tlb_key key, uint64_t now);

/* The same in two steps. The entry that the key would go to; changes no outcome, and
   no fill need follow. */
uint32_t tlb_array_place(tlb_array *a, tlb_key key);
void tlb_array_fill_entry(tlb_array *a, uint32_t entry, tlb_key key,
                          uint64_t now);

/* Whether the array's parts agree with each other: NULL, or what is wrong. For tests and
   debugging; takes as long as there are entries. */
const char *tlb_array_check(const tlb_array *a);

/* Whether the times of references matter to this array's choices. Where they
   do not, a short cut need not note them. */
int tlb_array_needs_time(const tlb_array *a);

/* --- Arrays all of whose keys are known --- */

/* Puts the key in the place of an entry of an array that is full and all of which has
   short cuts, with `time` as its own. The caller deals with the short cut of the key
   that was there. It is the key's first reference. */
void tlb_array_replace(tlb_array *a, uint32_t entry, tlb_key key, uint64_t now,
                       uint64_t *time);

/* The caller has done so by hand: written to `key` and `short_cut`, and to the tree where there is
   one (policy_lru.h). (Nothing is looked up in such an array, so its index can wait.) */
static inline void tlb_array_replaced(tlb_array *a)
{
   a->unindexed = 1;
}

/* References a key that belongs to `set` of an array that is full, and all of whose
   entries have short cuts to one time each. The key is not among these. From now on its time
   is *time. Returns the short cut of the entry that is gone. */
uint64_t *tlb_array_refer_known(tlb_array *a, uint32_t set, tlb_key key, uint64_t now,
                                uint64_t *time);

/* --- Plain arrays --- */

/* An array is plain if it is LRU and small enough in its ways that both look-ups
   and victims are found by going through a set: the first levels of most
   processors, and their second. Their look-up is written out here once more, inline, for
   callers on a hot path; tlb_array_lookup() does the same for every array. Of one that is only
   `compared` the policy is another that does not ask for hits: so the look-up, and its time, are
   the same, and victims are not. */

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

TLB_API_END

#endif
