/* Which core a thread runs on. See engine/thread_cores.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"

#include "sim/mmu/mmu.h"

#include "calls/call_stack.h"
#include "calls/collection.h"
#include "data/references.h"
#include "engine/batch.h"
#include "engine/thread_cores.h"
#include "engine/fast_path.h"
#include "engine/setup.h"
#include "output/threads.h"
#include "trace/run_mmus.h"
#include "trace/superblocks.h"

static UInt n_cores;       /* TG_CORE_PER_THREAD, or threads are dealt out to so many */
static UInt n_siblings;    /* hardware threads of each */
static ThreadId at_hand;   /* 0: none yet */
static UInt core;          /* at hand */
static UInt most;          /* the highest number of a core so far */
static Bool ended;         /* the thread at hand ends */

/* The first threads go to the first hardware threads of all cores. */
static UInt core_of(ThreadId tid)
{
   if (n_cores == TG_CORE_PER_THREAD)
      return tid - 1;
   return (tid - 1) % n_cores * n_siblings + (tid - 1) / n_cores % n_siblings;
}

static void go_to(UInt next)
{
   tlb_mmus_core(&tg_mmus, next);
   tg_fast_path_find();
   if (ended && n_cores == TG_CORE_PER_THREAD)
      tlb_mmus_core_ends(&tg_mmus, core);
   most = next > most ? next : most;
   core = next;
}

void tg_cores_init(const TgOptions* options)
{
   n_cores = options->kernel.cores;
   n_siblings = options->kernel.siblings;
}

void tg_cores_add(void)
{
   if (n_cores != TG_CORES_SHARED && at_hand != 0) {
      /* Parts whose segments are listed could not be set aside. */
      tg_call_stack_take_misses();
      tg_threads_add(at_hand);
      tg_data_set_aside();
   }
}

static void settle(void)
{
   tg_batch_look_up();
   /* The lines have misses that are still to be taken back, and lack references. */
   if (tg_collection_on) {
      tg_collection_settle();
      tg_superblocks_settle();
   }
   tg_engine_settle();
   tg_cores_add();
}

void tg_cores_started(ThreadId tid)
{
   if (n_cores != TG_CORES_SHARED && at_hand != 0 && at_hand != tid)
      settle();
   tg_cores_go_to(tid);
}

void tg_cores_go_to(ThreadId tid)
{
   if (n_cores == TG_CORES_SHARED || tid == at_hand)
      return;
   at_hand = tid;
   if (core_of(tid) != core)
      go_to(core_of(tid));
   ended = False;
}

void tg_cores_thread_ends(ThreadId tid)
{
   if (tid == at_hand)
      ended = True;
}

void tg_cores_forked(void)
{
   for (UInt i = 0; i <= most; i++)
      tlb_mmus_core_ends(&tg_mmus, i);
}
