/* The counted events: references by kind, each with its misses by level.

   Plain C11 without Valgrind, for tg_simulate, too.

   Every table of costs in the tool is an array of TG_N_COSTS counts. A new event is a constant
   here and a line of the table in attribution/events.c. */

#ifndef TG_EVENTS_H
#define TG_EVENTS_H

#include <stdbool.h>

#include "sim/mmu/mmu.h"

/* For each kind of reference: references; misses of level 1, 2 and 3; page walks (misses of the
   last level, whichever it is); references to page tables by walks; cycles. */
enum { TG_REFS, TG_MISS_1, TG_MISS_2, TG_MISS_3, TG_WALKS, TG_WALK_REFS,
       TG_CYCLES, TG_N_OF_A_KIND };

/* The number of these that are costs of misses, each a tlb_cost. */
enum { TG_N_OF_A_MISS = TG_N_OF_A_KIND - TG_MISS_1 };

_Static_assert((unsigned)TG_N_OF_A_MISS == (unsigned)TLB_N_COSTS, "a cost is a tlb_cost");

/* After the kinds: sums over all kinds, page faults, flushes, prefetches. */
enum { TG_ALL_WALK_REFS = TLB_N_USERS * TG_N_OF_A_KIND, TG_ALL_CYCLES,
       TG_FAULTS, /* page faults by kind, whatever the machine */
       TG_FLUSHES = TG_FAULTS + TLB_N_USERS, /* each a tlb_flush_cost */
       TG_PREFETCHES = TG_FLUSHES + TLB_N_FLUSH_COSTS, /* each a tlb_prefetch_cost */
       TG_N_COSTS = TG_PREFETCHES + TLB_N_PREFETCH_COSTS };

static inline unsigned tg_cost(tlb_user kind, unsigned what)
{
   return (unsigned)kind * TG_N_OF_A_KIND + what;
}

/* One column of the out-file. */
typedef struct {
   unsigned cost; /* index into a table of costs, see tg_cost() */
   const char* name;
   const char* long_name;
} TgEvent;

enum { TG_MAX_EVENTS = TG_N_COSTS };

/* Stores the columns of a machine's out-file in `out`, which has room for TG_MAX_EVENTS. Returns
   their number. `faults`: page faults are recorded; `flushes`: the machine has a policy for
   them; `prefetch`: what it does on prefetches. */
unsigned tg_events(const tlb_machine* m, bool faults, bool flushes, tlb_prefetch_policy prefetch,
               const TgEvent** out);

#endif
