/* Flushes of the TLBs. See faults/flushes.h. */

#include "pub_tool_basics.h"

#include "pub_tool_vki.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_stacktrace.h"
#include "pub_tool_threadstate.h"

#include "sim/mmu/mmu.h"

#include "attribution/lines.h"
#include "faults/flushes.h"
#include "native/mapped_files.h"
#include "native/maps.h"
#include "space/aspace.h"
#include "space/forks.h"
#include "trace/instrumentation.h"
#include "trace/run_mmus.h"

/* asm-generic/mman-common.h */
enum { ADVICE_DONTNEED = 4, ADVICE_FREE = 8, ADVICE_REMOVE = 9, ADVICE_COLD = 20,
       ADVICE_DONTNEED_LOCKED = 24, ADVICE_GUARD_INSTALL = 102 };

static Bool on;
static ULong page_bytes;
static uint64_t* nowhere; /* counts that are no line's */

/* What mremap() has moved away: the unmapping that follows finds no pages there. */
static struct {
   Addr start, end;
} moved_away;

static TgFlushPoint* told;

void tg_flushes_tell(TgFlushPoint* f)
{
   told = f;
}

/* --- Flushes --- */

/* Pages of [start, end); `bytes`: of the kernel's range, if that is longer. */
static void flush(TgSite* site, Addr start, Addr end, ULong bytes)
{
   const Bool is_counted = site != NULL && tg_costs_are_kept && tg_instrumented;
   TgLine* line = is_counted ? tg_site_line(site) : NULL;
   if (told != NULL)
      told(line, start, end, bytes);
   tlb_mmus_flush(&tg_mmus, line != NULL ? tg_line_misses(line, TLB_LOAD) : nowhere, start, end,
                  bytes);
}

/* Behind the first frame of a program there are words of its arguments. */
static Bool is_code(Addr ip)
{
   return VG_(am_is_valid_for_client)(ip, 1, VKI_PROT_EXEC);
}

static Bool has_line(DiEpoch epoch, Addr ip)
{
   UInt line;
   return VG_(get_linenum)(epoch, ip, &line);
}

/* What the flush is booked on: the innermost call from outside the library that makes the system
   call, if possible one with a line. A static program has no library: there the innermost call with
   a line, if what makes the system call has none. Without such a call, the system call itself. */
static TgSite* caller(ThreadId tid)
{
   enum { MAX_FRAMES = 32 };
   Addr ip[MAX_FRAMES];
   const UInt n = VG_(get_StackTrace)(tid, ip, MAX_FRAMES, NULL, NULL, 0);
   const DiEpoch epoch = VG_(current_DiEpoch)();
   const DebugInfo* library = n == 0 ? NULL : VG_(find_DebugInfo)(epoch, ip[0] - 1);
   Int without_line = -1, inside = -1;
   for (UInt i = 1; i < n; i++) {
      if (!is_code(ip[i]))
         continue;
      const Bool is_outside = VG_(find_DebugInfo)(epoch, ip[i]) != library;
      if (!has_line(epoch, ip[i])) {
         if (is_outside && without_line < 0)
            without_line = (Int)i;
      } else if (is_outside) {
         return tg_site_of_call(ip[i]);
      } else if (inside < 0) {
         inside = (Int)i;
      }
   }
   if (without_line >= 0)
      return tg_site_of_call(ip[without_line]);
   if (inside >= 0 && !has_line(epoch, ip[0] - 1))
      return tg_site_of_call(ip[inside]);
   return tg_site_of_syscall(tid);
}

static void flush_in_call(Addr start, Addr end, ULong bytes)
{
   TgSite* site = caller(VG_(get_running_tid)());
   flush(site, start, end, bytes);
   tg_site_release(site);
}

/* The pages of [start, end) that the change concerns, from the first to the last. False: none. */
static Bool concerned(Addr start, Addr end, Int prot, Addr* from, Addr* to)
{
   const tlb_layout* layout = tg_maps_layout();
   tlb_mapping piece;
   Bool any = False;
   for (ULong at = start; tlb_mappings_piece(&layout->here, at, end, &piece); at = piece.end) {
      const ULong native = piece.offset;
      uint64_t first, last;
      if (!tlb_fault_concerned(tg_maps_model(), native, native + (piece.end - piece.start), prot,
                               &first, &last))
         continue;
      /* The piece may begin within a page of the model. */
      const ULong here = piece.start - (native & (page_bytes - 1));
      const ULong base = native & ~(page_bytes - 1);
      if (!any)
         *from = (Addr)(here + (first - base));
      *to = (Addr)(here + (last - base));
      any = True;
   }
   return any;
}

static void flush_pages(Addr start, Addr end, Int prot)
{
   Addr from, to;
   if (concerned(start, end, prot, &from, &to))
      flush_in_call(from, to, 0);
}

