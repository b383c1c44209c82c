/* Phases: the costs of a run between the marks that the program sets.

   Phases of one name add up. When a phase ends, the costs that have come since its begin are added
   to it, line by line. The counts themselves (attribution/lines.h) go on through all phases. */

#ifndef TG_PHASES_H
#define TG_PHASES_H

#include "pub_tool_basics.h"

#include "pub_tool_xarray.h"

#include "output/results.h"

/* Ends the phase at hand and begins another. All counts have been settled. The first call ends the
   phase `start`. */
void tg_phases_begin(const TgResults* results, const HChar* name);

/* Adds the costs so far to the phase at hand. Does nothing before the first tg_phases_begin(). */
void tg_phases_settle(const TgResults* results);

/* Removes all phases but that at hand, whose costs begin at zero with the lines'. */
void tg_phases_zero(void);

/* Those that there are, in the order of their first begin; 0: the program sets no marks. */
UInt tg_phases_count(void);
const HChar* tg_phases_name(UInt number);

/* The name of the phase at hand, if there are any. */
const HChar* tg_phases_at_hand(void);

/* The phase's out-file beside that of the whole run, `name`; to be freed. */
HChar* tg_phases_file_name(UInt number, const HChar* name);

/* Stores the phase's results in those of the run, for one machine, but for the totals. Returns its
   lines, of all `lines`: an XArray of TgLine*, to be deleted by the caller. */
XArray* tg_phases_result(UInt number, UInt machine, XArray* lines, TgResults* results,
                         TgResult* result);

#endif
