/* Computes where the kernel would place memory, and where that is under Valgrind.

   Pure questions to the maps (native/maps.h): nothing is changed here. Addresses are either
   native ones (ULong `native`) or those of this process (Addr, "here"). */

#ifndef TG_PLACEMENT_H
#define TG_PLACEMENT_H

#include "pub_tool_basics.h"

#include "sim/faults/layout.h"
#include "sim/pages/mappings.h"

/* Where what lies natively at `native` is put here: the same address without its highest
   bits, which Valgrind has no room for. */
Addr tg_placement_here(ULong native);

/* Whether Valgrind keeps free of its own memory what is put at `a` and behind it. */
Bool tg_placement_has_room(Addr a);

/* Where the break is put that begins natively at `native`; 0: there is no such place. */
Addr tg_placement_break_here(ULong native);

/* Whether nothing lies in `len` bytes at `native`. */
Bool tg_placement_is_free(ULong native, SizeT len);

/* The native address that the program means with the hint of an mmap(): most likely it was
   computed from the address of a mapping that it continues (the C library does so for the
   arenas of threads) or lies near. */
ULong tg_placement_of_hint(Addr hint, SizeT len);

/* Whether the kernel would put `len` bytes where mmap() is asked to. */
Bool tg_placement_takes_hint(Addr hint, SizeT len);

/* The kind of placement that mmap() chooses for a file. */
tlb_placed tg_placement_of_file(Int fd);

/* The same for a mapping; `hinted`: mmap() got an address with it. */
tlb_placed tg_placement_kind(const tlb_mapping* v, Bool hinted);

/* Whether a mapping that mremap() takes from `from` to its end has free room behind it. */
Bool tg_placement_grows_in_place(const tlb_mapping* found, ULong from, SizeT old_len, SizeT len);

/* Where mremap() moves `len` bytes of such memory to; `offset`: in its file. */
ULong tg_placement_of_move(const tlb_mapping* v, ULong offset, SizeT len);

/* Where memory goes that mremap() makes `len` bytes long, wherever there is room; 0: it
   stays where it is. Lengths are of whole pages. */
ULong tg_placement_moves_to(Addr old, SizeT old_len, SizeT len);

#endif
