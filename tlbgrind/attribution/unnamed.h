/* Functions without symbols: where they begin, by the table that unwinding uses.

   A program whose symbols are stripped still has .eh_frame_hdr, a sorted table of its functions'
   first instructions. It is read from the file, once for each object. */

#ifndef TG_UNNAMED_H
#define TG_UNNAMED_H

#include "pub_tool_basics.h"

#include "pub_tool_debuginfo.h"

/* The first address of the function that has the instruction at `a`, which is the object's code;
   0: the table has none. */
Addr tg_unnamed_function(const DebugInfo* object, Addr a);

#endif
