/* One translation array: look-up and fill. */

#include "sim/tlb/array.h"

#include "sim/tlb/policies.h"
#include "sim/tlb/policy_lru.h"

/* Up to this many ways a look-up compares all of them; above, it asks an index
   of the whole array: buckets of chained entries. */
enum { MAX_COMPARED_WAYS = 8 };

#define END TLB_MISS

static int has_index(const tlb_geometry *g)
{
   return g->ways > MAX_COMPARED_WAYS;
}

/* Twice as many buckets as entries, or a little more: short chains. */
static unsigned bucket_bits(const tlb_geometry *g)
{
   unsigned bits = 1;
   while (((uint32_t)1 << bits) < 2 * g->entries)
      bits++;
   return bits;
}

/* Hands out parts of a stretch of memory, or only adds up their sizes if there
   is none. The parts must come in order of falling alignment. */
typedef struct {
   char *memory;
   size_t used;
} carver;

static void *carve(carver *c, size_t n, size_t size)
{
   void *const part = c->memory == NULL ? NULL : c->memory + c->used;
   c->used += n * size;
   return part;
}

static void carve_array(tlb_array *a, const tlb_geometry *g, carver *c)
{
   const size_t sets = tlb_geometry_sets(g);
   const size_t n = g->entries;
   const tlb_policy_rules *const policy = tlb_policy_of(g);
   const size_t room = policy->room == NULL ? 0 : policy->room(g);
   a->key = carve(c, n, sizeof *a->key);
   a->time = carve(c, n, sizeof *a->time);
   a->short_cut = carve(c, n, sizeof *a->short_cut);
   a->state = carve(c, room, 1);
   a->bucket = carve(c, has_index(g) ? (size_t)1 << bucket_bits(g) : 0,
                     sizeof *a->bucket);
   a->chain = carve(c, has_index(g) ? n : 0, sizeof *a->chain);
   a->filled = carve(c, sets, sizeof *a->filled);
   a->halves = carve(c, g->paired ? n : 0, sizeof *a->halves);
}

size_t tlb_array_bytes(const tlb_geometry *g)
{
   tlb_array unused;
   carver c = { NULL, 0 };
   carve_array(&unused, g, &c);
   return c.used;
}

void tlb_array_init(tlb_array *a, const tlb_geometry *g, void *memory,
                    tlb_release *release, void *opaque)
{
   carver c = { memory, 0 };
   *a = (tlb_array){ .g = *g, .policy = tlb_policy_of(g), .sets = tlb_geometry_sets(g),
                     .release = release, .opaque = opaque };
   a->set_mask = tlb_set_mask(a->sets, g->index_xor);
   a->compared = a->policy->referred == NULL && !has_index(g) && !g->paired;
   a->plain = a->policy->by == TLB_BY_OLDEST && a->compared;
   carve_array(a, g, &c);
   if (!g->paired)
      a->halves = NULL;

   for (uint32_t i = 0; i < g->entries; i++) {
      a->key[i] = TLB_NO_KEY;
      a->time[i] = 0;
      a->short_cut[i] = NULL;
      if (g->paired)
         a->halves[i] = 0;
   }
   if (has_index(g)) {
      a->index_shift = 64 - bucket_bits(g);
      for (size_t i = 0; i < (size_t)1 << bucket_bits(g); i++)
         a->bucket[i] = END;
   }
   for (uint32_t i = 0; i < a->sets; i++)
      a->filled[i] = 0;
   if (a->policy->init != NULL)
      a->policy->init(a);
   if (release == NULL)
      a->short_cut = NULL;
}

/* Multiplicative hashing: the upper bits of the product depend on all bits. */
static uint32_t *bucket_of(const tlb_array *a, tlb_key key)
{
   return a->bucket + (key * UINT64_C(0x9E3779B97F4A7C15) >> a->index_shift);
}

