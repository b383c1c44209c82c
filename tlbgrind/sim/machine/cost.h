/* Cost: misses as cycles, and as a share of the run time.

   What a miss costs is published for few processors; users can measure it. Misses times that
   cost is an estimate and an upper bound: processors overlap walks with each other and with
   other work, and a program that misses half as often need not run faster at all. Output
   that shows these numbers says so.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_COST_H
#define TLB_COST_H

#include "sim/base/api.h"
#include "sim/machine/geometry.h"

TLB_API_BEGIN

enum { TLB_MAX_MISS_COST = 1000000 /* cycles */ };

/* Reads what a page walk costs, in cycles: "19", or the line
   "TLB_MISS_COST=19" that measuring programs print, with spaces around it.
   Returns 1, or 0 with the reason. */
int tlb_miss_cost_parse(const char *text, uint32_t *cycles, tlb_reason *why);

/* Reads how many cycles a run took: 1 to 2^64 - 1. Returns 1, or 0 with the
   reason. */
int tlb_cycles_parse(const char *text, uint64_t *cycles, tlb_reason *why);

/* n times cycles; UINT64_MAX stands for that and all above. */
uint64_t tlb_cost_of(uint64_t n, uint32_t cycles);

/* cost * 100 / cycles in hundredths of a per cent, rounded half up; UINT64_MAX
   stands for that and all above. `cycles` is above 0. */
uint64_t tlb_cost_share(uint64_t cost, uint64_t cycles);

TLB_API_END

#endif
