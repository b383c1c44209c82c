/* Applies mremap() to the maps and the fault model.

   Memory that grows in place natively may move under Valgrind, and the reverse; both cases are
   translated. */

#ifndef TG_MREMAP_CALLS_H
#define TG_MREMAP_CALLS_H

#include "pub_tool_basics.h"

/* To be called after mremap() has returned `a`. Lengths in bytes, not rounded to pages; `flags`:
   the program's own. */
void tg_mremap_calls_done(Addr old, SizeT old_len, SizeT len, UWord flags, Addr a);

#endif
