/* Sums of a run's costs. See output/sums.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"

#include "attribution/lines.h"
#include "output/miss_cost.h"
#include "output/sums.h"

/* Whether the out-file has their costs below one name. */
static Bool is_one_function(const TgFunction* f, const TgFunction* g)
{
   return f == g || (f->object == g->object && f->file == g->file && f->name == g->name);
}

static void add(ULong* to, const ULong* cost)
{
   for (UInt i = 0; i < TG_N_COSTS; i++)
      to[i] += cost[i];
}

void tg_sums_add_up(TgResult* result, XArray* lines)
{
   ULong of_function[TG_N_COSTS] = { 0 };
   const TgFunction* at_hand = NULL;
   VG_(memset)(result->total, 0, sizeof result->total);
   result->least_cycles = 0;
   for (Word i = 0; i < VG_(sizeXA)(lines); i++) {
      const TgLine* line = *(TgLine**)VG_(indexXA)(lines, i);
      ULong cost[TG_N_COSTS];
      if (at_hand != NULL && !is_one_function(line->function, at_hand)) {
         result->least_cycles += tg_miss_cost_least(result->machine, of_function);
         add(result->total, of_function);
         VG_(memset)(of_function, 0, sizeof of_function);
      }
      at_hand = line->function;
      tg_lines_costs(line, result->number, cost);
      add(of_function, cost);
   }
   result->least_cycles += tg_miss_cost_least(result->machine, of_function);
   add(result->total, of_function);
}
