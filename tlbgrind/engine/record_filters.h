/* The filters of a recording: small arrays of the pages that were used last. References that hit in
   them are left out (sim/record/strength.h); a page that is in all filters of its references is not
   observed by the recording. */

#ifndef TG_RECORD_FILTERS_H
#define TG_RECORD_FILTERS_H

#include "pub_tool_basics.h"

#include "sim/record/strength.h"

#include "trace/run_mmus.h"

/* Makes them, empty, for a run whose MMUs have been made. */
void tg_record_filters_init(const tlb_strength* s);

/* Whether references of that kind to the page are recorded. */
Bool tg_record_filters_observe(tlb_page* p, tlb_user user);

/* Before a reference to the page is recorded: records in which order the pages were used that it
   could drive out. `stores_too`: it is a load that is a store, too, where these are told apart. */
void tg_record_filters_before(tlb_user user, Bool stores_too, tlb_page* p, tlb_page_number number);

/* It has been recorded, with nothing in between: its page is in the filters from now on. */
void tg_record_filters_refer(tlb_user user, Bool stores_too, tlb_page* p, tlb_page_number number,
                             ULong now);

/* The same of a prefetch of the page, which is always recorded: what has to be recorded before it,
   and what it changes. */
void tg_record_filters_before_prefetch(tlb_page_number number);
void tg_record_filters_prefetch(tlb_page_number number, ULong now);

/* The next references to base pages number `first` to `last` are recorded: what backs them is asked
   anew. In which order they have been used is told before. They keep their places, for an array
   keeps its entries, too. */
void tg_record_filters_doubt(ULong first, ULong last);

#endif
