/* Applies mremap() to the maps. See native/mremap_calls.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_vki.h"

#include "native/maps.h"
#include "native/mremap_calls.h"
#include "native/placement.h"

/* linux/mman.h */
enum { REMAP_DONTUNMAP = 4 };

/* The native address of memory at `a` that the program has mapped to move other memory over it;
   0: nothing is mapped there, or it is the heap's room. */
static ULong set_aside(Addr a, SizeT len)
{
   const tlb_mapping* piece = tlb_layout_find(tg_maps_layout(), a);
   if (piece == NULL || piece->end - a < len)
      return 0;
   const ULong native = piece->offset + (a - piece->start);
   return tlb_mappings_find(&tg_maps_model()->maps, native) != NULL ? native : 0;
}

void tg_mremap_calls_done(Addr old, SizeT old_len, SizeT len, UWord flags, Addr a)
{
   UInt old_number;
   ULong from;
   old_len = VG_PGROUNDUP(old_len);
   len = VG_PGROUNDUP(len);
   if (tg_maps_find(old, &old_number, &from) == NULL)
      return;
   const tlb_mapping* found = tlb_mappings_find(&tg_maps_model()->maps, from);
   if (found == NULL)
      return;
   const Bool in_place = tg_placement_grows_in_place(found, from, old_len, len);
   tlb_mapping v = *found;
   v.offset += from - v.start;
   const Bool keep = (flags & REMAP_DONTUNMAP) != 0 || old_len == 0;
   const SizeT moves = len < old_len ? len : old_len;

   if (a == old && len <= old_len) {
      tg_maps_unmap(a + len, old_len - len);
      return;
   }
   const ULong room = a == old ? 0 : set_aside(a, len);
   if (a != old)
      tg_maps_unmap(a, len);
   ULong to;
   if ((flags & VKI_MREMAP_FIXED) != 0)
      to = room != 0                      ? room
           : tg_placement_is_free(a, len) ? a
                                         : tg_placement_of_move(&v, v.offset, len);
   else
      to = !keep && in_place ? from : tg_placement_of_move(&v, v.offset, len);
   to = tg_maps_model_address(a, to);
   if (len < old_len)
      tg_maps_unmap(old + len, old_len - len);
   if (to != from && moves != 0)
      tlb_fault_move(tg_maps_model(), from, to, moves, keep);
   if (len > moves) {
      v.offset += moves;
      v.start = to + moves;
      v.end = to + len;
      tlb_fault_map(tg_maps_model(), &v);
   }
   if (!keep)
      tlb_layout_remove(tg_maps_layout(), old, old + old_len);
   tlb_layout_freed(tg_maps_layout());
   const UInt number = tg_maps_copy(old_number);
   if (tg_maps_records()) {
      TgMap* moved = tg_maps_edit(number);
      moved->offset += old - moved->start;
      moved->start = a;
      moved->end = a + len;
      moved->native = to;
   }
   tlb_layout_add(tg_maps_layout(), a, a + len, to, number);
   tg_maps_moved(old, a, moves, old_number, number);
   if (len > moves)
      tg_maps_lock(a + moves, len - moves, &v);
   tg_maps_forget(old, old_len);
   tg_maps_forget(a, len);
}
