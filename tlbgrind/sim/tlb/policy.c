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

/* Of each half of a set the way that is the victim there, and when the half was referenced
   last. */
typedef struct {
   tlb_times2 latest;
   tlb_numbers2 way;
} halves;

/* Of the 8 ways from `first`, a constant, in the lower half of a set, and of those that stand
   `half` ways behind them in the upper one. Both halves of the tree at once, without loops, and
   from the leaves up, so that there is no branch to be guessed: small first levels miss
   often. */
static inline __attribute__((always_inline))
halves victims_of_8(uint64_t *const *time, size_t second, uint32_t first, uint32_t half)
{
   tlb_times2 latest[8];
   tlb_numbers2 victim[8];
   #pragma GCC unroll 8
   for (uint32_t i = 0; i < 8; i++) {
      const uint32_t way = first + i;
      const uint64_t *const left = time[way], *const right = time[way + half];
      latest[i] = tlb_later2(tlb_times2_at(left, right),
                             tlb_times2_at(left + second, right + second));
      victim[i] = (tlb_numbers2){ way, way + half };
   }
   #pragma GCC unroll 3
   for (uint32_t n = 4; n > 0; n /= 2) {
      #pragma GCC unroll 4
      for (uint32_t i = 0; i < n; i++) {
         const tlb_times2 left = latest[2 * i], right = latest[2 * i + 1];
         victim[i] = tlb_chosen2(tlb_before2(left, right), victim[2 * i],
                                 victim[2 * i + 1]);
         latest[i] = tlb_later2(left, right);
      }
   }
   return (halves){ latest[0], victim[0] };
}

/* Of 16 or 32 ways, a constant, all of whose times stand at their short cuts. Eight pairs at a
   time: sixteen would not fit into the registers. */
static inline __attribute__((always_inline))
uint32_t victim_of(const tlb_array *a, uint64_t *const *time, uint32_t ways)
{
   halves of = victims_of_8(time, a->second_time, 0, ways / 2);
   if (ways == 32) {
      const halves others = victims_of_8(time, a->second_time, 8, ways / 2);
      of.way = tlb_chosen2(tlb_before2(of.latest, others.latest), of.way, others.way);
      of.latest = tlb_later2(of.latest, others.latest);
   }
   return (uint32_t)tlb_chosen(of.latest[0] < of.latest[1], (uint64_t)of.way[0],
                               (uint64_t)of.way[1]);
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

/* Each entry has a used bit, which a reference sets. When all of a set are on, all but
   that of the last reference are cleared.

   So a bit is on if the entry's last reference is not older than the one that cleared
   the set, and nothing else is kept of it. When the last bit goes on has to be known at
   once; but for that it is enough to watch one of those that are off: its entry has no
   short cut. Of a few ways it is the oldest, which has to be watched least often. Of many
   it is the last of the set, while the first is the next to be evicted, and both only go
   one way until all are cleared. */

static int is_used(const tlb_array *a, uint32_t set, uint32_t way)
{
   return tlb_array_time(a, set * a->g.ways + way) >= a->cleared[set];
}

static uint32_t first_unused(tlb_array *a, uint32_t set)
{
   uint32_t way = a->next[set];
   while (way < a->watched[set] && is_used(a, set, way))
      way++;
   /* tlb_policy_refer_few() does not keep it up. */
   if (a->g.ways > TLB_MAX_FEW_WAYS)
      a->next[set] = way;
   return way;
}

static void clear(tlb_array *a, uint32_t set, uint64_t now)
{
   a->cleared[set] = now;
   a->next[set] = 0;
}

/* Which way to watch once the watched one has been referenced, and so is the youngest;
   clears the set if no bit is off. */
static uint32_t next_to_watch(tlb_array *a, uint32_t set, uint64_t now)
{
   uint32_t way = a->watched[set];
   if (a->g.ways <= TLB_MAX_FEW_WAYS) {
      way = oldest_by_scan(a, set);
      if (is_used(a, set, way))
         clear(a, set, now);
      return way;
   }
   while (way > a->next[set] && is_used(a, set, way - 1))
      way--;
   if (way > a->next[set])
      return way - 1;
   clear(a, set, now);
   return a->watched[set] == a->g.ways - 1 ? a->g.ways - 2 : a->g.ways - 1;
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
   case TLB_NRU:
      return a->g.ways == 1 ? 0 : first_unused(a, set);
   case TLB_RANDOM: {
      uint64_t state = a->random;
      return tlb_random_next(&state, a->g.ways);
   }
   case TLB_FIFO:
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
   const uint32_t first = set * a->g.ways;
   if (e - first != a->watched[set] || a->g.ways == 1)
      return;
   a->watched[set] = next_to_watch(a, set, now);
   tlb_array_release(a, first + a->watched[set]);
}

/* Of many ways all above the watched one are used, and all before `next`. */
void tlb_policy_empties(tlb_array *a, uint32_t set, uint32_t e)
{
   const uint32_t way = e - set * a->g.ways;
   if (a->g.policy != TLB_NRU || a->g.ways == 1)
      return;
   if (a->cleared[set] == 0)
      a->cleared[set] = 1; /* older than all references, and younger than the entry's time */
   if (a->g.ways <= TLB_MAX_FEW_WAYS)
      return;
   if (way < a->next[set])
      a->next[set] = way;
   if (way > a->watched[set])
      a->watched[set] = way;
}

/* An entry that comes to be watched keeps an older time than that of its last reference,
   which says the same: its bit is off. */
static uint64_t *refer_nru(tlb_array *a, uint32_t set, tlb_key key, uint64_t now,
                           uint64_t *time, int *missed)
{
   const uint32_t first = set * a->g.ways;
   const uint32_t watched = a->watched[set];
   *missed = a->key[first + watched] != key;
   uint32_t way = *missed ? first_unused(a, set) : watched;
   uint64_t *lost = a->short_cut[first + way];
   tlb_array_replace(a, first + way, key, now, time);
   if (way == watched) {
      way = a->watched[set] = next_to_watch(a, set, now);
      lost = a->short_cut[first + way];
      a->short_cut[first + way] = NULL;
   }
   return lost;
}

uint64_t *tlb_policy_refer_known(tlb_array *a, uint32_t set, tlb_key key, uint64_t now,
                                 uint64_t *time, int *missed)
{
   *time = now;
   if (a->g.policy == TLB_NRU && a->g.ways == 4)
      return tlb_policy_refer_few(a, set, key, now, time, missed, 4);
   if (a->g.policy == TLB_NRU && a->g.ways == 8)
      return tlb_policy_refer_few(a, set, key, now, time, missed, 8);
   if (a->g.policy == TLB_NRU && a->g.ways > 1)
      return refer_nru(a, set, key, now, time, missed);
   const uint32_t way = a->tree != NULL ? tlb_policy_oldest_known(a, set)
                                        : tlb_policy_victim(a, set);
   const uint32_t e = set * a->g.ways + way;
   uint64_t *const lost = a->short_cut[e];
   tlb_policy_evicts(a, set);
   tlb_array_replace(a, e, key, now, time);
   *missed = 1;
   return lost;
}

void tlb_policy_watch_last(tlb_array *a)
{
   for (uint32_t set = 0; set < a->sets; set++) {
      clear(a, set, 0);
      a->watched[set] = a->g.ways - 1;
   }
}
