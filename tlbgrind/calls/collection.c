/* Keeps costs only while certain functions are active. See calls/collection.h. */

#include "pub_tool_basics.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_seqmatch.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"

#include "arch/arch.h"
#include "attribution/lines.h"
#include "calls/collection.h"
#include "trace/missed_segments.h"

#define NEVER (~(Addr)0)

Bool tg_collection_on;
static const HChar* const* functions;
static void (*complete_noted)(void);
static TgTotals totals[TG_MAX_TOTALS];
static void* kept[TG_MAX_TOTALS]; /* the totals as they were when costs were last kept */
static Int sp_offset;
static Bool* has_run;  /* by thread */
static Bool was_on;

void tg_collection_init(const TgOptions* options, void (*f)(void),
                        const TgTotals t[TG_MAX_TOTALS])
{
   functions = options->region.toggle_collect;
   if (functions == NULL)
      return;
   tg_collection_on = True;
   tg_costs_are_kept = False;
   complete_noted = f;
   for (UInt i = 0; i < TG_MAX_TOTALS; i++) {
      totals[i] = t[i];
      if (t[i].n_bytes > 0)
         kept[i] = VG_(calloc)("tg.collection.totals", 1, t[i].n_bytes);
   }
   has_run = VG_(calloc)("tg.collection.threads", VG_N_THREADS, sizeof *has_run);
   /* The processes of --jobs= are told which references count, and tell none of the others. */
   if (options->jobs > 0)
      return;
   tg_lists_missed_segments = True;
   tg_lines_count_seen();
}

void tg_collection_sp(Int offset)
{
   sp_offset = offset;
}

Bool tg_collection_begins_at(Addr a)
{
   const HChar* name;
   if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), tg_arch_global_entry(a), &name))
      return False;
   for (UInt i = 0; functions[i] != NULL; i++) {
      if (VG_(string_match)(functions[i], name))
         return True;
   }
   return False;
}

Bool tg_collection_was_on(void)
{
   return was_on;
}

/* --- Costs --- */

void tg_collection_settle(void)
{
   if (!tg_collection_on)
      return;
   complete_noted();
   if (tg_costs_are_kept)
      tg_missed_segments_keep();
   else
      tg_missed_segments_take_back();
   for (UInt i = 0; i < TG_MAX_TOTALS; i++) {
      if (tg_costs_are_kept)
         VG_(memcpy)(kept[i], totals[i].counts, totals[i].n_bytes);
      else
         VG_(memcpy)(totals[i].counts, kept[i], totals[i].n_bytes);
   }
}

void tg_collection_zero(void)
{
   for (UInt i = 0; i < TG_MAX_TOTALS && tg_collection_on; i++)
      VG_(memset)(kept[i], 0, totals[i].n_bytes);
}

static void keep_costs(Bool is_on)
{
   if (is_on == tg_costs_are_kept)
      return;
   tg_collection_settle();
   tg_costs_are_kept = is_on;
   was_on |= is_on;
}

/* --- The function's first instruction, and its end --- */

static TgActiveArea* area_in(UChar* guest_state)
{
   return &tg_thread_area(guest_state)->collection;
}

static Addr sp_in(UChar* guest_state)
{
   return *(Addr*)(void*)(guest_state + sp_offset);
}

static Bool is_on_alternate_stack(Addr sp)
{
   const ThreadId tid = VG_(get_running_tid)();
   const SizeT size = VG_(thread_get_altstack_size)(tid);
   return size > 0 && sp - VG_(thread_get_altstack_min)(tid) <= size;
}

void tg_collection_leave(UChar* guest_state)
{
   /* The handler of a signal that interrupts the function; but not one that has called it. */
   if (is_on_alternate_stack(sp_in(guest_state))
       && !is_on_alternate_stack(area_in(guest_state)->until))
      return;
   area_in(guest_state)->until = NEVER;
   tg_call_stack_settle(guest_state);
   keep_costs(False);
}

void tg_collection_enter(UChar* guest_state)
{
   TgActiveArea* area = area_in(guest_state);
   const Addr sp = sp_in(guest_state);
   if (area->until == NEVER || (sp > area->until && !is_on_alternate_stack(sp))) {
      area->until = sp;
      area->back = tg_arch_link(guest_state);
   }
   tg_call_stack_settle(guest_state);
   keep_costs(True);
}

/* --- Threads --- */

/* A new thread has a copy of its creator's registers. */
static void begin(ThreadId tid)
{
   TgThreadArea area = tg_thread_area_of(tid);
   area.collection.until = NEVER;
   has_run[tid] = True;
   tg_thread_area_set(tid, &area);
}

void tg_collection_started(ThreadId tid)
{
   if (!tg_collection_on)
      return;
   if (!has_run[tid])
      begin(tid);
   keep_costs(tg_thread_area_of(tid).collection.until != NEVER);
}

void tg_collection_ends(ThreadId tid)
{
   if (tg_collection_on)
      has_run[tid] = False;
}
