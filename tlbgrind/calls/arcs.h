/* The call graph: from which instruction which function is called, how often, at what cost.

   A call site is an instruction that leaves its block: a call, a return or a jump. An entry is
   the first instruction of a block. An arc leads from a call site to an entry, and holds the
   number of calls and the inclusive costs of all of them. Sites, entries and arcs exist until the
   end of the run. */

#ifndef TG_ARCS_H
#define TG_ARCS_H

#include "pub_tool_basics.h"

#include "pub_tool_xarray.h"

#include "attribution/sites.h"

/* Costs of every event with every machine. */
typedef struct {
   ULong refs[TLB_N_USERS];
   ULong faults[TLB_N_USERS];
   uint64_t* misses; /* of all kinds of reference, one behind the other, each as in
                        tg_line_misses(); NULL: none */
} TgCosts;

/* How a block is left; TG_BEGINS: there was no block before, at the begin of a thread or of a
   signal handler. */
typedef enum { TG_CALLS, TG_RETURNS, TG_JUMPS, TG_BEGINS } TgLeaving;

typedef struct _TgEntry {
   struct _TgEntry* next; /* the first two members are VG_(HashTable)'s */
   UWord address;
   TgLine* line;
   Bool is_function; /* the first instruction of a function */
   Bool in_plt;
} TgEntry;

typedef struct _TgArc {
   struct _TgArc* next; /* of the same site */
   struct _TgCallSite* from;
   const TgEntry* to;
   ULong calls;
   TgCosts inclusive;
   UInt recorded; /* its number in the recording, from 1; 0: it has none */
} TgArc;

typedef struct _TgCallSite {
   struct _TgCallSite* next; /* the first two members are VG_(HashTable)'s */
   UWord address;
   TgLine* line;
   TgArc* arcs;
   Addr return_to;    /* the instruction behind a call */
   TgLeaving leaving;
   Bool in_plt;
   Bool passes_on;    /* a jump from it is a call by its function's caller: linkage tables, and
                         the function that fills them */
} TgCallSite;

void tg_arcs_init(void);

/* The call site or the entry at the instruction. The line is looked up. */
TgCallSite* tg_call_site_of(TgSite* site, TgLeaving leaving);
const TgEntry* tg_entry_of(TgSite* site);

/* The call site that stands for a call that was not seen, to which a function returns: the entry's
   instruction. */
TgCallSite* tg_call_site_of_entry(const TgEntry* e);

/* The arc, made if it is new. */
TgArc* tg_arc_of(TgCallSite* from, const TgEntry* to);

/* --- Costs --- */

/* Adds the miss costs, of which there are some. */
void tg_costs_add_misses(TgCosts* to, const TgCosts* more);

/* Adds the costs. */
static inline void tg_costs_add(TgCosts* to, const TgCosts* more)
{
   for (UInt i = 0; i < TLB_N_USERS; i++) {
      to->refs[i] += more->refs[i];
      to->faults[i] += more->faults[i];
   }
   if (more->misses != NULL)
      tg_costs_add_misses(to, more);
}

/* The miss costs, allocated if there were none. */
uint64_t* tg_costs_misses(TgCosts* c);

/* Frees the miss costs, of which there are some. */
void tg_costs_drop_misses(TgCosts* c);

/* Sets all costs to zero. */
static inline void tg_costs_clear(TgCosts* c)
{
   if (c->misses != NULL)
      tg_costs_drop_misses(c);
   *c = (TgCosts){ .misses = NULL };
}

/* Adds to the first what the third has more than the second, which becomes equal to it. */
void tg_costs_add_new(TgCosts* to, TgCosts* before, const TgCosts* now);

/* Whether they are, if `before` is what `now` was at some time. */
Bool tg_costs_are_equal(const TgCosts* now, const TgCosts* before);

/* Calls `each` for the miss counts of each kind of reference. */
void tg_costs_each(const TgCosts* c, void (*each)(uint64_t* misses, tlb_user kind));

/* The same for all arcs. */
void tg_arcs_each(void (*each)(uint64_t* misses, tlb_user kind));

/* Calls `f` for all arcs. */
void tg_arcs_each_arc(void (*f)(TgArc* arc, void* opaque), void* opaque);

/* Sets calls and costs of all arcs to zero, for a forked child. */
void tg_arcs_zero(void);

/* --- Output --- */

/* All arcs from one line to one entry's line. */
typedef struct {
   const TgLine* from;
   const TgLine* to;
   ULong calls;
   TgCosts inclusive; /* to be freed by tg_arcs_free() */
} TgLineArc;

/* The arcs with calls or costs, by line. To be freed by tg_arcs_free(). */
XArray* tg_arcs_sorted(void); /* TgLineArc */
/* The same of these arcs, of which several may be between two lines; deletes the list, but not the
   costs in it. */
XArray* tg_arcs_sum(XArray* all);
void tg_arcs_free(XArray* sorted);

/* Whether it has neither calls nor costs. */
Bool tg_arcs_is_empty(const TgLineArc* arc);

/* The range of arcs from a line: returns the number of the first, stores how many. */
Word tg_arcs_from(XArray* sorted, const TgLine* line, Word* n);

/* The numbers in the recording of the arcs that have one, in the order of their lines, to be
   deleted; and of those among them that are of a line's arc the first, with how many there are. */
typedef struct {
   const TgLine* from;
   const TgLine* to;
   UInt number;
} TgArcNumber;

XArray* tg_arcs_numbers(void); /* TgArcNumber */
const TgArcNumber* tg_arcs_numbers_of(XArray* numbers, const TgLineArc* arc, Word* n);

/* All costs of an arc with one machine, as tg_lines_costs(). */
void tg_arcs_costs(const TgLineArc* arc, UInt machine, ULong* cost);

#endif
