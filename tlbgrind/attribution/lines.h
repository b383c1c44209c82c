/* Costs by line of source: what the out-file has.

   A line holds the costs of all sites (attribution/sites.h) that share object, function, file
   and line number. Lines live to the end of the run. */

#ifndef TG_LINES_H
#define TG_LINES_H

#include "pub_tool_basics.h"

#include "pub_tool_xarray.h"

#include "attribution/events.h"

typedef struct {
   const HChar* object;
   const HChar* file; /* that the function itself stands in */
   const HChar* name;
} TgFunction;

/* Costs by source line. Two lines are one if all of the names are equal; equal
   names are equal pointers. */
typedef struct {
   const TgFunction* function;
   const HChar* file; /* differs from function->file for inlined code */
   UInt number;       /* 0: unknown */
   ULong refs[TLB_N_USERS];    /* instructions, reads, writes */
   uint64_t* misses[TLB_N_USERS]; /* see tg_line_misses(); NULL: none */
   ULong faults[TLB_N_USERS];  /* page faults */
} TgLine;

void tg_lines_init(void);

/* The one copy of a name. */
const HChar* tg_intern(const HChar* s);

/* The line of those names, made if it is new. All names are from tg_intern(). */
TgLine* tg_line_of(const TgFunction* f, const HChar* file, UInt number);

/* How many counts of misses a line has for each kind: TG_N_OF_A_MISS for each
   machine of the run, the first of them TG_MISS_1, and others behind these. To be
   called before the first miss. */
void tg_lines_count(UInt n);

/* The line's misses of one kind, see tg_lines_count(). Made if they are new; they
   stay where they are. */
uint64_t* tg_line_misses(TgLine* line, tlb_user kind);

/* Calls `each` for those of all lines. */
void tg_lines_each(void (*each)(uint64_t* misses, tlb_user kind));

/* All costs of a line with one machine, TG_N_COSTS of them. */
void tg_lines_costs(const TgLine* line, UInt machine, ULong* cost);

/* Sets the costs of all lines to zero: the life of a forked child begins. */
void tg_lines_zero(void);

/* All lines in order of output: by object, file, function, file of the code,
   line. Returns an XArray of TgLine*, to be deleted by the caller. */
XArray* tg_lines_sorted(void);

#endif
