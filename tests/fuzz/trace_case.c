/* An input as a trace of another program. See trace_case.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "trace_case.h"

#include "fuzz.h"

static void check(const TgTraceRef *ref)
{
   if (ref->user >= TLB_N_USERS || ref->size == 0
       || ref->address + (ref->size - 1) < ref->address || (ref->modifies && ref->user != TLB_LOAD))
      fuzz_fail("a reference that can not be");
}

void fuzz_trace(const TgTraceFormat *format, const char *data, size_t size)
{
   static TgTrace trace;
   fuzz_stream in = { data, data + size };
   TgTraceFound found;
   tg_trace_begin(&trace, format, fuzz_get, &in);
   while ((found = tg_trace_next(&trace)) == TG_TRACE_MORE) {
      if (trace.n > TG_TRACE_REFS)
         fuzz_fail("more references than there is room for");
      for (unsigned i = 0; i < trace.n; i++)
         check(&trace.ref[i]);
   }
   if (found == TG_TRACE_DAMAGED)
      fuzz_check_reason(trace.why, sizeof trace.why);
   if (found == TG_TRACE_END && (in.at != in.end || trace.at != trace.end))
      fuzz_fail("the end is not the end");
   if (trace.page_shift != 0
       && (trace.page_shift < TLB_MIN_PAGE_SHIFT || trace.page_shift > TLB_MAX_PAGE_SHIFT))
      fuzz_fail("a page size that can not be");
}
