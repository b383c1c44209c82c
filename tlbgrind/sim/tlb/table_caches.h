/* The caches that the references of page walks go through: what each costs.

   A reference looks for the line of its table entry in the nearest cache, then in the next, and at
   last in the memory. All caches that missed then have the line. Of each cache (tlb_table_cache in
   machine.h) only a share is simulated: a set is the line's number modulo the sets, and LRU chooses
   what leaves it. The rest of the cache has what the program refers to without a walk. What it
   walks for takes a line, too: the data or code that the walk was for goes through the caches
   behind the walk's references, costs the walk nothing, and drives out lines of tables.

   Where page tables lie in memory is unknown here. Those of one step are taken to lie side by side,
   so entry n is byte n times the size of an entry of them, and lines of two steps, two address
   spaces, of guest and host, or of a table and the program, are never the same. Which of the lines
   of its page the program refers to is unknown, too: base page n is taken to have one, number n.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_TABLE_CACHES_H
#define TLB_TABLE_CACHES_H

#include <stdbool.h>

#include "sim/base/api.h"
#include "sim/machine/machine.h"
#include "sim/tlb/key.h"

TLB_API_BEGIN

/* Whose entry it is: a step of the walk; with a host below, a step of its walk for the page, or of
   one for a table of the guest. Last the program's own line. */
enum {
   TLB_OF_STEP = 0,
   TLB_OF_HOST = TLB_OF_STEP + TLB_MAX_WALK_LEVELS,
   TLB_OF_HOST_FOR_TABLE = TLB_OF_HOST + TLB_MAX_WALK_LEVELS,
   TLB_OF_PROGRAM = TLB_OF_HOST_FOR_TABLE + TLB_MAX_WALK_LEVELS,
   TLB_N_OF_ENTRIES
};

/* The lines of each kind, and of each area of the host's tables, begin so many lines behind those
   of the one before: kind number `of` + TLB_MAX_WALK_LEVELS times the area. Real tables are
   scattered; if all began at one place, the first lines of twenty tables would share a set. Odd, so
   that kinds are in sets of their own however many sets there are. */
enum { TLB_TABLE_DISTANCE = 37 };

/* The lines of a set stand in the order of their last use, the newest first. */
typedef struct {
   uint32_t *line;     /* names of lines, of all sets, `ways` of each; 0: none */
   uint32_t sets;
   uint32_t set_mask;  /* as in key.h */
   uint32_t ways;
   unsigned entry_bits; /* a line has 2^this entries */
   uint32_t cycles;
} tlb_lines;

/* No line has it, for no context is above TLB_MAX_CONTEXT. */
#define TLB_NO_LINE UINT64_MAX

/* The line that was read last, in its set of the first cache. */
typedef struct {
   uint64_t number; /* with what tells it from others, or TLB_NO_LINE */
   const uint32_t *at;
   uint32_t name;
   uint32_t region_name; /* the part of the name that the lines of its region have */
} tlb_newest_line;

/* A region is 2^19 lines of one owner: with 8 entries of 4K pages each 16 GiB, which would be 128
   TiB, all that a process has on most systems; of the program's lines 2 GiB. What lies in further
   regions is in no cache. */
enum { TLB_N_REGIONS = 8191 };

typedef struct {
   unsigned n; /* 0: none, and a reference costs nothing */
   uint64_t *region; /* those that lines are named by, at the place of their name; 0: none */
   tlb_lines cache[TLB_MAX_TABLE_CACHES];
   tlb_newest_line newest[TLB_N_OF_ENTRIES];
   uint32_t memory_cycles;
   unsigned far; /* the sets of caches from this one on are worth asking for ahead */
   bool one_size; /* the lines of all caches have */
} tlb_table_caches;

/* Bytes of memory that tlb_table_caches_init() wants. */
size_t tlb_table_caches_bytes(const tlb_machine *m);

/* Makes empty caches inside `memory` (aligned for uint64_t). */
void tlb_table_caches_init(tlb_table_caches *t, const tlb_machine *m, void *memory);

/* A line's number, with what tells it from others: which context, and whose. */
enum { TLB_LINE_CONTEXT_SHIFT = TLB_KEY_PAGE_BITS, TLB_LINE_OF_SHIFT = TLB_LINE_CONTEXT_SHIFT + 7 };

static inline uint64_t tlb_line_whose(unsigned of, uint32_t context)
{
   return (uint64_t)context << TLB_LINE_CONTEXT_SHIFT | (uint64_t)of << TLB_LINE_OF_SHIFT;
}

/* Whether it is the newest of its set in the first cache: the tables near the root have few lines,
   and mostly that of the last walk is asked for again. */
static inline bool tlb_line_is_newest(const tlb_newest_line *newest, uint64_t number)
{
   return newest->number == number && *newest->at == newest->name;
}

/* For tlb_table_caches_read(): one that is not the newest. */
uint32_t tlb_table_caches_look_up(tlb_table_caches *t, unsigned of, uint64_t whose, uint64_t entry);

/* Reads entry number `entry` (below 2^52) of the step that `of` says. Returns what that costs
   beyond one that is found in the first cache. */
static inline uint32_t tlb_table_caches_read(tlb_table_caches *t, unsigned of, uint32_t context,
                                             uint64_t entry)
{
   const uint64_t whose = tlb_line_whose(of, context);
   if (tlb_line_is_newest(&t->newest[of], entry >> t->cache[0].entry_bits | whose))
      return 0;
   return tlb_table_caches_look_up(t, of, whose, entry);
}

/* The same of an entry that has a line of its own. */
uint32_t tlb_table_caches_read_alone(tlb_table_caches *t, unsigned of, uint32_t context,
                                     uint64_t entry, unsigned area);

/* Reads the program's line, that of base page number `page`. Asking for its sets before makes it
   faster. */
void tlb_table_caches_read_program(tlb_table_caches *t, uint32_t context, uint64_t page);
void tlb_table_caches_fetch_program(const tlb_table_caches *t, uint64_t page);

/* Asks the processor that runs this for what will be read of the sets of the entry of that step,
   and of the program's line. Changes nothing. */
void tlb_table_caches_fetch(const tlb_table_caches *t, unsigned of, uint64_t entry, uint64_t page);

TLB_API_END

#endif
