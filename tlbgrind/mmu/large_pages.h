/* Large pages: the base pages of machines that have larger ones than the run.

   Such a machine knows all of a large page or nothing. When one comes or goes, not all
   records of the run's base pages in it are touched: a record says that the machine
   wants to see the next reference until that has been made, and has asked here. So only
   those have to be told that were referenced while the large page was there. */

#ifndef TG_LARGE_PAGES_H
#define TG_LARGE_PAGES_H

#include "pub_tool_basics.h"

#include "mmu/known_hits.h"

/* As code or as data: these are two, as its records are. */
typedef struct {
   ULong absent;        /* from the machines of these bits; and all other bits */
   ULong absent_writes; /* the same for writes, see TgRunTraits */
   ULong told;  /* the base pages whose records can say otherwise, a bit for each */
   UInt l2; /* as in TgRest */
} TgLarge;

/* Numbered from 1, for a base page's record has no room for an address. */
enum { TG_LARGE_CHUNK_BITS = 6 };
extern TgLarge** tg_large_chunks;
UInt tg_large_new(void);

/* What is kept of the large page of 2^large base pages of which `first` is the first,
   made if it is new. Its number stands at a base page of its own, which is in the middle
   of no page of another size. */
static inline TgLarge* tg_large(TgPage* first, UInt large)
{
   TgRest* middle = tg_rest(tg_page_at(first, (Word)1 << (large - 1)));
   if (UNLIKELY(middle->large == 0))
      middle->large = tg_large_new();
   return &tg_large_chunks[middle->large >> TG_LARGE_CHUNK_BITS]
                          [middle->large & ((1u << TG_LARGE_CHUNK_BITS) - 1)];
}

static inline ULong tg_large_absent(const TgLarge* l, TgKind kind)
{
   return kind == TG_WRITE && tg_run_traits.split ? l->absent_writes : l->absent;
}

/* It came to the machines of `loads` (or fetches), and to those of `stores` for these. */
static inline void tg_large_comes(TgLarge* l, ULong loads, ULong stores)
{
   l->absent &= ~loads;
   l->absent_writes &= ~stores;
}

/* Of so many base pages (2^n) all are told at once. */
enum { TG_LARGE_FEW = 2 };

/* The reference at hand is to the base page of that number in it, whose record now says
   what is known. */
static inline void tg_large_tell(TgLarge* l, TgTable table, TgPage* first, UWord number,
                                 UInt large)
{
   const UInt n = large > TG_LARGE_FEW ? 1 : 1u << large;
   const UInt from = large > TG_LARGE_FEW ? tg_nth_page(number, large) : 0;
   TgPage* p = tg_page_at(first, (Word)from);
   for (UInt i = from; i < from + n; i++, p = tg_page_at(p, 1)) {
      TgRest* rest = tg_rest(p);
      rest->observers &= l->absent;
      rest->write_observers &= l->absent_writes;
      l->told |= 1ULL << i;
      tg_settle(table, p);
   }
}

/* The machines have it no more, for loads (or fetches), for stores, or for both. */
void tg_large_goes(TgLarge* l, TgTable table, TgPage* first, ULong loads, ULong stores);

#endif
