/* Replacement policies: which entry of a set is evicted. See policy.h. */

#include "sim/tlb/policy.h"

#include "sim/tlb/oldest.h"
#include "sim/tlb/times2.h"

/* Up to this many ways the oldest is found by looking at all of them. */
enum { MAX_SCANNED_WAYS = 16 };

/* --- LRU of many ways --- */

/* To go through all ways for each victim would take long. So each set has a tree:
   its leaves are the ways, each with a time at or before that of its last
   reference; above each pair stands the older of the two. The root is the way
   with the oldest bound. If that is its true time, it is the oldest of all, for
   times only grow. If not, the bound is corrected, and the next root asked. A way
   that is referenced often is corrected each time that it comes to the root, but
   then all others have to come before it comes again. */

uint32_t tlb_policy_leaves(const tlb_geometry *g)
{
   uint32_t leaves = 1;
   if (g->policy != TLB_LRU || g->ways <= MAX_SCANNED_WAYS)
      return 0;
   while (leaves < g->ways)
      leaves *= 2;
   return leaves;
}

/* The root is number 1, and below number n are 2n and 2n + 1. Whichever of two is
   older is a matter of chance, so it is chosen without a branch. */
void tlb_policy_bound(tlb_array *a, uint32_t set, uint32_t e, uint64_t time)
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
      tlb_policy_bound(a, set, e, time);
   }
}

/* --- LRU of few ways --- */

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

/* Whether each entry's time stands in one place, or two side by side, and nowhere
   else. */
