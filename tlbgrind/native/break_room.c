/* Reserves room above the program's break. See native/break_room.h. */

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
   as Valgrind's own layout has above most programs. */
static const ULong most = VG_WORDSIZE == 8 ? 8ULL << 30 : 128ULL << 20;

static Bool overflowed;
static ULong bytes_then;

/* The page that the core has mapped for the break, and the room that it has reserved above:
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

/* Maps the break's first page at `at` and reserves the rest up to `end`. */
static Bool put(Addr at, Addr end)
{
   Bool discard; /* nothing has been translated there */
   if (!VG_(am_create_reservation)(at + VKI_PAGE_SIZE, end - at - VKI_PAGE_SIZE, SmLower,
                                   (SSizeT)VKI_PAGE_SIZE))
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

/* Reserves the largest room at `at` between `least` and `bytes` bytes. False: there is none. */
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
   const ULong room = allowed < most ? VG_PGROUNDDN(allowed) : most;
   if (VG_(brk_limit) != VG_(brk_base) || !find_room(&old, &old_end))
      return;
   const ULong old_room = old_end - old;
   /* As the kernel does, the break begins at a page, wherever its room will be. */
   VG_(brk_base) = old;
   VG_(brk_limit) = old;
   if (room < old_room || sr_isError(VG_(am_munmap_client)(&discard, old, old_end - old)))
      return;
   const Addr at = tg_placement_break_here(native);
   if (at != 0 && put_largest(at, room, old_room))
      return;
   /* A reservation needs a free page behind it, and above the old room there may be memory. */
   const Bool is_there = put_largest(old, room, old_room) || put(old, old_end)
                         || put(old, old_end - VKI_PAGE_SIZE);
   tl_assert(is_there);
}

void tg_break_room_called(Addr requested, Addr result)
{
   const ULong bytes = requested - VG_(brk_base);
   if (requested <= result || bytes > VG_(client_rlimit_data).rlim_cur)
      return;
   overflowed = True;
   bytes_then = result - VG_(brk_base);
}

Bool tg_break_room_overflowed(ULong* bytes)
{
   *bytes = bytes_then;
   return overflowed;
}
