/* What the misses of a run cost: cycles, and the share of the time, as ranges. */

#ifndef TG_MISS_COST_H
#define TG_MISS_COST_H

#include "base/number_format.h"
#include "output/results.h"

typedef struct {
   Bool is_known;   /* the machine tells, or assumes, what a walk costs; else the rest is 0 */
   Bool is_assumed; /* of a hit or a walk */
   Bool is_range;   /* the cycles are */
   ULong least, most;             /* cycles of misses */
   ULong least_share, most_share; /* hundredths of a per cent */
} TgMissCost;

typedef struct {
   HChar text[160];
} TgCostWords;

/* Whether walks of the machine need walks of a host's tables. */
Bool tg_miss_cost_is_nested(const tlb_machine* m);

/* What the misses of one function cost at least; 0: the machine does not tell. */
ULong tg_miss_cost_least(const TgMachine* machine, const ULong* cost);

TgMissCost tg_miss_cost(const TgResult* r);

/* "1,234", "1,234 to 2,345". */
TgNumber tg_miss_cost_cycles(const TgMissCost* c);

/* "2.1 to 4.3%", with one decimal below 10 and none above. Of cycles that were given, and with a
   cost that is one figure, "17.84%". */
TgNumber tg_miss_cost_share(const TgMissCost* c, Bool of_known_cycles);

/* "30 cycles a walk", "assumed: 20 to 35 cycles a walk", "30 cycles a walk and its tables,
   2.4 at a time". */
TgCostWords tg_miss_cost_of_walk(const tlb_machine* m);

#endif
