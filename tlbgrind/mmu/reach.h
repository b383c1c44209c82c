/* Reach: what fully associative TLBs of all sizes would miss (--reach=yes).

   To the references it is one machine more, though not one that anything is
   booked to: it wants to see every reference to a page that is not among the
   eight of its side that were referenced last, see sim/tlb/reach.h. */

#ifndef TG_REACH_H
#define TG_REACH_H

#include "pub_tool_basics.h"

#include "sim/tlb/reach.h"

#include "mmu/known_hits.h"
#include "options/options.h"

typedef enum { TG_REACH_CODE, TG_REACH_DATA, TG_REACH_SIDES } TgReachSide;

/* Once it is settled what is told apart: after tg_known_init(). */
void tg_reach_init(const TgOptions* options);

/* A reference to page p, whose number is `number`, which reach wants to see; no
   longer, then. */
void tg_reach_refer(TgTable table, TgPage* p, UWord number, ULong now);

/* Counts begin again: the life of a forked child. */
void tg_reach_zero(void);

/* What came of it. */
const tlb_reach* tg_reach_of(TgReachSide side);

#endif