static void link_entry(tlb_array *a, uint32_t i, tlb_key key)
{
   uint32_t *const bucket = bucket_of(a, key);
   a->chain[i] = *bucket;
   *bucket = i;
}

static void index_again(tlb_array *a)
{
   a->unindexed = 0;
   for (size_t i = 0; i < (size_t)1 << bucket_bits(&a->g); i++)
      a->bucket[i] = END;
   for (uint32_t i = 0; i < a->g.entries; i++) {
      if (a->key[i] != TLB_NO_KEY)
         link_entry(a, i, a->key[i]);
   }
}

static inline uint32_t find_in(tlb_array *a, uint32_t set, tlb_key key)
{
   uint32_t i;
   if (has_index(&a->g)) {
      if (a->unindexed)
         index_again(a);
      i = *bucket_of(a, key);
      while (i != END && a->key[i] != key)
         i = a->chain[i];
   } else {
      /* To the end even if it is found: the number of rounds is always the
         same, which a processor foresees, while the place of the hit is not. */
      const uint32_t ways = a->g.ways;
      const tlb_key *const keys = a->key + set * ways;
      uint32_t found = ways;
      for (uint32_t way = 0; way < ways; way++)
         found = keys[way] == key ? way : found;
      i = found < ways ? set * ways + found : END;
   }
   return i;
}

/* --- Pairs --- */

/* The key of a pair is that of a page of twice the size, which no paired array confuses with
   it: there all entries are pairs. */
static tlb_key pair_of(tlb_key key)
{
   return (key & ~(tlb_key)0 << TLB_KEY_PAGE_BITS) + (UINT64_C(1) << TLB_KEY_PAGE_BITS)
          + tlb_key_page(key) / 2;
}

/* Which of a pair the page is, as its bit of `halves`. */
static uint8_t half_of(tlb_key key)
{
   return (uint8_t)(1u << (key & 1));
}

/* The entry of the page's pair, which may have the other page alone. */
static uint32_t find_pair(tlb_array *a, tlb_key key)
{
   const tlb_key pair = pair_of(key);
   return find_in(a, tlb_array_set(a, pair), pair);
}

static uint32_t find_half(tlb_array *a, tlb_key key)
{
   const uint32_t i = find_pair(a, key);
   return i != TLB_MISS && (a->halves[i] & half_of(key)) != 0 ? i : TLB_MISS;
}

tlb_key tlb_array_part(const tlb_array *a, uint32_t entry, unsigned nth)
{
   const tlb_key key = a->key[entry];
   if (a->halves == NULL || key == TLB_NO_KEY)
      return key;
   if ((a->halves[entry] >> nth & 1) == 0)
      return TLB_NO_KEY;
   return (key & ~(tlb_key)0 << TLB_KEY_PAGE_BITS) - (UINT64_C(1) << TLB_KEY_PAGE_BITS)
          + 2 * tlb_key_page(key) + nth;
}

void tlb_array_remove_part(tlb_array *a, uint32_t entry, unsigned nth)
{
   if (a->halves != NULL) {
      a->halves[entry] &= (uint8_t)~(1u << nth);
      if (a->halves[entry] != 0)
         return;
   }
   tlb_array_invalidate(a, entry);
}

/* --- Look-ups --- */

/* The entry is referenced, a hit or a fill. */
static inline void touch(tlb_array *a, uint32_t set, uint32_t e, uint64_t now)
{
   uint64_t *const time = a->short_cut == NULL ? NULL : a->short_cut[e];
   if (time != NULL && time != &tlb_range && !a->also_behind)
      *time = now;
   else
      a->time[e] = now;
   if (a->policy->referred != NULL)
      a->policy->referred(a, set, e, now);
}

uint32_t tlb_array_find(tlb_array *a, tlb_key key)
{
   return a->halves != NULL ? find_half(a, key) : find_in(a, tlb_array_set(a, key), key);
}

