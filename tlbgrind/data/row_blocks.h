/* Mappings of the whole run, and which of their blocks each reference is counted at.

   A row is what pmap has in a line: memory of one kind, mode and file without a gap, as long as it
   was mapped. Mappings that overlap, at whatever times, are one row if these are equal; so a heap
   that grows stays one row, and other memory at an old address is another. A row block is the part
   of a row in one aligned block of memory, the smallest large page of the run: sums over row blocks
   show what lies outside of aligned large pages, wherever the row turns out to end.

   Row blocks take the place of objects of data, or stand beside them (data/references.h). */

#ifndef TG_DATA_ROW_BLOCKS_H
#define TG_DATA_ROW_BLOCKS_H

#include "pub_tool_basics.h"

#include "pub_tool_xarray.h"

#include "sim/pages/mappings.h"

#include "data/words.h"

extern Bool tg_rows_on; /* --mappings=yes */

/* Blocks have 2^block_shift bytes. */
void tg_rows_init(UInt block_shift);

/* The row block of each page of 4K; 0: not looked up. Chunks are those of data/words.h. */
extern UInt* tg_row_block_chunk[TG_N_CHUNKS];

/* Whether the address is in that row block, which is not 0. */
static inline __attribute__((always_inline)) Bool tg_row_block_has(Addr a, UInt row_block)
{
   const UInt* chunk = tg_row_block_chunk[(a >> TG_CHUNK_SHIFT) & (TG_N_CHUNKS - 1)];
   return LIKELY(chunk != NULL)
          && LIKELY(chunk[(a >> TG_WORDS_PAGE_SHIFT) & (TG_CHUNK_PAGES - 1)] == row_block);
}

/* The number of the row block at the address, from 1. */
UInt tg_row_block_at(Addr a);

/* A row: `is` has its extent, kind, mode and file. Row 0 is what no mapping has. */
typedef struct {
   tlb_mapping is;
   UInt part_of;    /* the row that it has become a part of; its own number: it is a row */
   Bool is_present; /* some of it is mapped now */
} TgRow;

/* All rows by number, TgRow, with what is mapped now; valid until the next change. */
XArray* tg_rows(void);

/* The row of a row block, and the first address of its block. */
UInt tg_row_of_block(UInt row_block, Addr* block);

#endif
