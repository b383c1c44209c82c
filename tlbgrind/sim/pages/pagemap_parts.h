/* What the parts of the page map share. Private; pagemap.h is public.

   pagemap_blocks.c keeps a view's base pages and blocks; pagemap_moves.c moves pages and
   makes large ones; pagemap.c has the public functions.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_PAGEMAP_PARTS_H
#define TLB_PAGEMAP_PARTS_H

#include "sim/pages/pagemap.h"
#include "sim/pages/touched.h"

struct tlb_view_pages {
   tlb_page_table chunks;
   tlb_page_table blocks;
   uint64_t shifts; /* bit n: there are blocks of 2^n bytes */
   int64_t left[TLB_MAX_PAGE_POOLS]; /* by the policy's pools */
};

static inline uint64_t tlb_block_start(uint64_t address, unsigned shift)
{
   return address >> shift << shift;
}

/* To be called before each change. */
static inline void tlb_pagemap_changes(const tlb_pagemap *p, const tlb_map_event *e)
{
   if (p->told != NULL && !p->is_in_change)
      p->told(p->told_opaque, e);
}

/* --- What is noted: see touched.h --- */

static inline tlb_chunk *tlb_view_chunk_for(const tlb_pagemap *p, tlb_view *v,
                                            uint64_t page)
{
   return tlb_chunk_for(&v->pages->chunks, &p->mappings.memory, page);
}

static inline tlb_block *tlb_view_block_at(const tlb_view *v, uint64_t address,
                                           unsigned shift)
{
   return tlb_block_at(&v->pages->blocks, address, shift);
}

static inline tlb_block *tlb_view_block_for(const tlb_pagemap *p, tlb_view *v,
                                            uint64_t address, unsigned shift)
{
   v->pages->shifts |= UINT64_C(1) << shift;
   return tlb_block_for(&v->pages->blocks, &p->mappings.memory, address, shift);
}

/* --- Blocks --- */

/* Where the mapping begins. The stack grows by whole base pages, whatever other
   views take for one. */
uint64_t tlb_view_first_byte(const tlb_mapping *m, unsigned base);

/* Whether one page of that size can back the block around `address`, which is
   the mapping's. */
int tlb_view_fits(const tlb_pagemap *p, const tlb_view *v, const tlb_mapping *m,
                  tlb_rule_how how, uint64_t address, unsigned shift);

int tlb_view_pool_is_empty(const tlb_view *v, unsigned shift);

/* The large page around `address` becomes base pages. */
void tlb_view_break(tlb_view *v, tlb_block *b, uint64_t address, unsigned shift,
                    tlb_small_reason why);

/* The base pages of the block, which are there, become one large page. */
void tlb_view_collapse(tlb_view *v, tlb_block *b, uint64_t start, unsigned shift);

/* Calls the view's `changed`: answers for [start, end) may differ. Whole base
   pages: one of which a part has changed has changed. */
void tlb_view_notify(const tlb_view *v, uint64_t start, uint64_t end);

/* --- Base pages --- */

/* The base page, of the chunk, is there from now on, as a part of block b, or, if that
   is NULL, by itself. */
void tlb_view_add(tlb_view *v, tlb_chunk *c, tlb_block *b, uint64_t page, unsigned wish);

/* Base pages [first, end). */
typedef struct {
   uint64_t first;
   uint64_t end;
} tlb_pages;

/* Those that have a byte of [start, end). */
tlb_pages tlb_pages_of(const tlb_view *v, uint64_t start, uint64_t end);

/* Called for a base page that has been asked for. Returns 0 to stop. */
typedef int tlb_page_call(tlb_view *v, tlb_chunk *c, uint64_t page, void *opaque);

/* Calls for every base page in the range that has been asked for; `call` may
   not add any. */
void tlb_view_each_page(tlb_view *v, tlb_pages in, tlb_page_call *call, void *opaque);

/* One such call: the page goes away. Sets *opaque, an int, to 1. */
int tlb_view_drop_page(tlb_view *v, tlb_chunk *c, uint64_t page, void *opaque);

/* Whether any base page of the range has been asked for. */
int tlb_view_any_page(tlb_view *v, uint64_t start, uint64_t end);

/* Whether any of the block's base pages has been asked for, also under another
   wish: then the block was decided by that. */
int tlb_view_any_in_block(tlb_view *v, uint64_t address, unsigned shift);

#endif
