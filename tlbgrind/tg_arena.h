/* The arena: memory that translated code reaches with a short address.

   On a 64-bit machine an address above 2 GiB takes a long instruction of its
   own. The counters and the probes of code pages, which translated code
   touches most, therefore stand in the tool's own data, which is linked below
   that. */

#ifndef TG_ARENA_H
#define TG_ARENA_H

#include "pub_tool_basics.h"

/* `words` 64-bit words, 1 or 2, zeroed. If the arena is full they come from
   elsewhere, which is slower but right. */
ULong* tg_arena_alloc(UInt words);
void tg_arena_free(ULong* p, UInt words);

#endif
