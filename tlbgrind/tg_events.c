/* The events' names and their order in the out-file. */

#include "tg_events.h"

#define COST(kind, what) ((kind) * TG_N_OF_A_KIND + (what))

/* The second level has a name of its own only where there is a third; the
   last level's misses are the walks. */
static const struct {
   TgEvent event;
   UInt levels_needed;
} all[] = {
   {{COST(TG_FETCH, TG_REFS), "Ir", "Instructions"}, 1},
   {{COST(TG_FETCH, TG_MISS_1), "I1tm", "L1 instruction TLB misses"}, 1},
   {{COST(TG_FETCH, TG_MISS_2), "I2tm", "L2 instruction TLB misses"}, 3},
   {{COST(TG_FETCH, TG_WALKS), "ILtm", "Instruction page walks"}, 1},
   {{COST(TG_READ, TG_REFS), "Dr", "Data reads"}, 1},
   {{COST(TG_READ, TG_MISS_1), "D1tmr", "L1 data TLB read misses"}, 1},
   {{COST(TG_READ, TG_MISS_2), "D2tmr", "L2 data TLB read misses"}, 3},
   {{COST(TG_READ, TG_WALKS), "DLtmr", "Data page walks by reads"}, 1},
   {{COST(TG_WRITE, TG_REFS), "Dw", "Data writes"}, 1},
   {{COST(TG_WRITE, TG_MISS_1), "D1tmw", "L1 data TLB write misses"}, 1},
   {{COST(TG_WRITE, TG_MISS_2), "D2tmw", "L2 data TLB write misses"}, 3},
   {{COST(TG_WRITE, TG_WALKS), "DLtmw", "Data page walks by writes"}, 1},
};

UInt tg_events(UInt levels, const TgEvent** out)
{
   UInt n = 0;
   for (UInt i = 0; i < sizeof all / sizeof all[0]; i++) {
      if (all[i].levels_needed <= levels)
         out[n++] = &all[i].event;
   }
   return n;
}
