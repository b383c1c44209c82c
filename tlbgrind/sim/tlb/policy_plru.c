/* Tree PLRU: a binary tree of bits, each pointing away from the half referenced last.

   So the bits need not be kept: the half with the older last reference is where they point.
   Only full sets are asked, so every way has been referenced and no two times are equal. */

#include "sim/tlb/policy_plru.h"

#include "sim/tlb/times2.h"

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

uint32_t tlb_plru_16(const tlb_array *a, uint32_t set)
{
   return victim_of(a, a->short_cut + set * 16, 16);
}

uint32_t tlb_plru_32(const tlb_array *a, uint32_t set)
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
   uint64_t *const of = a->state;
   for (uint32_t i = 0; i < n; i++) {
      uint64_t latest = 0;
      #pragma GCC unroll 16
      for (uint32_t way = 0; way < 16; way++) {
         const uint64_t t = tlb_array_attached_time(a, time[16 * i + way]);
         latest = t > latest ? t : latest;
      }
      of[n + i] = latest;
   }
   const uint32_t which = down_the_tree(of, n);
   return 16 * which + victim_of(a, time + 16 * which, 16);
}

static uint32_t victim(tlb_array *a, uint32_t set)
{
   const uint32_t ways = a->g.ways;
   const uint32_t first = set * ways;
   uint64_t *const latest = a->state;
   if (tlb_array_has_short_cuts_alone(a)) {
      if (ways == 16)
         return tlb_plru_16(a, set);
      if (ways == 32)
         return tlb_plru_32(a, set);
      if (ways > 32)
         return victim_of_many(a, a->short_cut + first);
      if (ways == 4)
         return tlb_plru_few(a, set, 4, a->second_time);
      if (ways == 8)
         return tlb_plru_few(a, set, 8, a->second_time);
      for (uint32_t way = 0; way < ways; way++)
         latest[ways + way] = tlb_array_attached_time(a, a->short_cut[first + way]);
   } else if (ways == 8 && a->short_cut == NULL) {
      uint64_t time[8];
      for (uint32_t way = 0; way < 8; way++)
         time[way] = a->time[first + way];
      return tlb_plru_of_few(time, 8);
   } else {
      for (uint32_t way = 0; way < ways; way++)
         latest[ways + way] = tlb_array_time(a, first + way);
   }
   return down_the_tree(latest, ways);
}

/* For the last reference to each way, half, quarter, ... of a set; above 2n and 2n + 1 stands n. */
static size_t room(const tlb_geometry *g)
{
   return 2 * g->ways * sizeof(uint64_t);
}

const tlb_policy_rules tlb_policy_plru = { .by = TLB_BY_TREE, .room = room, .victim = victim };
