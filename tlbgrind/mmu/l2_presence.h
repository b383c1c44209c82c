/* Behind the first levels: what many machines have there stands at the pages.

   Machines that miss together (TgStream, see mmu/l1_sharing.h) have shelves behind their
   first levels (sim/tlb/lazy_lru.h): one look at the page says which of them hold it,
   one time is noted. And what they usually come to is counted once in the line for
   all of them (TgUsual).

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

/* Finds the streams, and makes shelves; once it is known who follows whom. */
void tg_behind_find(Bool fast_path);

/* How much room the counts of streams take in a line, and where they begin among its
   counts. */
extern UInt tg_n_streams;

static inline UInt tg_streams_at(void)
{
   return tg_n_lanes * TG_N_OF_A_MISS;
}

/* The shelves by table and machine; NULL: it has none. */
extern tlb_shelf* tg_shelf[TG_N_TABLES][TG_MAX_LANES];

/* By table, the machines behind whose shelf are walks alone, all alike; and those among
   them of which the references vary. */
extern ULong tg_behind_last[TG_N_TABLES];
extern ULong tg_behind_varies[TG_N_TABLES];

/* A line's counts of what no level of a machine has, by machine: see TgUsual. */
static inline ULong* tg_counts_of_walks(ULong* misses)
{
   return misses + tg_streams_at() + tg_n_streams;
}

/* What stands at pages is numbered from 1, for a page's record has no room for an
   address. */
enum { TG_BEHIND_BITS = 6, TG_BEHIND_CHUNK = 1 << TG_BEHIND_BITS };

extern UChar** tg_behind_chunks;
extern SizeT tg_behind_bytes; /* of one */

static inline tlb_shelf_page* tg_behind_page(UInt number)
{
   return (tlb_shelf_page*)(void*)(tg_behind_chunks[number >> TG_BEHIND_BITS]
                                   + (number & (TG_BEHIND_CHUNK - 1)) * tg_behind_bytes);
}

/* Where the number stands, for tg_behind(). */
static inline UInt* tg_behind_at(TgPage* p, UInt large)
{
   return large > 0 ? &tg_large(p, large)->behind : &tg_rest(p)->behind;
}

/* The number for a page whose record has none. */
UInt tg_behind_number(TgTable table, const TgPage* p, UInt large);

/* What stands at the page, made if it is new; or, unless `large` is 0, at the large page
   of 2^large base pages of which p is the first. */
static inline tlb_shelf_page* tg_behind(TgTable table, TgPage* p, UInt large)
{
   UInt* behind = tg_behind_at(p, large);
   if (UNLIKELY(*behind == 0))
      *behind = tg_behind_number(table, p, large);
   return tg_behind_page(*behind);
}

/* The machine is asked for a page that is not on its shelf: now it is. Adds to *out what
   that comes to, the miss of the first level aside. */
void tg_behind_fill(TgLane* lane, TgTable table, tlb_shelf_page* p,
                    const tlb_reference* r, tlb_outcome* out);

/* Adds what was counted for machines together to the costs of each. */
void tg_behind_settle(void);

/* From now on there are no shelves. */
void tg_behind_part(void);

#endif
