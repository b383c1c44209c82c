/* Fronts: the first levels of a run's machines as a reference to a base page sees
   them, all of which are dealt with at once.

   Most references that have to be simulated miss in several machines: the page has
   not been used for long. What is read of a machine is one line of the cache, and whom
   it evicts does not depend on any other, so that the processor can be at several of
   them at once.

   Machines with larger base pages than others know all of one or nothing of it. */

#ifndef TG_L1_MISSES_H
#define TG_L1_MISSES_H

#include "pub_tool_basics.h"

#include "trace/superblocks.h"
#include "mmu/known_hits.h"
#include "mmu/mmu.h"

/* The machines whose base pages are 2^large of the run's and that have a front, by kind
   of reference: the times alone say who is evicted from what is asked first, and base
   pages are all there is. */
typedef struct {
   UInt large;
   ULong mmus[TG_N_KINDS];
} TgL1Group;

/* Number 0 is of those with `large` 0. */
extern TgL1Group tg_l1_groups[TG_CHUNK_BITS + 1];
extern UInt tg_n_l1_groups;

/* Finds them, once the MMUs are there and whenever a machine begins to ask what
   backs its pages. */
void tg_l1_groups_find(Bool fast_path);

/* The reference r to page p, whose number is `number`, as far as it is one of that
   kind and those of `observers` want to see it, all of which have a front: they have
   missed it, and know the page now. Returns those of which nothing is done, for not all
   that they have is known. */
ULong tg_l1_group_miss(const TgL1Group* which, TgRef* r, TgPage* p, UWord number, TgKind kind,
                     ULong observers, ULong now);

#endif
