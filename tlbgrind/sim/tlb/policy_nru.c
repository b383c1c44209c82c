/* NRU: the lowest entry whose used bit is off (OpenSPARC T1 Microarchitecture 2.3.9).

   Each entry has a used bit, which a reference sets. When all of a set are on, all but that of
   the last reference are cleared. So a bit is on if the entry's last reference is not older than
   the one that cleared the set. */

#include "sim/tlb/policy.h"

typedef struct {
   uint64_t cleared;
   uint64_t lowest; /* the lowest way whose bit is off */
} used_bits;

static size_t room(const tlb_geometry *g)
{
   return tlb_geometry_sets(g) * sizeof(used_bits);
}

/* All are off, also those of entries that are emptied: the time of these is 0. */
static void init(tlb_array *a)
{
   used_bits *const used = a->state;
   for (uint32_t set = 0; set < a->sets; set++)
      used[set] = (used_bits){ .cleared = 1, .lowest = 0 };
}

static uint32_t victim(tlb_array *a, uint32_t set)
{
   const used_bits *const used = a->state;
   return (uint32_t)used[set].lowest;
}

static void referred(tlb_array *a, uint32_t set, uint32_t e, uint64_t now)
{
   used_bits *const used = (used_bits *)a->state + set;
   const uint64_t *const time = a->time + set * a->g.ways;
   uint64_t way = used->lowest;
   if (e != set * a->g.ways + way)
      return;
   while (way < a->g.ways && time[way] >= used->cleared)
      way++;
   if (way == a->g.ways) {
      used->cleared = now;
      way = used->lowest == 0 && a->g.ways > 1;
   }
   used->lowest = way;
}

static void emptied(tlb_array *a, uint32_t set, uint32_t e)
{
   used_bits *const used = (used_bits *)a->state + set;
   const uint32_t way = e - set * a->g.ways;
   used->lowest = way < used->lowest ? way : used->lowest;
}

const tlb_policy_rules tlb_policy_nru = {
   .by = TLB_BY_HITS, .room = room, .init = init, .victim = victim, .referred = referred,
   .emptied = emptied
};
