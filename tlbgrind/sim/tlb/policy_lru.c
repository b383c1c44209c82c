/* LRU: the entry whose last reference is longest ago. */

#include "sim/tlb/policy_lru.h"

#include "sim/tlb/oldest.h"

/* Up to this many ways the oldest is found by looking at all of them. */
enum { MAX_SCANNED_WAYS = 16 };

/* --- Many ways --- */

/* To go through all ways for each victim would take long. So each set has a tree:
   its leaves are the ways, each with a time at or before that of its last
   reference; above each pair stands the older of the two. The root is the way
   with the oldest bound. If that is its true time, it is the oldest of all, for
   times only grow. If not, the bound is corrected, and the next root asked. A way
   that is referenced often is corrected each time that it comes to the root, but
   then all others have to come before it comes again. */

static uint32_t leaves_of(const tlb_geometry *g)
{
   uint32_t leaves = 1;
   if (g->ways <= MAX_SCANNED_WAYS)
      return 0;
   while (leaves < g->ways)
      leaves *= 2;
   return leaves;
}

static size_t room(const tlb_geometry *g)
{
   return (size_t)tlb_geometry_sets(g) * 2 * leaves_of(g) * sizeof(tlb_bound);
}

static void init(tlb_array *a)
{
   a->leaves = leaves_of(&a->g);
   a->tree = a->leaves == 0 ? NULL : a->state;
   for (size_t i = 0; i < (size_t)a->sets * 2 * a->leaves; i++)
      a->tree[i] = (tlb_bound){ UINT64_MAX, 0 };
}

/* The root is number 1, and below number n are 2n and 2n + 1. Whichever of two is
   older is a matter of chance, so it is chosen without a branch. */
void tlb_lru_bound(tlb_array *a, uint32_t set, uint32_t e, uint64_t time)
{
   tlb_bound *const tree = a->tree + (size_t)set * 2 * a->leaves;
   uint32_t way = e - set * a->g.ways;
   uint32_t at = a->leaves + way;
   tree[at] = (tlb_bound){ time, way };
   while (at > 1) {
      const tlb_bound other = tree[at ^ 1];
      way = other.time < time ? other.way : way;
      time = other.time < time ? other.time : time;
      at /= 2;
      tree[at].time = time;
      tree[at].way = way;
   }
}

static uint32_t oldest_by_tree(tlb_array *a, uint32_t set)
{
   const tlb_bound *const root = tlb_array_root(a, set);
   for (;;) {
      const uint32_t e = set * a->g.ways + root->way;
      const uint64_t time = tlb_array_time(a, e);
      if (time == root->time)
         return root->way;
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
   const tlb_bound *const tree = a->tree + (size_t)set * 2 * a->leaves;
   for (uint32_t way = 0; way < a->leaves; way++) {
      const uint64_t bound = tree[a->leaves + way].time;
      const uint32_t e = set * a->g.ways + way;
      const int is_empty = way >= a->g.ways || a->key[e] == TLB_NO_KEY;
      if (is_empty ? bound != UINT64_MAX : bound > tlb_array_time(a, e))
         return "a leaf of an LRU tree is no lower bound";
   }
   for (uint32_t at = 1; at < a->leaves; at++) {
      const tlb_bound left = tree[2 * at], right = tree[2 * at + 1];
      const uint64_t older = left.time < right.time ? left.time : right.time;
      if (tree[at].time != older
          || (older != UINT64_MAX && tree[a->leaves + tree[at].way].time != older))
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
