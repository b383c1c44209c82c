/* The results of a run, from which out-files and summary are written. */

#ifndef TG_RESULTS_H
#define TG_RESULTS_H

#include "pub_tool_basics.h"

#include "attribution/events.h"
#include "attribution/lines.h"
#include "options/options.h"

/* The function whose misses cost most: as the first row of tg_annotate. */
typedef struct {
   const TgFunction* function; /* NULL: none costs anything */
   ULong cycles, walks, misses, instructions; /* it is found by these, in this order */
} TgDearest;

/* The results of one machine. */
typedef struct {
   const TgMachine* machine;
   UInt number; /* index of its miss counts, see tlb_mmu */
   UInt levels;
   ULong total[TG_N_COSTS]; /* over all lines */
   ULong least_cycles;      /* of all misses, see tg_miss_cost_least() */
   TgDearest dearest;
   ULong extra[TG_N_COSTS]; /* misses of a level beyond a reference's first */
   Bool is_same;            /* with --advice=: all is as its machine without larger pages has it */
} TgResult;

/* A cost of all kinds of references together. */
static inline ULong tg_result_all(const TgResult* r, UInt cost)
{
   ULong sum = 0;
   for (UInt kind = 0; kind < TLB_N_USERS; kind++)
      sum += r->total[tg_cost(kind, cost)];
   return sum;
}

typedef struct {
   const TgOptions* options;
   Int forked_from;           /* pid, 0: this is no forked child */
   ULong straddles[TLB_N_USERS];
   ULong unperformed[TLB_N_USERS]; /* accesses of helpers whose guard was false */
   TgResult* result;              /* options->n_machines of them */
   UInt part;                 /* of the run, from 1: one more after each dump */
   const HChar* trigger;      /* what ended the part; NULL: there is only one */
   const struct TgShares* shares; /* these are the results of one of them; NULL: the run's */
   UInt share;
} TgResults;

#endif
