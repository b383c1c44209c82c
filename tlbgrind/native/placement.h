/* Computes where the kernel would place memory, and where that is under Valgrind.

   All functions are lookups in the maps (native/maps.h) and change nothing. Addresses are either
   native (ULong `native`) or of this process (Addr, "here"). */

#ifndef TG_PLACEMENT_H
#define TG_PLACEMENT_H

#include "pub_tool_basics.h"

#include "sim/faults/layout.h"
#include "sim/pages/mappings.h"

/* The address here for the native address: the same without its highest bits, which are beyond
   Valgrind's address range. */
Addr tg_placement_here(ULong native);

/* Whether `a` and the addresses above are kept free of Valgrind's own memory. */
Bool tg_placement_has_room(Addr a);

/* The address here for a break that begins natively at `native`; 0: there is none. */
Addr tg_placement_break_here(ULong native);

/* Whether the `len` bytes at `native` are unmapped. */
Bool tg_placement_is_free(ULong native, SizeT len);

/* The native address for the hint of an mmap(). The hint is taken as relative to a mapping that
   it continues or that is near: the C library computes it so for the arenas of threads. */
ULong tg_placement_of_hint(Addr hint, SizeT len);

/* Whether the kernel would map `len` bytes at the hint of an mmap(). */
Bool tg_placement_takes_hint(Addr hint, SizeT len);

/* The kind of placement that mmap() chooses for a file. */
tlb_placed tg_placement_of_file(Int fd);

/* The same for a mapping; `hinted`: mmap() got an address with it. */
tlb_placed tg_placement_kind(const tlb_mapping* v, Bool hinted);

/* Whether the mapping, of which mremap() takes `from` to the end, can grow in place. */
Bool tg_placement_grows_in_place(const tlb_mapping* found, ULong from, SizeT old_len, SizeT len);

/* The native address to which mremap() moves `len` bytes of the mapping; `offset`: in its file. */
ULong tg_placement_of_move(const tlb_mapping* v, ULong offset, SizeT len);

/* The native address to which an mremap() with MREMAP_MAYMOVE to `len` bytes moves the memory;
   0: it stays in place. Lengths are whole pages. */
ULong tg_placement_moves_to(Addr old, SizeT old_len, SizeT len);

#endif
