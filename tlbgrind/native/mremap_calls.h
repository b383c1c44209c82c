/* Follows mremap() in the maps.

   Memory that grows in place natively need not do so here, and the other way round. */

#ifndef TG_MREMAP_CALLS_H
#define TG_MREMAP_CALLS_H

#include "pub_tool_basics.h"

/* A call has returned `a`. Lengths in bytes, not rounded; `flags` as the program gave them. */
void tg_mremap_calls_done(Addr old, SizeT old_len, SizeT len, UWord flags, Addr a);

#endif