/* The native addresses of what is mapped in [start, end). False: nothing is. */
static Bool natively(Addr start, Addr end, ULong* from, ULong* to)
{
   const tlb_layout* layout = tg_maps_layout();
   tlb_mapping piece;
   Bool any = False;
   for (ULong at = start; tlb_mappings_piece(&layout->here, at, end, &piece); at = piece.end) {
      /* Parts of one call that natively lie apart are none of Linux's calls. */
      if (any && piece.offset - *from != piece.start - start)
         break;
      if (!any)
         *from = piece.offset - (piece.start - start);
      *to = piece.offset + (piece.end - piece.start);
      any = True;
   }
   return any;
}

/* The pages go, and with them page tables, which lengthen the range. */
static void flush_gone(Addr start, Addr end, Bool is_unmapped)
{
   ULong native_start = 0, native_end = 0;
   Addr from = start, to = start;
   if (!natively(start, end, &native_start, &native_end))
      return;
   const ULong bytes = tlb_fault_flushed(tg_maps_model(), native_start, native_end, is_unmapped);
   if (bytes == 0)
      return;
   concerned(start, end, TLB_ALL_GO, &from, &to);
   flush_in_call(from, to, bytes);
}

/* --- Calls --- */

/* The kernel moves the entries of one page table at a time, from one table into one, and flushes
   all of the pages behind it: move_page_tables(). */
static void moves(Addr from, Addr to, SizeT length)
{
   const SizeT table = (SizeT)(page_bytes * (page_bytes / sizeof(ULong)));
   SizeT step;
   for (SizeT done = 0; done < length; done += step) {
      const SizeT left = table - ((from + done) & (table - 1));
      const SizeT room = table - ((to + done) & (table - 1));
      Addr first, last;
      step = left < room ? left : room;
      step = step < length - done ? step : length - done;
      if (concerned(from + done, from + done + step, TLB_ALL_GO, &first, &last))
         flush_in_call(from + done, from + done + step, 0);
   }
   moved_away.start = from;
   moved_away.end = from + length;
}

static void unmaps(Addr start, Addr end)
{
   if (start == moved_away.start && moved_away.end > start)
      start = end < moved_away.end ? end : moved_away.end;
   moved_away.end = moved_away.start;
   if (start < end)
      flush_gone(start, end, True);
}

static void advises(Addr start, Addr end, Int advice)
{
   switch (advice) {
   case ADVICE_DONTNEED: case ADVICE_DONTNEED_LOCKED:
      flush_gone(start, end, False);
      break;
   case ADVICE_REMOVE: case ADVICE_GUARD_INSTALL:
      flush_pages(start, end, TLB_ALL_GO);
      break;
   case ADVICE_FREE: flush_pages(start, end, TLB_ALL_FREED); break;
   case ADVICE_COLD: flush_pages(start, end, TLB_ALL_COOLED); break;
   default: break;
   }
}

/* All that is private becomes write-protected in the parent: dup_mmap(). The child begins with
   nothing. */
static void forks(Bool is_child)
{
   if (tg_forks_in_one_space())
      return;
   if (is_child)
      flush(NULL, 0, 0, 0);
   else
      flush_in_call(0, 0, 0);
}

static void listen(void* opaque, const TgSpaceEvent* e)
{
   const Addr end = e->start + (Addr)e->length;
   (void)opaque;
   if (!tg_maps_begun())
      return;
   switch (e->what) {
   case TG_SPACE_UNMAP: unmaps(e->start, end); break;
   case TG_SPACE_MOVE: moves(e->from, e->start, (SizeT)e->length); break;
   case TG_SPACE_PROTECT: flush_pages(e->start, end, (Int)e->prot); break;
   case TG_SPACE_ADVISE: advises(e->start, end, e->advice); break;
   case TG_SPACE_FORK: forks((e->flags & TG_SPACE_CHILD) != 0); break;
   case TG_SPACE_MAP: case TG_SPACE_GROW: case TG_SPACE_RENAME: case TG_SPACE_LOCK:
   case TG_SPACE_UNLOCK:
      break;
   }
}

/* Pages that become clean are flushed one by one. */
static void file_pages(Addr start, Addr end, Bool are_gone)
{
   if (are_gone)
      flush_pages(start, end, TLB_ALL_GO);
   else
      flush_in_call(start, end, 0);
}

/* --- Copies on write --- */

void tg_flushes_copied(TgSite* site, Addr a, Bool breaks)
{
   const Addr page = a & ~(Addr)(page_bytes - 1);
   if (!on)
      return;
   if (breaks) {
      const Addr huge = (Addr)(page_bytes * (page_bytes / sizeof(ULong)));
      const Addr start = page & ~(huge - 1);
      flush(site, start, start + huge, 0);
   }
   flush(site, page, page + (Addr)page_bytes, 0);
}

void tg_flushes_init(UInt page_shift)
{
   on = True;
   page_bytes = 1ULL << page_shift;
   nowhere = VG_(calloc)("tg.flushes", tlb_mmus_n_counts(&tg_mmus), sizeof *nowhere);
   tg_aspace_listen(listen, NULL);
   tg_mapped_files_listen(file_pages);
}
