/* The touched base pages of a view, and the larger blocks around them (pagemap.h).

   Base pages stand in chunks of 512, one byte each. Chunks and blocks are found by hash
   tables. A record is dead when none of its pages is touched; dead records are used again, or
   removed when their table grows.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_TOUCHED_H
#define TLB_TOUCHED_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/memory.h"

typedef struct {
   void **slot;
   size_t mask; /* slots - 1; slot == NULL: none */
   size_t used;
} tlb_page_table;

enum { TLB_CHUNK_SHIFT = 9, TLB_CHUNK_PAGES = 1 << TLB_CHUNK_SHIFT };

/* What all records begin with. */
typedef struct {
   uint64_t number;
   uint64_t touched; /* base pages; 0: the record is dead */
} tlb_touched;

typedef struct {
   tlb_touched r; /* number: of the base page, divided by TLB_CHUNK_PAGES */
   uint8_t wish[TLB_CHUNK_PAGES]; /* log2 of the size that the rules wished for;
                                     0: not touched */
} tlb_chunk;

typedef struct {
   tlb_touched r; /* number: of address and size together */
   uint8_t how;   /* a tlb_rule_how */
   uint8_t large; /* one page backs it; else base pages */
   uint8_t why_small; /* a tlb_small_reason (pagemap.h), if it is not */
   uint8_t shared; /* with another process, since a fork */
} tlb_block;

/* The chunk of that number, or NULL. */
tlb_chunk *tlb_chunk_at(const tlb_page_table *t, uint64_t number);

/* The chunk of a base page, made if it is new. */
tlb_chunk *tlb_chunk_for(tlb_page_table *t, const tlb_memory *memory,
                         uint64_t page);

/* The block of 2^shift bytes around an address, or NULL. */
tlb_block *tlb_block_at(const tlb_page_table *t, uint64_t address,
                        unsigned shift);

/* The same, made if it is new. */
tlb_block *tlb_block_for(tlb_page_table *t, const tlb_memory *memory,
                         uint64_t address, unsigned shift);

/* The first byte of a block, and its size. */
uint64_t tlb_block_address(const tlb_block *b);
unsigned tlb_block_shift(const tlb_block *b);

void tlb_page_table_free(tlb_page_table *t, const tlb_memory *memory);

#endif
