/* The check: what translated code calls at the end of each segment.

   It counts the segment and looks up the records of all its pages at once
   (sim/mmu/page_record.h). If all of them are known hits, nothing that the simulator keeps
   has changed but the times of the pages, which the check notes. If one is not, the segment
   is simulated (engine/segment_miss.h). No record changes between the first reference of a
   segment and its end, so one look-up there is as exact as one for each reference.

   A group of references is looked up by the page of its first byte and compared
   with that of its last, so what crosses a page never matches.

   Why a call, and not code inside the translated code: the call is as fast,
   since the compiler is better at this than Vex, and it makes the translated
   code half as large, which is what short programs wait for. */

#ifndef TG_CHECK_H
#define TG_CHECK_H

#include "pub_tool_basics.h"

#include "engine/look_up.h"
#include "trace/superblocks.h"
#include "options/options.h"

/* Once it is settled whether page uses are recorded. */
void tg_check_init(const TgOptions* options);

/* The function to call for a segment. */
TgCheck* tg_check_for(const TgSegment* s);

/* The one to call for a guarded segment; `happens` is 0 if the guard says no. */
typedef void TgCheckGuarded(UChar* guest_state, TgSegment* s, UWord happens);
TgCheckGuarded* tg_check_for_guarded(void);

#endif
