/* What Valgrind leaves out of a program's line table.

   Valgrind has lines for the section .text only, and of the rows with one address only the last.
   Where a function begins with inlined code, its own row is one before. */

#ifndef TG_DEBUG_LINES_H
#define TG_DEBUG_LINES_H

#include "pub_tool_basics.h"

#include "pub_tool_debuginfo.h"

/* The file, interned, and the line of the object's code at `a`, which is not in .text. NULL: the
   debug information has none. */
const HChar* tg_debug_lines_at(const DebugInfo* object, Addr a, UInt* number);

/* The file, interned, of the function of the object that begins at `a`. NULL: it is that of the
   instruction at `a`. */
const HChar* tg_debug_lines_file(const DebugInfo* object, Addr a);

#endif
