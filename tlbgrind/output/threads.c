/* Counts by thread. See output/threads.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"

#include "attribution/lines.h"
#include "calls/collection.h"
#include "output/part_rows.h"
#include "output/threads.h"
#include "trace/segment_run.h"

typedef struct {
   ThreadId tid;
   ULong instructions;
   ULong* count; /* TG_N_PART_COUNTS for each machine */
} Thread;

static const TgResults* run;
static XArray* threads; /* Thread, in the order in which they began */
static Thread before;   /* the sums at the last call */
static TgLine total;

static Thread new_thread(ThreadId tid)
{
   const SizeT n = run->options->n_machines * TG_N_PART_COUNTS;
   return (Thread){ .tid = tid, .count = VG_(calloc)("tg.threads", n, sizeof(ULong)) };
}

void tg_threads_init(const TgResults* results)
{
   run = results;
   threads = VG_(newXA)(VG_(malloc), "tg.threads", VG_(free), sizeof(Thread));
   before = new_thread(0);
}

static Thread* thread_of(ThreadId tid)
{
   for (Word i = 0; i < VG_(sizeXA)(threads); i++) {
      Thread* t = VG_(indexXA)(threads, i);
      if (t->tid == tid)
         return t;
   }
   const Thread t = new_thread(tid);
   return VG_(indexXA)(threads, VG_(addToXA)(threads, &t));
}

static ULong count_of(UInt machine, UInt what)
{
   static const UInt costs[TG_N_PART_COUNTS] = { 0, TG_WALKS - TG_MISS_1, 0, TG_WALKS - TG_MISS_1 };
   const UInt at = run->result[machine].number * TG_N_OF_A_MISS + costs[what];
   const UInt first = what <= TG_PART_I_WALKS ? TLB_FETCH : TLB_LOAD;
   const UInt last = what <= TG_PART_I_WALKS ? TLB_FETCH : TLB_STORE;
   ULong sum = 0;
   for (UInt kind = first; kind <= last; kind++)
      sum += total.misses[kind] == NULL ? 0 : total.misses[kind][at];
   return sum;
}

/* The misses of all lines, and the references that have been settled. */
static void add_up(void)
{
   VG_(memset)(total.refs, 0, sizeof total.refs);
   for (UInt kind = 0; kind < TLB_N_USERS; kind++) {
      if (total.misses[kind] != NULL)
         VG_(memset)(total.misses[kind], 0, tg_lines_n_counts() * sizeof(uint64_t));
   }
   tg_lines_total(&total);
}

void tg_threads_add(ThreadId tid)
{
   Thread* t = thread_of(tid);
   add_up();
   /* Of the time outside of --toggle-collect='s functions the lines have nothing. */
   const ULong instructions = tg_collection_on ? total.refs[TLB_FETCH]
                                               : tg_instructions() + tg_booked.refs[TLB_FETCH];
   t->instructions += instructions - before.instructions;
   before.instructions = instructions;
   for (UInt i = 0; i < run->options->n_machines; i++) {
      for (UInt c = TG_PART_I1_MISSES; c < TG_N_PART_COUNTS; c++) {
         const ULong now = count_of(i, c);
         t->count[i * TG_N_PART_COUNTS + c] += now - before.count[i * TG_N_PART_COUNTS + c];
         before.count[i * TG_N_PART_COUNTS + c] = now;
      }
   }
}

void tg_threads_zero(void)
{
   if (threads == NULL)
      return;
   for (Word i = 0; i < VG_(sizeXA)(threads); i++)
      VG_(free)(((Thread*)VG_(indexXA)(threads, i))->count);
   VG_(dropTailXA)(threads, VG_(sizeXA)(threads));
   VG_(free)(before.count);
   before = new_thread(0);
   before.instructions = tg_collection_on ? 0 : tg_instructions() + tg_booked.refs[TLB_FETCH];
}

/* --- Output --- */

static Int by_number(const void* a, const void* b)
{
   const ThreadId x = ((const Thread*)a)->tid, y = ((const Thread*)b)->tid;
   return x < y ? -1 : x > y;
}

/* Whether there is more than one, which then are in order. */
static Bool there_are(void)
{
   if (threads == NULL || VG_(sizeXA)(threads) < 2)
      return False;
   VG_(setCmpFnXA)(threads, by_number);
   VG_(sortXA)(threads);
   return True;
}

static TgPartRow row_of(const Thread* t, UInt machine)
{
   return (TgPartRow){ t->tid, t->instructions, &t->count[machine * TG_N_PART_COUNTS] };
}

void tg_threads_print(void)
{
   if (!there_are())
      return;
   const Bool machines = run->options->n_machines > 1;
   VG_(umsg)("\n");
   tg_part_rows_head("thread", machines);
   for (Word i = 0; i < VG_(sizeXA)(threads); i++) {
      for (UInt m = 0; m < run->options->n_machines; m++) {
         const TgPartRow row = row_of(VG_(indexXA)(threads, i), m);
         tg_part_rows_print(&row, machines ? run->result[m].machine->name : NULL);
      }
   }
}

void tg_threads_describe(TgFile* f, UInt machine)
{
   if (!there_are())
      return;
   for (Word i = 0; i < VG_(sizeXA)(threads); i++) {
      const TgPartRow row = row_of(VG_(indexXA)(threads, i), machine);
      tg_part_rows_describe(f, "Thread", &row);
   }
}
