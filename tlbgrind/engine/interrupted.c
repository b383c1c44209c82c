/* Segments that a fault cuts short. See engine/interrupted.h. */

#include "pub_tool_basics.h"

#include "pub_tool_machine.h"

#include "engine/interrupted.h"
#include "engine/batch.h"
#include "engine/copy_turns.h"
#include "engine/replay.h"
#include "trace/instrumentation.h"
#include "trace/missed_segments.h"
#include "trace/segment_run.h"
#include "data/references.h"
#include "faults/page_use.h"
#include "faults/touches.h"

/* The number of the instruction at `ip` among those that begin in the segment,
   or -1. One that began in an earlier segment of the block can still make
   references in this one. */
static Int position(const TgSegment* s, Addr ip)
{
   Int i = (Int)tg_n_instrs(s) - 1;
   while (i >= 0 && tg_segment_instrs(s)[i]->address != ip)
      i--;
   return i;
}

/* How many of the segment's references were made when the instruction at `ip`
   faulted: all of those before it, and its own up to the first that the client
   may not make, which is counted as an attempt. -1: it is not in the segment. */
static Int refs_made(const TgShadowArea* shadow, const TgSegment* s, Addr ip)
{
   const Int faulting = position(s, ip);
   Bool found = faulting >= 0;
   Int n = 0;
   while (n < s->n_refs) {
      const TgRef* r = &tg_segment_refs(s)[n];
      const Bool own = r->site->address == ip;
      if (!own && position(s, r->site->address) >= faulting)
         break;
      n++;
      found |= own;
      if (own && r->kind != TLB_FETCH && !tg_may_access(shadow, r))
         break;
   }
   return found ? n : -1;
}

/* A thread stopped with its instruction pointer at `ip`. If that is inside the
   segment that it ran last, a fault threw it out there before the segment was
   counted: books what was run. */
static void book_interrupted(const TgShadowArea* shadow, TgSegment* s, Addr ip)
{
   const Int n_refs = refs_made(shadow, s, ip);
   if (n_refs < 0)
      return;
   const Int n_instrs = position(s, ip) + 1;
   if (!tg_instrumented) {
      if (tg_page_use_on)
         tg_page_use_interrupted(shadow, s, (UInt)n_refs, (UInt)n_instrs);
      if (tg_touches_on)
         tg_touches_interrupted(shadow, s, (UInt)n_refs);
      tg_replay_touches(shadow, s, (UInt)n_refs);
      return;
   }
   tg_clock_pass(s);
   if (tg_page_use_on)
      tg_page_use_interrupted(shadow, s, (UInt)n_refs, (UInt)n_instrs);
   if (tg_touches_on)
      tg_touches_interrupted(shadow, s, (UInt)n_refs);
   if (tg_data_on)
      tg_data_segment(shadow, s, (UInt)n_refs);
   if (tg_lists_missed_segments)
      tg_missed_segments_add(s);
   tg_replay_first(shadow, s, (UInt)n_refs);
   tg_idle_passes += tg_n_instrs(s) - (UInt)n_instrs;
   if (tg_copies_on)
      tg_copies_follow(shadow, s, (UInt)n_refs);
   if (!tg_costs_are_kept)
      return;
   for (Int i = 0; i < n_instrs; i++)
      tg_site_line(tg_segment_instrs(s)[i])->refs[TLB_FETCH]++;
   for (Int i = 0; i < n_refs; i++) {
      const TgRef* r = &tg_segment_refs(s)[i];
      if (r->kind != TLB_FETCH && tg_superblocks_count(r->kind))
         tg_line_ref(tg_site_line(r->site), r->kind);
      else if (r->kind != TLB_FETCH)
         tg_line_ref_counted(r->kind);
      else if (r->size > 0)
         tg_superblock_totals()->fetch_straddles++;
   }
}

void tg_interrupted_start(ThreadId tid)
{
   TgThreadArea area = tg_thread_area_of(tid);
   area.segment = (TgShadowArea){ .segment = 0 };
   tg_thread_area_set(tid, &area);
}

/* Deals with whatever the thread was running when it stopped, once. */
static void stopped(ThreadId tid)
{
   TgThreadArea area = tg_thread_area_of(tid);
   tg_batch_look_up();
   TgSegment* s = area.segment.segment == 0 ? NULL : tg_segments[area.segment.segment];
   /* A guarded reference is booked before it is made, attempt or not. */
   if (s != NULL && !s->guarded)
      book_interrupted(&area.segment, s, VG_(get_IP)(tid));
   area.segment.segment = 0;
   tg_thread_area_set(tid, &area);
}

void tg_interrupted_stop(ThreadId tid)
{
   stopped(tid);
}

/* A fault's signal is delivered before the core says that the thread has
   stopped; by then its instruction pointer is the handler's. */
void tg_interrupted_signal(ThreadId tid, Int signal, Bool alternate_stack)
{
   (void)signal; (void)alternate_stack;
   stopped(tid);
}
