/* Room for the program's break. See native/break_room.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_vki.h"

#include "native/break_room.h"
#include "native/placement.h"

/* The core's, without a header for tools: where the break begins and is, how large the
   program's data may be, memory for the program, and ranges that nothing else is mapped to. */
extern Addr VG_(brk_base);
extern Addr VG_(brk_limit);
extern struct vki_rlimit VG_(client_rlimit_data);
extern Bool VG_(am_create_reservation)(Addr start, SizeT length, ShrinkMode smode,
                                       SSizeT extra);
extern SysRes VG_(am_mmap_anon_fixed_client)(Addr start, SizeT length, UInt prot);
extern SysRes VG_(am_munmap_client)(Bool* need_discard, Addr start, SizeT length);

/* Less than natively, so that there is room for what mmap() places; with 32 bits, as much
   as Valgrind's own layout has behind most programs. */
static const ULong most = VG_WORDSIZE == 8 ? 8ULL << 30 : 128ULL << 20;

static Bool overflowed;
static ULong bytes_then;

/* The page that the core has mapped for the break, and the room that it has reserved behind:
   [*start, *end). */
static Bool find_room(Addr* start, Addr* end)
{
   const NSegment* page = VG_(am_find_nsegment)(VG_(brk_limit));
   const NSegment* room = page == NULL ? NULL : VG_(am_find_nsegment)(page->end + 1);
   if (room == NULL || room->kind != SkResvn || room->smode != SmLower)
      return False;
   *start = VG_PGROUNDUP(VG_(brk_base));
   *end = room->end + 1;
   return *start + VKI_PAGE_SIZE == room->start;
}

/* The break begins at `at`, and can grow up to `end`. */
static Bool put(Addr at, Addr end)
{
   Bool discard; /* nothing has been translated there */
   if (!VG_(am_create_reservation)(at + VKI_PAGE_SIZE, end - at - VKI_PAGE_SIZE, SmLower,
                                   VKI_PAGE_SIZE))
      return False;
   if (sr_isError(VG_(am_mmap_anon_fixed_client)(
          at, VKI_PAGE_SIZE, VKI_PROT_READ | VKI_PROT_WRITE | VKI_PROT_EXEC))) {
      VG_(am_munmap_client)(&discard, at + VKI_PAGE_SIZE, end - at - VKI_PAGE_SIZE);
      return False;
   }
   VG_(brk_base) = at;
   VG_(brk_limit) = at;
   return True;
}

/* The largest room that there is at that place, but none below `least` bytes. */
static Bool put_largest(Addr at, ULong bytes, ULong least)
{
   const ULong step = bytes / 64;
   for (; bytes >= least; bytes -= step) {
      if (put(at, at + (Addr)VG_PGROUNDDN(bytes)))
         return True;
   }
   return False;
}

void tg_break_room_make(ULong native)
{
   Addr old, old_end;
   Bool discard;
   const ULong allowed = VG_(client_rlimit_data).rlim_cur;
   const ULong wanted = allowed < most ? VG_PGROUNDDN(allowed) : most;
   if (VG_(brk_limit) != VG_(brk_base) || !find_room(&old, &old_end))
      return;
   const ULong had = old_end - old;
   /* It begins at a page, if not there, then here. */
   VG_(brk_base) = old;
   VG_(brk_limit) = old;
   if (wanted < had || sr_isError(VG_(am_munmap_client)(&discard, old, old_end - old)))
      return;
   const Addr at = tg_placement_break_here(native);
   if (at != 0 && put_largest(at, wanted, had))
      return;
   const Bool is_there = put_largest(old, wanted, had) || put(old, old_end);
   tl_assert(is_there);
}

void tg_break_room_called(Addr asked, Addr result)
{
   const ULong bytes = asked - VG_(brk_base);
   if (asked <= result || bytes > VG_(client_rlimit_data).rlim_cur)
      return;
   overflowed = True;
   bytes_then = result - VG_(brk_base);
}

Bool tg_break_room_overflowed(ULong* bytes)
{
   *bytes = bytes_then;
   return overflowed;
}
