/* The caches that the references of page walks go through: what each costs.

   A reference looks for the line of its table entry in the nearest cache, then in the next, and at
   last in the memory. All caches that missed then have the line. Of each cache (tlb_table_cache in
   machine.h) only the share that page tables get is simulated, as if nothing else were in it: a set
   is the line's number modulo the sets, and LRU chooses what leaves it.

   Where page tables lie in memory is unknown here. Those of one step are taken to lie side by side,
   so entry n is byte n times the size of an entry of them, and lines of two steps, two address
   spaces, or of guest and host, are never the same.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_TABLE_CACHES_H
#define TLB_TABLE_CACHES_H

#include "sim/base/api.h"
#include "sim/machine/machine.h"
#include "sim/tlb/key.h"

TLB_API_BEGIN

/* Whose entry it is: a step of the walk; with a host below, a step of its walk for the page, or of
   one for a table of the guest. */
enum {
   TLB_OF_STEP = 0,
   TLB_OF_HOST = TLB_OF_STEP + TLB_MAX_WALK_LEVELS,
   TLB_OF_HOST_FOR_TABLE = TLB_OF_HOST + TLB_MAX_WALK_LEVELS,
   TLB_N_OF_ENTRIES = TLB_OF_HOST_FOR_TABLE + TLB_MAX_WALK_LEVELS
};

/* The lines of a set stand in the order of their last use, the newest first. */
typedef struct {
   uint64_t *line;     /* of all sets, `ways` of each */
   uint16_t *n_filled; /* of each set */
   uint32_t sets;
   uint32_t set_mask;  /* as in key.h */
   uint32_t ways;
   unsigned entry_bits; /* a line has 2^this entries */
   uint32_t cycles;
} tlb_lines;

typedef struct {
   unsigned n; /* 0: none, and a reference costs nothing */
   tlb_lines cache[TLB_MAX_TABLE_CACHES];
   uint32_t memory_cycles;
} tlb_table_caches;

/* Bytes of memory that tlb_table_caches_init() wants. */
size_t tlb_table_caches_bytes(const tlb_machine *m);

/* Makes empty caches inside `memory` (aligned for uint64_t). */
void tlb_table_caches_init(tlb_table_caches *t, const tlb_machine *m, void *memory);

/* Reads entry number `entry` (below 2^52) of the step that `of` says. Returns what that costs beyond
   one that is found in the first cache. */
uint32_t tlb_table_caches_read(tlb_table_caches *t, unsigned of, uint32_t context, uint64_t entry);

/* The same of an entry that has a line of its own. */
uint32_t tlb_table_caches_read_alone(tlb_table_caches *t, unsigned of, uint32_t context,
                                     uint64_t entry, unsigned area);

TLB_API_END

#endif
