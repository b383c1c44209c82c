/* Sites: where in the code a cost arose.

   A site is one instruction address. Its names (object, function, file, line)
   are looked up when they are needed: at the end, or just before the code is
   unmapped and the debug information goes with it. From then on the address
   may come to mean other code, which gets sites of its own.

   What has names is a line: the costs of all sites that share object,
   function, file and line number. Lines live to the end. */

#ifndef TG_SITES_H
#define TG_SITES_H

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

typedef struct _TgSite {
   struct _TgSite* next; /* first two: as VG_(HashTable) wants them */
   UWord address;
   struct _TgSite* next_in_chunk;
   TgLine* line; /* NULL: not looked up yet */
   UInt users;   /* segments that refer to it */
   Bool retired; /* its code has been unmapped */
   UChar length; /* of the instruction; 0: it was not translated */
} TgSite;

void tg_sites_init(void);

/* What the code in [a, a + len) is called, of which no file tells: one piece of code in a run. */
void tg_sites_name(Addr a, SizeT len, const HChar* object, const HChar* function);

/* How many counts of misses a line has for each kind: TG_N_OF_A_MISS for each
   machine of the run, the first of them TG_MISS_1, and others behind these. To be
   called before the first miss. */
void tg_lines_count(UInt n);

/* The site of the instruction at `a`, made if it is new, with one user more. */
TgSite* tg_site_use(Addr a);

/* One user less. A retired site without users is freed. */
void tg_site_release(TgSite* site);

/* The site's line, looked up if need be. */
TgLine* tg_site_line(TgSite* site);

/* The line's misses of one kind, see tg_lines_count(). Made if they are new; they
   stay where they are. */
uint64_t* tg_line_misses(TgLine* line, tlb_user kind);

/* Calls `each` for those of all lines. */
void tg_lines_each(void (*each)(uint64_t* misses, tlb_user kind));

/* All costs of a line with one machine, TG_N_COSTS of them. */
void tg_line_costs(const TgLine* line, UInt machine, ULong* cost);

/* Code may have stood at [a, a+len) and will not any more. */
void tg_sites_unmapped(Addr a, SizeT len);

/* Sets the costs of all lines to zero: the life of a forked child begins. */
void tg_lines_zero(void);

/* All lines in order of output: by object, file, function, file of the code,
   line. Returns an XArray of TgLine*, to be deleted by the caller. */
XArray* tg_lines_sorted(void);

#endif
