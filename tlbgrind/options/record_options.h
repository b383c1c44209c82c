/* The options --record=, --record-for= and --record-pages=: for which machines and page sizes a
   recording is to be made. */

#ifndef TG_RECORD_OPTIONS_H
#define TG_RECORD_OPTIONS_H

#include "pub_tool_basics.h"

#include "sim/pages/code_blocks.h"
#include "sim/record/strength.h"
#include "sim/tlb/base_pages.h"

#include "options/options.h"

struct _TgRecordOptions {
   tlb_strength strength;
   UInt thp_shift; /* of the run's transparent huge pages */
   tlb_base_pages base; /* of the run's machines */
   tlb_code_blocks code; /* of its kernel; none if the recording is not for pages of that size */
};

/* Sets o->record, which stays NULL if the run is not recorded; to be called when the machines and
   the base page are known. Ends the run if such a run can not be recorded. */
void tg_record_options_finish(TgOptions* o);

#endif
