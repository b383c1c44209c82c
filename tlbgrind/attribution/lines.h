/* Costs by source line, the unit of the out-file.

   A line holds the costs of all sites (attribution/sites.h) that share object, function, file
   and line number. Lines exist until the end of the run. */

#ifndef TG_LINES_H
#define TG_LINES_H

#include "pub_tool_basics.h"

#include "pub_tool_xarray.h"

#include "attribution/events.h"

typedef struct {
   const HChar* object;
   const HChar* file; /* of the function itself */
   const HChar* name;
} TgFunction;

/* A line; function, file, number, address, object and row block are its key, or `made`, object and
   row block. Equal names are equal pointers. */
typedef struct {
   const TgFunction* function;
   const HChar* file; /* differs from function->file for inlined code */
   UInt number;       /* 0: unknown */
   UInt row_block;    /* of a mapping, by number: this is the part for it; 0: all else */
   Addr address;      /* of the one instruction whose costs these are, as its object has it; 0:
                         all of the line (tg_sites_init()) */
   UInt object;       /* of data, or its cell, by number: likewise */
   UChar length;      /* of the instruction at `address`; 0: it was not translated */
   Bool is_recent;    /* see tg_lines_set_aside() */
   UInt made;         /* of code whose names can change (attribution/made_code.h), by number, all of
                         them for one piece of code; 0: they do not */
   UChar listed;      /* bits by kind of reference, see trace/missed_segments.h */
   Bool is_flushed;   /* the recording has flushes that are counted here */
   UInt nth;          /* of all lines, from 1 */
   UInt recorded;     /* its number in the recording, from 1 (engine/recording.h); 0: it has none */
   ULong refs[TLB_N_USERS];    /* instructions, reads, writes */
   uint64_t* misses[TLB_N_USERS]; /* see tg_line_misses(); NULL: none */
   ULong faults[TLB_N_USERS];  /* page faults */
} TgLine;

void tg_lines_init(void);

/* The one copy of a name. */
const HChar* tg_intern(const HChar* s);

/* The path of a file of the folder, interned; the file alone if that is a path already. */
const HChar* tg_intern_path(const HChar* folder, const HChar* file);

/* The line with that key, made if it is new. All names are from tg_intern(). */
TgLine* tg_line_of(const TgFunction* f, const HChar* file, UInt number, Addr address);

/* A new line for a piece of code whose names can change, with these for now. */
TgLine* tg_line_made(const TgFunction* f, const HChar* file, Addr address);

/* Gives such a line, which is no part, other names. They are those of its parts, too, once
   tg_lines_name_parts() has been called. */
void tg_line_name(TgLine* line, const TgFunction* f, const HChar* file, UInt number);
void tg_lines_name_parts(void);

/* The line that stands for all that have its names, of which there can be several by now. */
const TgLine* tg_line_named(const TgLine* line);

/* The part of the line, or of the line that it is a part of, for references to an object of data in
   a row block (data/row_blocks.h), made if it is new. The line's costs are the sum of its own and
   those of its parts. */
TgLine* tg_line_part(const TgLine* line, UInt object, UInt row_block);

static inline Bool tg_line_is_part(const TgLine* line)
{
   return line->object != 0 || line->row_block != 0;
}

/* Whether both have the same names: they are parts of one line, or one is that line, or two pieces
   of code have it together. */
Bool tg_line_is_same(const TgLine* a, const TgLine* b);

/* The line that it is a part of, or itself. */
TgLine* tg_line_whole(TgLine* line);

/* Sets the number of miss counts of a line for each kind of reference: TG_N_OF_A_MISS for each
   machine, the first of them TG_MISS_1, and after these others of sim/mmu. To be called before
   the first miss. */
void tg_lines_count(UInt n);

/* Where among them the costs of flushes begin, those of loads; to be called if there are any. */
void tg_lines_count_flushes(UInt first);
/* Where among them the costs of prefetches begin, those of loads; to be called if there are any. */
void tg_lines_count_prefetches(UInt first);

/* The number given to tg_lines_count(). */
UInt tg_lines_n_counts(void);

/* From now on each line has, behind its miss counts of a kind, as many again: how much of them
   has been taken already (trace/missed_segments.h). To be called before the first miss. */
void tg_lines_count_seen(void);

/* Whether costs are kept. False: no function of --toggle-collect= is active (calls/collection.h).
   References and page faults are not booked then, and misses are taken back. */
extern Bool tg_costs_are_kept;

/* Books a page fault by an instruction, or a reference of a segment that was not run to its end. */
void tg_line_fault(TgLine* line, tlb_user kind);
void tg_line_ref(TgLine* line, tlb_user kind);

/* The same of a reference that is in its line already, as one of --data=yes is. */
void tg_line_ref_counted(tlb_user kind);

/* All that these have booked. */
typedef struct {
   ULong faults[TLB_N_USERS];
   ULong refs[TLB_N_USERS];
   ULong n; /* all together */
} TgBooked;

extern TgBooked tg_booked;

/* The line's miss counts for one kind of reference, see tg_lines_count(). Allocated at the first
   call; the address does not change. */
uint64_t* tg_line_misses(TgLine* line, tlb_user kind);

/* Calls `each` for all lines, in no order. */
void tg_lines_each_line(void (*each)(const TgLine* line, void* opaque), void* opaque);

/* The same without those that have been set aside; or for the miss counts of the rest. */
void tg_lines_each_recent(void (*each)(const TgLine* line, void* opaque), void* opaque);
void tg_lines_each_miss(void (*each)(uint64_t* misses, tlb_user kind));

/* Parts for objects of data are set aside: their costs do not change before tg_line_is_used() is
   called for them. There can be many more of them than a thread uses before the next one runs. */
void tg_lines_set_aside(void);
void tg_line_is_used(TgLine* part);

/* From now on calls `each` for each part that is set aside. */
void tg_lines_when_set_aside(void (*each)(const TgLine* line));

/* Stores all costs of a line with one machine in `cost`, TG_N_COSTS of them. */
void tg_lines_costs(const TgLine* line, UInt machine, ULong* cost);

/* Adds the costs of `plus` without those of `minus`. Its misses are allocated as needed, and to be
   freed if the line is a copy. Two of the lines may be one. */
void tg_line_add(TgLine* to, const TgLine* plus, const TgLine* minus);

/* Adds the costs of all lines. */
void tg_lines_total(TgLine* to);

/* Whether all costs are the same. */
Bool tg_line_costs_equal(const TgLine* a, const TgLine* b);

/* Sets the costs of all lines to zero. */
void tg_lines_zero(void);

/* Compares two lines in the order of output. */
Int tg_lines_compare(const TgLine* x, const TgLine* y);

/* Sorts an XArray of TgLine* in order of output: by object, file, function, file of the code, line;
   behind each line its parts. */
void tg_lines_sort(XArray* which);

/* All lines in order of output. Returns an XArray of TgLine*, to be deleted by the caller. */
XArray* tg_lines_sorted(void);

#endif
