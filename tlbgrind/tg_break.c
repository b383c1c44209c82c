/* Room for the program's break. See tg_break.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_vki.h"

#include "tg_break.h"

/* The core's, without a header for tools: where the break is, how large the program's
   data may be, and ranges that nothing else is mapped to. */
extern Addr VG_(brk_limit);
extern struct vki_rlimit VG_(client_rlimit_data);
extern Bool VG_(am_create_reservation)(Addr start, SizeT length, ShrinkMode smode,
                                       SSizeT extra);
extern SysRes VG_(am_munmap_client)(Bool* need_discard, Addr start, SizeT length);

/* What is mapped behind is moved by a multiple of what Valgrind leaves, so that it goes to
   the same sets of nearly all TLBs. */
enum { STEP = 8 << 20 };
enum { MOST = VG_WORDSIZE == 8 ? 1 << 30 : 128 << 20 };

static Bool reserve(Addr start, Addr end)
{
   return VG_(am_create_reservation)(start, end - start, SmLower, 0);
}

void tg_break_make_room(void)
{
   /* The core has mapped a page; behind it is what it has reserved. */
   const NSegment* page = VG_(am_find_nsegment)(VG_(brk_limit));
   const NSegment* s = page == NULL ? NULL : VG_(am_find_nsegment)(page->end + 1);
   if (s == NULL || s->kind != SkResvn || s->smode != SmLower)
      return;
   const Addr first = page->start, start = s->start, old_end = s->end + 1;
   const UWord allowed = VG_(client_rlimit_data).rlim_cur;
   Addr end = first + (allowed < MOST ? VG_ROUNDDN(allowed, STEP) : MOST);
   Bool discard; /* nothing has been translated there */
   if (end <= old_end || sr_isError(VG_(am_munmap_client)(&discard, start, old_end - start)))
      return;
   while (end > old_end && !reserve(start, end))
      end -= STEP;
   if (end <= old_end) {
      const Bool as_before = reserve(start, old_end);
      tl_assert(as_before);
   }
}
