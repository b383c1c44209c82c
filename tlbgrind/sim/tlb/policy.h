/* Replacement policies: which entry of a full set is evicted.

   Each policy is a file, policy_NAME.c, which defines one tlb_policy_rules, and a line of
   TLB_POLICIES (sim/machine/geometry.h), which has its name in texts. Nothing else knows a policy
   by name: arrays call its functions, and the fast paths ask what decides its victims, and look
   the victim up by themselves where they can.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_POLICY_H
#define TLB_POLICY_H

#include "sim/base/api.h"
#include "sim/tlb/short_cut.h"

TLB_API_BEGIN

/* --- What a policy says --- */

/* What decides the victim, and so what has to be known of hits. */
typedef enum {
   TLB_BY_FILLS,  /* fills and evictions alone: a hit changes nothing */
   TLB_BY_OLDEST, /* the times of the last references: the way with the oldest */
   TLB_BY_TREE,   /* these times: where the bits of a binary tree point to, of which each
                     points away from the half referenced last. Ways are a power of two */
   TLB_BY_TIMES,  /* these times, in another way */
   TLB_BY_HITS    /* more than these times: each reference has to be seen in its turn, so no
                     entry of a first level has a short cut, and all of them ask the array */
} tlb_victim_by;

/* The functions are called by arrays (array.c), for `set` and entry number `e` of the array, which
   is in that set. NULL: there is nothing to do. */
typedef struct tlb_policy_rules {
   tlb_victim_by by;

   /* Bytes of the policy's own memory, the array's `state`, aligned for uint64_t. */
   size_t (*room)(const tlb_geometry *g);

   /* The array is empty: begins. All else of the array is there. */
   void (*init)(tlb_array *a);

   /* The way that a full set evicts next; never NULL. Changes no outcome, and need not be
      followed by an eviction. */
   uint32_t (*victim)(tlb_array *a, uint32_t set);

   /* That way is evicted. */
   void (*evicts)(tlb_array *a, uint32_t set);

   /* The entry has been referenced, a hit or a fill; its time says so. TLB_BY_HITS alone. */
   void (*referred)(tlb_array *a, uint32_t set, uint32_t e, uint64_t now);

   /* The entry has been filled. */
   void (*filled)(tlb_array *a, uint32_t set, uint32_t e, uint64_t now);

   /* The entry has been emptied; its time is 0. */
   void (*emptied)(tlb_array *a, uint32_t set, uint32_t e);

   /* What is wrong with the policy's memory; NULL: nothing. */
   const char *(*check)(const tlb_array *a, uint32_t set);
} tlb_policy_rules;

/* --- What others ask --- */

/* Whether the times that short cuts lead to are all that the victims follow from. */
static inline int tlb_policy_goes_by_times(const tlb_policy_rules *p)
{
   return p->by == TLB_BY_OLDEST || p->by == TLB_BY_TREE || p->by == TLB_BY_TIMES;
}

/* Whether they follow from more than which of them is the oldest, so that each has to be noted
   before a victim is chosen. */
static inline int tlb_policy_needs_exact_times(const tlb_policy_rules *p)
{
   return p->by == TLB_BY_TREE || p->by == TLB_BY_TIMES;
}

/* Whether each entry's time stands in one place, or two side by side, and nowhere
   else. */
static inline int tlb_array_has_short_cuts_alone(const tlb_array *a)
{
   return tlb_array_all_attached(a) && a->n_ranges == 0 && !a->also_behind;
}

TLB_API_END

#endif
