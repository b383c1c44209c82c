/* What first levels have missed: booked to the line that missed it, and asked for
   behind them. */

#ifndef TG_MISS_COUNTS_H
#define TG_MISS_COUNTS_H

#include "pub_tool_basics.h"

#include "mmu/l2_presence.h"
#include "trace/superblocks.h"
#include "mmu/known_hits.h"
#include "mmu/mmu.h"

void tg_missed_init(void);

/* For tg_missed_begin(). */
extern ULong tg_missed_in_parts;
void tg_missed_begin_parts(void);

/* A reference begins. `in_parts`: machines that can miss more than once, for it crosses
   to another page, or is a read and a write where these are told apart; what a machine
   misses in one part of it is a miss for each part. */
static inline void tg_missed_begin(ULong in_parts)
{
   tg_missed_in_parts = in_parts;
   if (in_parts != 0)
      tg_missed_begin_parts();
}

/* What was missed by more than one part of a reference: TG_N_COSTS misses of the
   MMU beyond the first. */
ULong* tg_missed_extra(UInt mmu);

/* Adds it to the costs of a line and a machine, from TG_MISS_1 on. */
static inline void tg_book_misses(ULong* cost, const tlb_outcome* o)
{
   cost[TG_WALK_REFS - TG_MISS_1] += o->walk_references;
   cost[TG_CYCLES - TG_MISS_1] += o->cycles;
   for (UInt bits = tg_misses_of(o); bits != 0; bits >>= 1, cost++)
      *cost += bits & 1;
}

/* Books what the MMU's machine has missed. */
void tg_missed_book(TgRef* r, const TgMmu* mmu, const tlb_outcome* o);

/* So many sizes of a stream miss at the time `now` what stands at `page`: adds to
   *out who that is, and counts it. `counts`: of the reference's line, from its streams
   on. */
static inline void tg_missed_group(TgMissed* out, ULong* counts,
                                    tlb_lazy_lru_page* page, const TgMissGroup* s,
                                    UInt n_sizes, ULong now)
{
   const UInt nth = n_sizes - 1;
   const TgMissed* by = &s->by[nth];
   out->asked |= by->asked;
   if (by->counted == 0)
      return;
   const UInt at = s->first + nth;
   out->counted |= by->counted;
   out->lazy |= by->lazy;
   counts[at]++;
   page->time[at] = now;
}

/* Asks behind the first levels. `page`: what stands at the page of the reference;
   not needed with one machine. */
void tg_missed_ask(TgRef* r, const TgMissed* missed, TgTable table,
                   tlb_lazy_lru_page* page, const tlb_reference* ref);

/* Whether tg_missed_ask() would do no more than note the time, since all that were
   missed is what is usual; then that is done. There is more than one machine, or one of
   them is asked. */
static inline Bool tg_missed_is_common(const TgMissed* missed, TgTable table,
                                      tlb_lazy_lru_page* page, ULong now)
{
   if (missed->asked != 0 || (missed->counted & tg_missed_in_parts) != 0
       || (missed->lazy & ~page->held[table]) != 0)
      return False;
   page->last = now;
   return True;
}

#endif
