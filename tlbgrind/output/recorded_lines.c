/* Lines of source at the end of a recording. See output/recorded_lines.h. */

#include "pub_tool_basics.h"

#include "attribution/events.h"
#include "attribution/lines.h"
#include "output/recorded_lines.h"

Bool tg_recorded_line_any(const ULong* cost, Bool faults)
{
   Bool any = False;
   for (UInt kind = 0; kind < TLB_N_USERS; kind++)
      any |= cost[tg_cost(kind, TG_REFS)] != 0 || (faults && cost[TG_FAULTS + kind] != 0);
   return any;
}

void tg_recorded_line_print(TgFile* f, XArray* lines, Word first, Word last, const ULong* cost)
{
   tg_file_print(f, ":");
   for (UInt kind = 0; kind < TLB_N_USERS; kind++)
      tg_file_number(f, cost[tg_cost(kind, TG_REFS)], ' ');
   for (UInt kind = 0; kind < TLB_N_USERS; kind++)
      tg_file_number(f, cost[TG_FAULTS + kind], ' ');
   for (Word i = first; i <= last; i++) {
      const TgLine* l = *(TgLine**)VG_(indexXA)(lines, i);
      if (l->recorded != 0)
         tg_file_number(f, l->recorded, ' ');
   }
   tg_file_print(f, ";");
}
