/* Rows for parts of what a run has counted. See output/part_rows.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcprint.h"

#include "base/number_format.h"
#include "output/part_rows.h"

void tg_part_rows_head(const HChar* what, Bool machines)
{
   VG_(umsg)("%6s  %15s  %12s  %12s  %12s  %12s%s\n", what, "instructions", "I1 misses",
             "I walks", "D1 misses", "D walks", machines ? "  machine" : "");
}

void tg_part_rows_print(const TgPartRow* row, const HChar* machine)
{
   VG_(umsg)("%6u  %s  %s  %s  %s  %s%s%s\n", row->number,
             tg_number(15, row->instructions).text,
             tg_number(12, row->count[TG_PART_I1_MISSES]).text,
             tg_number(12, row->count[TG_PART_I_WALKS]).text,
             tg_number(12, row->count[TG_PART_D1_MISSES]).text,
             tg_number(12, row->count[TG_PART_D_WALKS]).text, machine == NULL ? "" : "  ",
             machine == NULL ? "" : machine);
}

void tg_part_rows_describe(TgFile* f, const HChar* what, const TgPartRow* row)
{
   static const HChar* const events[TG_N_PART_COUNTS] = { "I1tm", "ILtm", "D1tm", "DLtm" };
   tg_file_print(f, "desc: %s: %u Ir %llu", what, row->number, row->instructions);
   for (UInt i = 0; i < TG_N_PART_COUNTS; i++)
      tg_file_print(f, " %s %llu", events[i], row->count[i]);
   tg_file_print(f, "\n");
}
