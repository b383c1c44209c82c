/* The events that are counted: references by kind, each with its misses by level.

   Every table of costs in the tool is an array of TG_N_COSTS of these. A new event is one more of
   them here, and a line of the table in attribution/events.c. */

#ifndef TG_EVENTS_H
#define TG_EVENTS_H

#include "pub_tool_basics.h"

#include "sim/mmu/mmu.h"

/* Of each kind: how many references, how many missed level 1, 2 and 3, how
   many walked the page table (missed the last level, whichever it is), how
   many references to page tables that took, and how many cycles. */
enum { TG_REFS, TG_MISS_1, TG_MISS_2, TG_MISS_3, TG_WALKS, TG_WALK_REFS,
       TG_CYCLES, TG_N_OF_A_KIND };

/* What follows from misses, among them: a tlb_cost each. */
enum { TG_N_OF_A_MISS = TG_N_OF_A_KIND - TG_MISS_1 };

_Static_assert((UInt)TG_N_OF_A_MISS == (UInt)TLB_N_COSTS, "a cost is a tlb_cost");

/* Behind the kinds: what is only reported for all of them together. */
enum { TG_ALL_WALK_REFS = TLB_N_USERS * TG_N_OF_A_KIND, TG_ALL_CYCLES,
       TG_FAULTS, /* page faults by kind, whatever the machine */
       TG_N_COSTS = TG_FAULTS + TLB_N_USERS };

static inline UInt tg_cost(tlb_user kind, UInt what)
{
   return (UInt)kind * TG_N_OF_A_KIND + what;
}

/* One column of the out-file. */
typedef struct {
   UInt cost; /* which of the costs, see tg_cost() */
   const HChar* name;
   const HChar* long_name;
} TgEvent;

enum { TG_MAX_EVENTS = TG_N_COSTS };

/* The columns for a machine, in order of output; `faults`: page faults are
   recorded. Returns how many; `out` has room for TG_MAX_EVENTS. */
UInt tg_events(const tlb_machine* m, Bool faults, const TgEvent** out);

#endif
