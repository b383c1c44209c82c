/* Makes room for the program's break to grow.

   Valgrind lets the break grow by 8 MiB, and only up to what it has put behind the program.
   A larger heap goes on elsewhere, in pieces of 1 MiB: none of them can be in huge pages,
   and other pages are touched than natively. */

#ifndef TG_BREAK_ROOM_H
#define TG_BREAK_ROOM_H

#include "pub_tool_basics.h"

/* Puts the break where it begins natively, as far as there is such a place here, with room to
   grow. The program has not run yet. */
void tg_break_room_make(ULong native);

/* A call of brk() has returned `result`: notes that there was no room for `asked`, where
   the kernel would have had some. */
void tg_break_room_called(Addr asked, Addr result);

/* Whether the heap once could not grow, and how large it was then. */
Bool tg_break_room_overflowed(ULong* bytes);

#endif
