/* Prints progress. See tool/progress.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"

#include "sim/mmu/mmu.h"

#include "base/number_format.h"
#include "base/shown.h"
#include "engine/jobs.h"
#include "tool/outputs.h"
#include "tool/progress.h"

static UInt interval; /* milliseconds; 0: print nothing */
static UInt last;
/* The counts at the last time. */
static ULong last_instructions;
static ULong last_misses[TLB_MAX_MMUS], last_walks[TLB_MAX_MMUS];

void tg_progress_init(const TgOptions* options)
{
   interval = (UInt)options->region.progress * 1000;
   last = VG_(read_millisecond_timer)();
}

/* Prints a count, and how much of it came in a second since the last time. */
static void count(ULong now, ULong* before, UInt milliseconds, const HChar* what)
{
   /* A dump sets the counts to zero. */
   const ULong more = now < *before ? now : now - *before;
   VG_(umsg)(" %s %s", tg_number(0, now).text, what);
   VG_(umsg)(" (%s a second)", tg_number(0, more * 1000 / milliseconds).text);
   *before = now;
}

static void print(UInt now)
{
   const TgResults* results = tg_outputs_so_far();
   VG_(umsg)("Progress: %u s,", now / 1000);
   count(results->result[0].total[tg_cost(TLB_FETCH, TG_REFS)], &last_instructions, now - last,
         "instructions");
   VG_(umsg)("\n");
   if (tg_jobs_lost() != NULL)
      VG_(umsg)("Progress: no counts of TLBs: %s\n", tg_jobs_lost());
   for (UInt i = 0; i < results->options->n_machines && tg_jobs_lost() == NULL; i++) {
      const TgResult* r = &results->result[i];
      VG_(umsg)("Progress: %s:", tg_shown(r->machine->name));
      count(tg_result_all(r, TG_MISS_1), &last_misses[i], now - last, "L1 misses");
      count(tg_result_all(r, TG_WALKS), &last_walks[i], now - last, "walks");
      VG_(umsg)("\n");
   }
   last = now;
}

void tg_progress_started(void)
{
   if (interval == 0)
      return;
   const UInt now = VG_(read_millisecond_timer)();
   if (now - last >= interval)
      print(now);
}
