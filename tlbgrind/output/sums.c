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

static ULong all(const ULong* cost, UInt what)
{
   ULong sum = 0;
   for (UInt kind = 0; kind < TLB_N_USERS; kind++)
      sum += cost[tg_cost(kind, what)];
   return sum;
}

static Bool is_dearer(const TgDearest* a, const TgDearest* b)
{
   if (a->cycles != b->cycles)
      return a->cycles > b->cycles;
   if (a->walks != b->walks)
      return a->walks > b->walks;
   if (a->misses != b->misses)
      return a->misses > b->misses;
   return a->instructions > b->instructions;
}

/* All costs of one function. */
static void add_function(TgResult* result, const TgFunction* function, const ULong* cost)
{
   const TgDearest d = { function, cost[TG_ALL_CYCLES], all(cost, TG_WALKS),
                         all(cost, TG_MISS_1), cost[tg_cost(TLB_FETCH, TG_REFS)] };
   result->least_cycles += tg_miss_cost_least(result->machine, cost);
   add(result->total, cost);
   if (d.cycles > 0 && is_dearer(&d, &result->dearest))
      result->dearest = d;
}

void tg_sums_add_up(TgResult* result, XArray* lines)
{
   ULong of_function[TG_N_COSTS] = { 0 };
   const TgFunction* at_hand = NULL;
   VG_(memset)(result->total, 0, sizeof result->total);
   result->least_cycles = 0;
   result->dearest = (TgDearest){ .function = NULL };
   for (Word i = 0; i < VG_(sizeXA)(lines); i++) {
      const TgLine* line = *(TgLine**)VG_(indexXA)(lines, i);
      ULong cost[TG_N_COSTS];
      if (at_hand != NULL && !is_one_function(line->function, at_hand)) {
         add_function(result, at_hand, of_function);
         VG_(memset)(of_function, 0, sizeof of_function);
      }
      at_hand = line->function;
      tg_lines_costs(line, result->number, cost);
      add(of_function, cost);
   }
   add_function(result, at_hand, of_function);
}