static int has_short_cuts_alone(const tlb_array *a)
{
   return tlb_array_all_attached(a) && a->n_ranges == 0 && !a->also_behind;
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
   } else if (has_short_cuts_alone(a)) {
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

/* --- Tree PLRU --- */

/* Each bit of the tree points away from the half that was referenced last, so the bits
   need not be kept: the half with the older last reference is where they point. Only
   full sets are asked, so every way has been referenced and no two times are equal. */

/* Of 16 or 32 ways, a constant, all of whose times stand at their short cuts. Both halves
   of the tree at once, without loops, and from the leaves up, so that there is no branch
   to be guessed: small first levels miss often. */
static inline __attribute__((always_inline))
uint32_t victim_of(const tlb_array *a, uint64_t *const *time, uint32_t ways)
{
   tlb_times2 latest[16];
   tlb_numbers2 victim[16];
   const size_t second = a->second_time;
   const uint32_t half = ways / 2;
   #pragma GCC unroll 16
   for (uint32_t way = 0; way < half; way++) {
      const uint64_t *const left = time[way], *const right = time[way + half];
      latest[way] = tlb_later2(tlb_times2_at(left, right),
                               tlb_times2_at(left + second, right + second));
      victim[way] = (tlb_numbers2){ way, way + half };
   }
   #pragma GCC unroll 4
   for (uint32_t n = half / 2; n > 0; n /= 2) {
      #pragma GCC unroll 8
      for (uint32_t i = 0; i < n; i++) {
         const tlb_times2 left = latest[2 * i], right = latest[2 * i + 1];
         victim[i] = tlb_chosen2(tlb_before2(left, right), victim[2 * i],
                                 victim[2 * i + 1]);
         latest[i] = tlb_later2(left, right);
      }
   }
   return (uint32_t)tlb_chosen(latest[0][0] < latest[0][1], (uint64_t)victim[0][0],
                               (uint64_t)victim[0][1]);
}

uint32_t tlb_policy_plru_16(const tlb_array *a, uint32_t set)
{
   return victim_of(a, a->short_cut + set * 16, 16);
}

uint32_t tlb_policy_plru_32(const tlb_array *a, uint32_t set)
{
   return victim_of(a, a->short_cut + set * 32, 32);
}

/* Which of n it is, a power of two: the last references to each stand in `latest` from n
   on; before them is room for those to halves, quarters, ... of them. */
static uint32_t down_the_tree(uint64_t *latest, uint32_t n)
{
   for (uint32_t i = n - 1; i > 0; i--)
      latest[i] = latest[2 * i] > latest[2 * i + 1] ? latest[2 * i] : latest[2 * i + 1];
   uint32_t at = 1;
   while (at < n)
      at = 2 * at + (latest[2 * at] > latest[2 * at + 1]);
   return at - n;
}

/* Of more than 32 ways: first which 16 of them. */
static uint32_t victim_of_many(const tlb_array *a, uint64_t *const *time)
{
   const uint32_t n = a->g.ways / 16;
   for (uint32_t i = 0; i < n; i++) {
      uint64_t latest = 0;
      #pragma GCC unroll 16
      for (uint32_t way = 0; way < 16; way++) {
         const uint64_t t = tlb_array_attached_time(a, time[16 * i + way]);
         latest = t > latest ? t : latest;
      }
      a->latest[n + i] = latest;
   }
   const uint32_t which = down_the_tree(a->latest, n);
   return 16 * which + victim_of(a, time + 16 * which, 16);
}

static uint32_t victim_by_tree(tlb_array *a, uint32_t set)
{
   const uint32_t ways = a->g.ways;
   const uint32_t first = set * ways;
   uint64_t *const latest = a->latest;
   if (has_short_cuts_alone(a)) {
      if (ways == 16)
         return tlb_policy_plru_16(a, set);
      if (ways == 32)
         return tlb_policy_plru_32(a, set);
      if (ways > 32)
         return victim_of_many(a, a->short_cut + first);
      if (ways == 4)
         return tlb_policy_plru_few(a, set, 4, a->second_time);
      if (ways == 8)
         return tlb_policy_plru_few(a, set, 8, a->second_time);
      for (uint32_t way = 0; way < ways; way++)
         latest[ways + way] = tlb_array_attached_time(a, a->short_cut[first + way]);
   } else {
      for (uint32_t way = 0; way < ways; way++)
         latest[ways + way] = tlb_array_time(a, first + way);
   }
   return down_the_tree(latest, ways);
}

/* --- (MRU+1)%3-PLRU4 --- */

/* Three groups of four ways: the group behind that of the last reference to the set, and in
   it the tree's choice. Both follow from the times, as the tree alone does. */
static uint32_t victim_behind_last(const tlb_array *a, uint32_t set)
{
   enum { GROUP = 4, N_GROUPS = TLB_MRU_PLRU_WAYS / GROUP };
   uint32_t last = 0;
   uint64_t last_time = 0, latest[2 * GROUP];
   for (uint32_t way = 0; way < TLB_MRU_PLRU_WAYS; way++) {
      const uint64_t time = tlb_array_time(a, set * TLB_MRU_PLRU_WAYS + way);
      last = time > last_time ? way / GROUP : last;
      last_time = time > last_time ? time : last_time;
   }
   const uint32_t group = (last + 1) % N_GROUPS * GROUP;
   for (uint32_t way = 0; way < GROUP; way++)
      latest[GROUP + way] = tlb_array_time(a, set * TLB_MRU_PLRU_WAYS + group + way);
   return group + down_the_tree(latest, GROUP);
}

/* --- NRU --- */

/* Each entry has a used bit, which a reference sets. When all of a set are on, all but that of
   the last reference are cleared. So a bit is on if the entry's last reference is not older than
   the one that cleared the set. */

static int is_used(const tlb_array *a, uint32_t set, uint32_t way)
{
   return a->time[set * a->g.ways + way] >= a->cleared[set];
}

void tlb_array_replace(tlb_array *a, uint32_t entry, tlb_key key, uint64_t now,
                       uint64_t *time)
{
   tlb_array_replaced(a);
   a->key[entry] = key;
   a->time[entry] = now;
   a->short_cut[entry] = time;
   if (a->tree != NULL)
      tlb_policy_bound(a, tlb_array_set(a, key), entry, now);
}

uint32_t tlb_policy_victim(tlb_array *a, uint32_t set)
{
   switch (a->g.policy) {
   case TLB_LRU:
      return a->g.ways > MAX_SCANNED_WAYS ? oldest_by_tree(a, set)
                                          : oldest_by_scan(a, set);
   case TLB_PLRU:
      return victim_by_tree(a, set);
   case TLB_MRU_PLRU:
      return victim_behind_last(a, set);
   case TLB_RANDOM: {
      uint64_t state = a->random;
      return tlb_random_next(&state, a->g.ways);
   }
   case TLB_FIFO:
   case TLB_NRU:
   case TLB_N_POLICIES:
      break;
   }
   return a->next[set];
}

void tlb_policy_evicts(tlb_array *a, uint32_t set)
{
   if (a->g.policy == TLB_RANDOM)
      tlb_random_next(&a->random, a->g.ways);
   else if (a->g.policy == TLB_FIFO)
      a->next[set] = a->next[set] + 1 == a->g.ways ? 0 : a->next[set] + 1;
}

void tlb_policy_use(tlb_array *a, uint32_t set, uint32_t e, uint64_t now)
{
   const uint32_t used = e - set * a->g.ways;
   uint32_t way = a->next[set];
   if (used != way)
      return;
   while (way < a->g.ways && is_used(a, set, way))
      way++;
   if (way == a->g.ways) {
      a->cleared[set] = now;
      way = used == 0 && a->g.ways > 1;
   }
   a->next[set] = way;
}

void tlb_policy_empties(tlb_array *a, uint32_t set, uint32_t e)
{
   const uint32_t way = e - set * a->g.ways;
   if (a->g.policy == TLB_NRU && way < a->next[set])
      a->next[set] = way;
}

uint64_t *tlb_policy_refer_known(tlb_array *a, uint32_t set, tlb_key key, uint64_t now,
                                 uint64_t *time)
{
   *time = now;
   const uint32_t way = a->tree != NULL ? tlb_policy_oldest_known(a, set)
                                        : tlb_policy_victim(a, set);
   const uint32_t e = set * a->g.ways + way;
   uint64_t *const lost = a->short_cut[e];
   tlb_policy_evicts(a, set);
   tlb_array_replace(a, e, key, now, time);
   return lost;
}
