/* Computes the kernel's placement of memory. See native/placement.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_vki.h"

#include "arch/arch.h"
#include "base/proc_file.h"
#include "native/maps.h"
#include "native/placement.h"

/* --- Native addresses to addresses here --- */

Addr tg_placement_here(ULong native)
{
   return (Addr)(native & tg_arch.places.mask);
}

Bool tg_placement_has_room(Addr a)
{
   return tg_arch.places.mask != 0 && a >= tg_arch.places.room;
}

Addr tg_placement_break_here(ULong native)
{
   return native < tg_arch.places.room ? (Addr)(native + tg_arch.places.low_break_up)
                                       : tg_placement_here(native);
}

/* --- mmap() --- */

Bool tg_placement_is_free(ULong native, SizeT len)
{
   return !tlb_mappings_overlap(&tg_maps_model()->maps, native, native + len);
}

/* Whether the piece's addresses differ from the native ones in their highest bits only (those that
   native/mmap_wishes.c passes do), and `hint` is near them. Nothing is asked for near the break's
   room, which is far from what mmap() places: such a hint is the program's own address. */
static Bool is_near(const tlb_mapping* piece, Addr hint)
{
   const ULong far = hint < piece->start ? piece->start - hint : hint - piece->start;
   return (UInt)(piece->offset - piece->start) == 0 && far < 1ULL << 30
          && VG_(strcmp)(tg_maps_get((UInt)piece->device)->what, "heap") != 0;
}

/* Whether the byte is mapped; the break's room is not. */
static Bool is_mapped(Addr a, ULong* native)
{
   UInt number;
   return tg_maps_find(a, &number, native) != NULL
          && tlb_mappings_find(&tg_maps_model()->maps, *native) != NULL;
}

ULong tg_placement_of_hint(Addr hint, SizeT len)
{
   ULong native;
   if (is_mapped(hint - 1, &native))
      return native + 1;
   if (is_mapped(hint + len, &native))
      return native - len;
   const tlb_mappings* here = &tg_maps_layout()->here;
   const SizeT above = tlb_mappings_above(here, hint);
   const tlb_mapping* piece = NULL;
   if (above < here->count && is_near(here->at[above], hint))
      piece = here->at[above];
   else if (above > 0 && is_near(here->at[above - 1], hint))
      piece = here->at[above - 1];
   return piece == NULL ? hint : piece->offset + (hint - piece->start);
}

Bool tg_placement_takes_hint(Addr hint, SizeT len)
{
   const Addr page = VG_PGROUNDDN(hint);
   const SizeT bytes = VG_PGROUNDUP(len);
   return !tg_maps_begun() || tg_placement_is_free(tg_placement_of_hint(page, bytes), bytes);
}

tlb_placed tg_placement_kind(const tlb_mapping* v, Bool hinted)
{
   if (v->flags & TLB_MAP_HUGETLB)
      return TLB_PLACED_HUGETLB;
   /* Anonymous memory whose hint was not followed is not aligned, either. */
   if (v->inode == 0)
      return hinted ? TLB_PLACED_SHARED : TLB_PLACED_MEMORY;
   return tlb_fault_is_tmpfs(tg_maps_model(), v)
                || tg_proc_file_system(v->device).is_unaligned
             ? TLB_PLACED_SHARED : TLB_PLACED_FILE;
}

/* --- mremap() --- */

Bool tg_placement_grows_in_place(const tlb_mapping* found, ULong from, SizeT old_len, SizeT len)
{
   return found->end == from + old_len
          && (len <= old_len || tg_placement_is_free(from + old_len, len - old_len));
}

tlb_placed tg_placement_of_file(Int fd)
{
   struct vg_stat st;
   return VG_(fstat)(fd, &st) == 0 && tg_proc_file_system(st.dev).is_unaligned
             ? TLB_PLACED_SHARED : TLB_PLACED_FILE;
}

ULong tg_placement_of_move(const tlb_mapping* v, ULong offset, SizeT len)
{
   Int aligned;
   return tlb_layout_place(tg_maps_layout(), len, tg_placement_kind(v, False), offset,
                           &aligned);
}

ULong tg_placement_moves_to(Addr old, SizeT old_len, SizeT len)
{
   UInt number;
   ULong from;
   old_len = VG_PGROUNDUP(old_len);
   if (!tg_maps_begun() || old_len == 0 || len <= old_len
       || tg_maps_find(old, &number, &from) == NULL)
      return 0;
   const tlb_mapping* found = tlb_mappings_find(&tg_maps_model()->maps, from);
   if (found == NULL || tg_placement_grows_in_place(found, from, old_len, len))
      return 0;
   return tg_placement_of_move(found, found->offset + (from - found->start), len);
}