uint32_t tlb_array_lookup(tlb_array *a, tlb_key key, uint64_t now)
{
   if (a->halves != NULL) {
      const uint32_t pair = find_half(a, key);
      if (pair != TLB_MISS)
         touch(a, pair / a->g.ways, pair, now);
      return pair;
   }
   const uint32_t set = tlb_array_set(a, key);
   const uint32_t i = find_in(a, set, key);
   if (i != TLB_MISS)
      touch(a, set, i, now);
   return i;
}

static void unlink_entry(tlb_array *a, uint32_t i)
{
   uint32_t *link = bucket_of(a, a->key[i]);
   while (*link != i)
      link = &a->chain[*link];
   *link = a->chain[i];
}

/* The first empty way of a set that has one. */
static uint32_t empty_way(const tlb_array *a, uint32_t set)
{
   const tlb_key *const key = a->key + set * a->g.ways;
   uint32_t way = 0;
   if (!a->has_holes)
      return a->filled[set];
   while (key[way] != TLB_NO_KEY)
      way++;
   return way;
}

uint32_t tlb_array_place(tlb_array *a, tlb_key key)
{
   if (a->halves != NULL) {
      const uint32_t pair = find_pair(a, key);
      if (pair != TLB_MISS)
         return pair;
      key = pair_of(key);
   }
   const uint32_t set = tlb_array_set(a, key);
   const uint32_t way = a->filled[set] < a->g.ways ? empty_way(a, set)
                                                   : a->policy->victim(a, set);
   return set * a->g.ways + way;
}

int tlb_array_has_room(const tlb_array *a, uint32_t place, tlb_key key)
{
   return a->key[place] == TLB_NO_KEY || (a->halves != NULL && a->key[place] == pair_of(key));
}

void tlb_array_invalidate(tlb_array *a, uint32_t entry)
{
   const uint32_t set = entry / a->g.ways;
   if (a->halves != NULL)
      a->halves[entry] = 0;
   tlb_array_release(a, entry);
   if (has_index(&a->g)) {
      if (a->unindexed)
         index_again(a);
      unlink_entry(a, entry);
   }
   a->key[entry] = TLB_NO_KEY;
   a->time[entry] = 0;
   a->filled[set]--;
   a->n_filled--;
   a->has_holes = 1;
   if (a->policy->emptied != NULL)
      a->policy->emptied(a, set, entry);
}

static void tell_what_leaves(tlb_array *a, uint32_t entry)
{
   for (unsigned part = 0; part < tlb_array_parts(a); part++) {
      const tlb_key key = tlb_array_part(a, entry, part);
      if (key != TLB_NO_KEY)
         a->gives_up(a->leaver, key);
   }
}

void tlb_array_fill_entry(tlb_array *a, uint32_t entry, tlb_key key,
                          uint64_t now)
{
   if (a->gives_up != NULL && !tlb_array_has_room(a, entry, key))
      tell_what_leaves(a, entry);
   if (a->halves != NULL) {
      const uint8_t half = half_of(key);
      key = pair_of(key);
      if (a->key[entry] == key) {
         a->halves[entry] |= half;
         touch(a, entry / a->g.ways, entry, now);
         return;
      }
      a->halves[entry] = half;
   }
   const uint32_t set = tlb_array_set(a, key);
   if (has_index(&a->g) && a->unindexed)
      index_again(a);
   if (a->key[entry] == TLB_NO_KEY) {
      a->filled[set]++;
      a->n_filled++;
   } else {
      if (a->policy->evicts != NULL)
         a->policy->evicts(a, set);
      tlb_array_evict(a, entry);
      if (has_index(&a->g))
         unlink_entry(a, entry);
   }
   if (has_index(&a->g))
      link_entry(a, entry, key);
   a->key[entry] = key;
   touch(a, set, entry, now);
   if (a->policy->filled != NULL)
      a->policy->filled(a, set, entry, now);
}

