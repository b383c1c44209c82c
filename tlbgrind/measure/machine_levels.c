/* Puts a machine's arrays together into the levels that a chase over pages meets. */

#include "measure/machine_levels.h"

#include <string.h>

static void add(TgMachineLevel *level, const tlb_machine_array *a)
{
   const int first = level->pages == 0;
   level->pages += a->g.entries * (a->g.paired ? 2 : 1);
   level->entries_unknown |= a->entries_unknown;
   level->ways = first ? a->g.ways : 0;
   level->ways_unknown |= a->ways_unknown || a->g.paired || !first;
   level->full = first && a->g.ways == a->g.entries;
   level->index_xor = a->g.index_xor;
   level->most = a->hit_cycles;
   level->least = a->hit_cycles == TLB_UNKNOWN ? 0 : a->hit_cycles - a->hit_spread;
   level->cycles_unknown |= a->hit_cycles_unknown;
   level->overlap = a->overlap_unknown ? 0 : a->overlap;
   level->with_fetches = (a->users & TLB_FETCHES) != 0 && (a->users & TLB_LOADS) != 0;
}

unsigned tg_machine_levels(const tlb_machine *m, TgAsk ask, unsigned page_shift,
                           TgMachineLevel out[TLB_MAX_LEVELS])
{
   static const unsigned users[TG_N_ASK] = { TLB_LOADS, TLB_STORES, TLB_FETCHES };
   unsigned n = 0;
   memset(out, 0, TLB_MAX_LEVELS * sizeof *out);
   for (unsigned level = 1; level <= TLB_MAX_LEVELS; level++) {
      for (unsigned i = 0; i < m->n_arrays; i++) {
         const tlb_machine_array *const a = &m->array[i];
         if (a->level == level && (a->users & users[ask]) != 0
             && (a->g.page_sizes >> page_shift & 1) != 0)
            add(&out[n], a);
      }
      n += out[n].pages > 0;
      if (n == TLB_MAX_LEVELS)
         break;
   }
   return n;
}
