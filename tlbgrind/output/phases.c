/* The phase at hand. See output/phases.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"

#include "output/phases.h"
#include "output/shares.h"

/* Each phase has an out-file for each machine. What comes after so many phases is counted in one
   more. */
enum { MAX_PHASES = 256 };

static Bool is_known(const TgShares* phases, const HChar* name)
{
   for (UInt i = 0; i < tg_shares_count(phases); i++) {
      if (VG_(strcmp)(tg_shares_name(phases, i), name) == 0)
         return True;
   }
   return False;
}

static UInt number_of(TgShares* phases, const TgResults* results, const HChar* name)
{
   const UInt n = tg_shares_count(phases);
   if (n < MAX_PHASES || is_known(phases, name))
      return tg_shares_number(phases, name, results);
   if (n == MAX_PHASES)
      VG_(umsg)("More than %d phases are marked: what comes after them is counted as 'more'.\n",
                MAX_PHASES);
   return tg_shares_number(phases, "more", results);
}

void tg_phases_begin(const TgResults* results, const HChar* name)
{
   TgShares* phases = tg_shares(TG_BY_PHASE);
   if (tg_shares_count(phases) == 0)
      number_of(phases, results, "start");
   tg_shares_settle(phases, results);
   tg_shares_go_to(phases, number_of(phases, results, name));
}