uint32_t tlb_array_fill(tlb_array *a, tlb_key key, uint64_t now)
{
   const uint32_t entry = tlb_array_place(a, key);
   tlb_array_fill_entry(a, entry, key, now);
   return entry;
}

int tlb_array_needs_time(const tlb_array *a)
{
   return a->g.ways > 1 && a->policy->by != TLB_BY_FILLS;
}

/* --- Arrays all of whose keys are known --- */

void tlb_array_replace(tlb_array *a, uint32_t entry, tlb_key key, uint64_t now,
                       uint64_t *time)
{
   tlb_array_replaced(a);
   a->key[entry] = key;
   a->time[entry] = now;
   a->short_cut[entry] = time;
   if (a->policy->filled != NULL)
      a->policy->filled(a, tlb_array_set(a, key), entry, now);
}

uint64_t *tlb_array_refer_known(tlb_array *a, uint32_t set, tlb_key key, uint64_t now,
                                uint64_t *time)
{
   *time = now;
   const uint32_t way = a->tree != NULL ? tlb_lru_oldest_known(a, set)
                                        : a->policy->victim(a, set);
   const uint32_t e = set * a->g.ways + way;
   uint64_t *const lost = a->short_cut[e];
   if (a->policy->evicts != NULL)
      a->policy->evicts(a, set);
   tlb_array_replace(a, e, key, now, time);
   return lost;
}

/* --- Checking --- */

/* Whether the entry is in the index, and no other of its key. */
static int is_indexed(const tlb_array *a, uint32_t entry)
{
   int found = 0, others = 0;
   for (uint32_t i = *bucket_of(a, a->key[entry]); i != END; i = a->chain[i]) {
      found |= i == entry;
      others |= i != entry && a->key[i] == a->key[entry];
   }
   return found && !others;
}

static int is_twice(const tlb_array *a, uint32_t first, uint32_t way)
{
   for (uint32_t other = 0; other < way; other++) {
      if (a->key[first + other] == a->key[first + way])
         return 1;
   }
   return 0;
}

static const char *check_set(const tlb_array *a, uint32_t set)
{
   const uint32_t first = set * a->g.ways;
   for (uint32_t way = 0; way < a->g.ways; way++) {
      const uint32_t e = first + way;
      if (!a->has_holes && (a->key[e] != TLB_NO_KEY) != (way < a->filled[set]))
         return "an array's entries are not filled in order";
      if (a->key[e] == TLB_NO_KEY) {
         if (a->short_cut != NULL && a->short_cut[e] != NULL)
            return "an empty entry has a short cut";
         if (a->halves != NULL && a->halves[e] != 0)
            return "an empty entry has a page";
         continue;
      }
      if (a->halves != NULL && a->halves[e] == 0)
         return "an entry of a pair has none of its pages";
      if (tlb_array_set(a, a->key[e]) != set)
         return "a key is in a set that is not its own";
      if (!has_index(&a->g) && is_twice(a, first, way))
         return "a key is in an array twice";
      if (has_index(&a->g) && !a->unindexed && !is_indexed(a, e))
         return "an entry is not in its array's index, or another with its key";
   }
   return NULL;
}

const char *tlb_array_check(const tlb_array *a)
{
   uint32_t filled = 0, attached = 0, ranges = 0;
   for (uint32_t set = 0; set < a->sets; set++) {
      const char *wrong = check_set(a, set);
      if (wrong == NULL && a->policy->check != NULL)
         wrong = a->policy->check(a, set);
      if (wrong != NULL)
         return wrong;
   }
   for (uint32_t e = 0; e < a->g.entries; e++) {
      const uint64_t *const time = a->short_cut == NULL ? NULL : a->short_cut[e];
      filled += a->key[e] != TLB_NO_KEY;
      attached += time != NULL;
      ranges += time == &tlb_range;
   }
   if (filled != a->n_filled || attached != a->n_attached || ranges != a->n_ranges)
      return "an array's counts of entries are wrong";
   return NULL;
}
