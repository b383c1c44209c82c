/* The order in which pages were used, as a recording tells it: uses that it does not have yet, of
   the pages that its filters have. */

#ifndef TG_RECORD_USES_H
#define TG_RECORD_USES_H

#include "pub_tool_basics.h"

#include "sim/record/strength.h"

#include "trace/run_mmus.h"

/* Of one kind of page, data or code, base pages or large ones: what its filters have in common.
   Pages whose numbers are the same modulo `sets` can drive each other out. */
typedef struct {
   UInt sets;
   ULong last[TLB_MAX_FILTER_SETS]; /* by set: the time up to which uses have been recorded;
                                       of large pages, the order in which those of the set
                                       were used last */
   ULong n[TLB_MAX_FILTER_SETS];    /* and how many references and uses have been */
} TgUseOrder;

typedef struct {
   ULong time;
   uint64_t* recorded; /* the number of what the recording has of the page last, in its set */
   tlb_page_number page;
   tlb_user user;
} TgUse;

/* Records n uses, in the order of their times, of pages of that size (its number among the
   recording's): those of a set, as far as the recording does not tell that already. */
void tg_record_uses(TgUseOrder* order, UInt set, TgUse* use, UInt n, UInt size);

#endif
