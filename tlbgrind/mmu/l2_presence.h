/* Behind the first levels: what many machines have there stands at the pages.

   Machines that miss together (TgMissGroup, see mmu/l1_sharing.h) have lazy LRU arrays behind their
   first levels (sim/tlb/lazy_lru.h): one look at the page says which of them hold it,
   one time is noted. And what they usually come to is counted once in the line for
   all of them (TgCommonOutcome).

   This is for machines that know base pages of theirs alone. They part from it as soon
   as the program asks for huge pages. */

#ifndef TG_L2_PRESENCE_H
#define TG_L2_PRESENCE_H

#include "pub_tool_basics.h"

#include "mmu/mmu.h"
#include "mmu/large_pages.h"

/* What a reference missed: bit n for a miss that is counted as cost
   TG_MISS_1 + n. */
static inline UInt tg_misses_of(const tlb_outcome* o)
{
   return o->missed | (o->walked ? 1u << (TG_WALKS - TG_MISS_1) : 0);
}

/* Finds the streams, and makes lazy LRU arrays; once it is known who follows whom. */
void tg_l2_find(Bool fast_path);

/* How much room the counts of streams take in a line, and where they begin among its
   counts. */
extern UInt tg_n_miss_groups;

static inline UInt tg_miss_groups_at(void)
{
   return tg_n_mmus * TG_N_OF_A_MISS;
}

/* The lazy LRU arrays by table and machine; NULL: it has none. */
extern tlb_lazy_lru* tg_lazy_lrus[TG_N_TABLES][TG_MAX_MMUS];

/* By table, the machines behind whose lazy LRU array are walks alone, all alike; and those among
   them of which the references vary. */
extern ULong tg_l2_last[TG_N_TABLES];
extern ULong tg_l2_varies[TG_N_TABLES];

/* A line's counts of what no level of a machine has, by machine: see TgCommonOutcome. */
static inline ULong* tg_counts_of_walks(ULong* misses)
{
   return misses + tg_miss_groups_at() + tg_n_miss_groups;
}

/* What stands at pages is numbered from 1, for a page's record has no room for an
   address. */
enum { TG_L2_CHUNK_BITS = 6, TG_L2_CHUNK = 1 << TG_L2_CHUNK_BITS };

extern UChar** tg_l2_chunks;
extern SizeT tg_l2_bytes; /* of one */

static inline tlb_lazy_lru_page* tg_l2_page(UInt number)
{
   return (tlb_lazy_lru_page*)(void*)(tg_l2_chunks[number >> TG_L2_CHUNK_BITS]
                                   + (number & (TG_L2_CHUNK - 1)) * tg_l2_bytes);
}

/* Where the number stands, for tg_l2_of_page(). */
static inline UInt* tg_l2_at(TgPage* p, UInt large)
{
   return large > 0 ? &tg_large(p, large)->l2 : &tg_rest(p)->l2;
}

/* The number for a page whose record has none. */
UInt tg_l2_number(TgTable table, const TgPage* p, UInt large);

/* What stands at the page, made if it is new; or, unless `large` is 0, at the large page
   of 2^large base pages of which p is the first. */
static inline tlb_lazy_lru_page* tg_l2_of_page(TgTable table, TgPage* p, UInt large)
{
   UInt* l2 = tg_l2_at(p, large);
   if (UNLIKELY(*l2 == 0))
      *l2 = tg_l2_number(table, p, large);
   return tg_l2_page(*l2);
}

/* The machine is asked for a page that is not on its lazy LRU array: now it is. Adds to *out what
   that comes to, the miss of the first level aside. */
void tg_l2_fill(TgMmu* mmu, TgTable table, tlb_lazy_lru_page* p,
                    const tlb_reference* r, tlb_outcome* out);

/* Adds what was counted for machines together to the costs of each. */
void tg_l2_settle(void);

/* From now on there are no lazy LRU arrays. */
void tg_l2_part(void);

#endif
