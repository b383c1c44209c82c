/* LRU: the entry whose last reference is longest ago. */

#include "sim/tlb/policy_lru.h"

#include "sim/tlb/oldest.h"

/* Up to this many ways the oldest is found by looking at all of them. */
enum { MAX_SCANNED_WAYS = 16 };

/* --- Many ways --- */

/* To go through all ways for each victim would take long. So each set has a tree:
   its leaves are the ways, each with a time at or before that of its last
   reference; above each pair stands the older of the two. The root has the oldest
   bound. If that is the true time of its way, this is the oldest of all, for
   times only grow. If not, the bound is corrected, and the next root asked. A way
   that is referenced often is corrected each time that it comes to the root, but
   then all others have to come before it comes again.

   The tree has as many leaves as ways: of any number n, with leaves n to 2n - 1, all are below
   number 1.

   A bound of a few ways tells which of them it is of. Then times have 56 bits, which is some 10^13
   instructions of the tool's clock. For more, the way is searched from the root. */
enum { MAX_TOLD_WAYS = 256 };

static int has_tree(const tlb_geometry *g)
{
   return g->ways > MAX_SCANNED_WAYS;
}

static size_t bounds_of(const tlb_geometry *g)
{
   return has_tree(g) ? (size_t)tlb_geometry_sets(g) * 2 * g->ways : 0;
}

static size_t room(const tlb_geometry *g)
{
   return bounds_of(g) * sizeof(tlb_bound);
}

static tlb_bound empty(const tlb_array *a, uint32_t way)
{
   return tlb_lru_bound_of(a, way, UINT64_MAX);
}

static void init(tlb_array *a)
{
   a->tree = NULL;
   if (!has_tree(&a->g))
      return;
   a->tree = a->state;
   a->way_bits = 0;
   while (a->g.ways <= MAX_TOLD_WAYS && a->g.ways > 1u << a->way_bits)
      a->way_bits++;
   for (uint32_t set = 0; set < a->sets; set++) {
      tlb_bound *const tree = tlb_lru_tree(a, set);
      for (uint32_t way = 0; way < a->g.ways; way++)
         tree[a->g.ways + way] = empty(a, way);
      for (uint32_t at = a->g.ways; at-- > 1;)
         tree[at] = tree[2 * at] < tree[2 * at + 1] ? tree[2 * at] : tree[2 * at + 1];
      tree[0] = 0; /* there is no such number */
   }
}

static uint32_t oldest_by_tree(tlb_array *a, uint32_t set)
{
   const tlb_bound *const tree = tlb_lru_tree(a, set);
   for (;;) {
      const uint32_t way = tlb_lru_root_way(a, tree);
      const uint32_t e = set * a->g.ways + way;
      const uint64_t time = tlb_array_time(a, e);
      if (time == tree[1] >> a->way_bits)
         return way;
      /* What is known now of a range must not be forgotten. */
      a->time[e] = time;
      tlb_lru_bound(a, set, e, time);
   }
}

/* The tree's leaves are lower bounds of the times of the ways, and each node above is the
   older of the two below it. */
static const char *check(const tlb_array *a, uint32_t set)
{
   if (a->tree == NULL)
      return NULL;
   const uint32_t ways = a->g.ways;
   const tlb_bound *const tree = tlb_lru_tree(a, set);
   for (uint32_t way = 0; way < ways; way++) {
      const tlb_bound bound = tree[ways + way];
      const uint32_t e = set * ways + way;
      const tlb_bound most = a->key[e] == TLB_NO_KEY ? empty(a, way)
                                : tlb_lru_bound_of(a, way, tlb_array_time(a, e));
      if (a->key[e] == TLB_NO_KEY ? bound != most : bound > most)
         return "a leaf of an LRU tree is no lower bound";
      if (a->way_bits != 0 && bound != tlb_lru_bound_of(a, way, bound >> a->way_bits))
         return "a leaf of an LRU tree is another way's";
   }
   for (uint32_t at = 1; at < ways; at++) {
      const tlb_bound left = tree[2 * at], right = tree[2 * at + 1];
      if (tree[at] != (left < right ? left : right))
         return "a node of an LRU tree is not the older of two";
   }
   return NULL;
}

/* --- Few ways --- */

/* What is known of an entry's time without going through a range: for a range,
   when it was last known to be referenced, a lower bound. */
static uint64_t bound_of(const tlb_array *a, uint32_t entry)
{
   return a->short_cut != NULL && a->short_cut[entry] == &tlb_range
             ? a->time[entry]
             : tlb_array_time(a, entry);
}

/* What a range keeps in `time` is when it was last known to be referenced: a
   lower bound. Only the entry with the lowest bound is asked for the truth,
   and if it has become younger since, the next one is. */
static uint32_t oldest_of_ranges(tlb_array *a, uint32_t first)
{
   for (;;) {
      uint32_t oldest = 0;
      uint64_t oldest_time = UINT64_MAX;
      for (uint32_t way = 0; way < a->g.ways; way++) {
         const uint32_t e = first + way;
         const uint64_t time = bound_of(a, e);
         oldest = time < oldest_time ? way : oldest;
         oldest_time = time < oldest_time ? time : oldest_time;
      }
      if (a->short_cut[first + oldest] != &tlb_range)
         return oldest;
      a->time[first + oldest] = tlb_array_time(a, first + oldest);
      if (a->time[first + oldest] == oldest_time)
         return oldest;
   }
}

/* Loops of one shape: a test in the middle of one would cost more than
   all the rest of it. */
static uint32_t oldest_by_scan(tlb_array *a, uint32_t set)
{
   const uint32_t ways = a->g.ways;
   const uint32_t first = set * ways;
   uint32_t oldest = 0;
   uint64_t oldest_time = UINT64_MAX;
   if (a->n_attached == 0) {
      const uint64_t *const time = a->time + first;
      for (uint32_t way = 0; way < ways; way++) {
         oldest = time[way] < oldest_time ? way : oldest;
         oldest_time = time[way] < oldest_time ? time[way] : oldest_time;
      }
   } else if (tlb_array_has_short_cuts_alone(a)) {
      return tlb_oldest_attached(a->short_cut + first, a->second_time, ways);
   } else if (a->n_ranges > 0) {
      return oldest_of_ranges(a, first);
   } else {
      for (uint32_t way = 0; way < ways; way++) {
         const uint64_t time = tlb_array_time(a, first + way);
         oldest = time < oldest_time ? way : oldest;
         oldest_time = time < oldest_time ? time : oldest_time;
      }
   }
   return oldest;
}

/* --- Both --- */

static uint32_t victim(tlb_array *a, uint32_t set)
{
   return a->tree != NULL ? oldest_by_tree(a, set) : oldest_by_scan(a, set);
}

static void filled(tlb_array *a, uint32_t set, uint32_t e, uint64_t now)
{
   if (a->tree != NULL)
      tlb_lru_bound(a, set, e, now);
}

static void emptied(tlb_array *a, uint32_t set, uint32_t e)
{
   filled(a, set, e, UINT64_MAX);
}

const tlb_policy_rules tlb_policy_lru = {
   .by = TLB_BY_OLDEST, .room = room, .init = init, .victim = victim, .filled = filled,
   .emptied = emptied, .check = check
};
