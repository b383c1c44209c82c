/* Cost: misses as cycles, and as a share of the run time.

   What a miss costs is published for few processors; users can measure it. Misses times that
   cost is an estimate: processors overlap walks with each other and with other work, a walk
   costs more where the tables are not cached, and a program that misses half as often need not
   run faster at all. So there are two ends where a machine tells how far misses overlap: all one
   after the other, and all overlapping. Output that shows these numbers says so.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_COST_H
#define TLB_COST_H

#include "sim/base/api.h"
#include "sim/machine/geometry.h"
#include "sim/machine/machine.h"

TLB_API_BEGIN

enum { TLB_MAX_MISS_COST = 1000000 /* cycles */ };

/* Instructions per cycle that are assumed of a program without misses, where its cycles are not
   known: compiled programs execute about as many on processors of the last fifteen years. */
enum { TLB_LEAST_PER_CYCLE = 1, TLB_MOST_PER_CYCLE = 2 };

/* The misses of one kind of reference. */
typedef struct {
   uint64_t missed[TLB_MAX_LEVELS]; /* by level */
   uint64_t walks;
} tlb_kind_misses;

/* Reads what a page walk costs, in cycles: "19", or the line "TLB_MISS_COST=19" or
   "TLB_MISS_LATENCY_CYCLES=19" that measuring programs print, with spaces around it.
   Returns 1, or 0 with the reason. */
int tlb_miss_cost_parse(const char *text, uint32_t *cycles, tlb_reason *why);

/* Reads how many cycles a run took: 1 to 2^64 - 1. Returns 1, or 0 with the
   reason. */
int tlb_cycles_parse(const char *text, uint64_t *cycles, tlb_reason *why);

/* Lets each walk of the machine cost that, wherever its tables are and whatever else is under
   way. */
void tlb_cost_set_walk(tlb_machine *m, uint32_t cycles);

/* What the machine tells, or assumes, of the cost of walks. */
int tlb_cost_is_known(const tlb_machine *m);

/* Whether what a hit or a walk costs is assumed. */
int tlb_cost_is_assumed(const tlb_machine *m);

/* The least that these misses of a function cost, by kind: fetches, loads, stores. `most` is what
   they cost at most, which was counted one by one, one after the other. Hits and walks are taken at
   the lower ends of their ranges, and overlap as far as the machine says, but no farther than there
   are so many of them, of all kinds, among as many of the function's instructions as the machine's
   window has: their sums are divided by that, which is rounded down to thousandths, and rounded
   down. Where arrays of one level differ, the cheaper one counts. What `most` has beyond
   hits and walks are table entries that were not in the first cache; at least they cost that part
   of it which is the least of any cache's range. Walks are never more than what `most` has beyond
   hits: those that end early are not told apart. `nested`: `most` has a host's walks, which cost
   nothing at least, and then no table entry does. */
uint64_t tlb_cost_least(const tlb_machine *m, const tlb_kind_misses of[3], uint64_t instructions,
                        int nested, uint64_t most);

/* The share of the time that is `cost` cycles beyond those that the instructions need by
   themselves, at so many per cycle: in hundredths of a per cent, as tlb_cost_share() has it. */
uint64_t tlb_cost_share_beyond(uint64_t cost, uint64_t instructions, uint32_t per_cycle);

/* n times cycles; UINT64_MAX stands for that and all above. */
uint64_t tlb_cost_of(uint64_t n, uint32_t cycles);

/* cost * 100 / cycles in hundredths of a per cent, rounded half up; UINT64_MAX
   stands for that and all above. `cycles` is above 0. */
uint64_t tlb_cost_share(uint64_t cost, uint64_t cycles);

TLB_API_END

#endif
