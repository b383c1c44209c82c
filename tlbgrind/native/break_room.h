/* Makes room for the program's break to grow.

   Valgrind lets the break grow by 8 MiB, and only up to what it has mapped above the program.
   The C library continues a larger heap with mmap(), in pieces of 1 MiB: none of them can be in
   huge pages, and other pages are touched than natively. */

#ifndef TG_BREAK_ROOM_H
#define TG_BREAK_ROOM_H

#include "pub_tool_basics.h"

/* Moves the break to its native begin, `native`, and reserves room above it; where that place is
   not free here, reserves room at the old place. To be called before the first instruction. */
void tg_break_room_make(ULong native);

/* To be called after brk(requested) has returned `result`: notes an overflow if that failed within
   the limit of the data segment (RLIMIT_DATA), where the kernel would have had room. */
void tg_break_room_called(Addr requested, Addr result);

/* Whether a call of brk() has overflowed the room; `bytes`: the heap's size at that moment. */
Bool tg_break_room_overflowed(ULong* bytes);

#endif
