/* Counts by copy. See output/copy_table.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcprint.h"

#include "sim/mmu/mmu.h"

#include "output/copy_table.h"
#include "output/part_rows.h"
#include "trace/copy_counts.h"
#include "trace/run_mmus.h"

static void add(UInt machine, UInt copy, tlb_user kind, ULong* misses, ULong* walks)
{
   const uint64_t* cost = tg_copy_misses(copy, kind) + tlb_mmus_cost_of(&tg_mmus, machine);
   *misses += cost[0]; /* TG_MISS_1 */
   *walks += cost[TG_WALKS - TG_MISS_1];
}

static void count(const TgResult* r, UInt machine, UInt copy, ULong counts[TG_N_PART_COUNTS])
{
   for (UInt i = 0; i < TG_N_PART_COUNTS; i++)
      counts[i] = 0;
   for (UInt kind = 0; kind < TLB_N_USERS; kind++) {
      ULong* misses = &counts[kind == TLB_FETCH ? TG_PART_I1_MISSES : TG_PART_D1_MISSES];
      ULong* walks = &counts[kind == TLB_FETCH ? TG_PART_I_WALKS : TG_PART_D_WALKS];
      if (copy > 0) {
         add(machine, copy, (tlb_user)kind, misses, walks);
      } else {
         *misses += r->total[tg_cost((tlb_user)kind, TG_MISS_1)];
         *walks += r->total[tg_cost((tlb_user)kind, TG_WALKS)];
      }
   }
}

/* All copies execute what the program does. */
static TgPartRow row_of(const TgResult* r, UInt copy, const ULong* counts)
{
   return (TgPartRow){ copy + 1, r->total[tg_cost(TLB_FETCH, TG_REFS)], counts };
}

void tg_copies_print(const TgResults* results)
{
   const TgOptions* o = results->options;
   const Bool machines = o->n_machines > 1;
   if (o->kernel.copies < 2)
      return;
   VG_(umsg)("\n");
   tg_part_rows_head("copy", machines);
   for (UInt copy = 0; copy < o->kernel.copies; copy++) {
      for (UInt i = 0; i < o->n_machines; i++) {
         const TgResult* r = &results->result[i];
         ULong counts[TG_N_PART_COUNTS];
         count(r, i, copy, counts);
         const TgPartRow row = row_of(r, copy, counts);
         tg_part_rows_print(&row, machines ? r->machine->name : NULL);
      }
   }
}

void tg_copies_describe(const TgResults* results, TgFile* f, UInt machine)
{
   const TgOptions* o = results->options;
   for (UInt copy = 0; copy < o->kernel.copies && o->kernel.copies > 1; copy++) {
      const TgResult* r = &results->result[machine];
      ULong counts[TG_N_PART_COUNTS];
      count(r, machine, copy, counts);
      const TgPartRow row = row_of(r, copy, counts);
      tg_part_rows_describe(f, "Copy", &row);
   }
}
