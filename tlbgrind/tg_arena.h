/* The arena: memory that translated code reaches with a short address.

   On a 64-bit machine an absolute address costs an instruction of its own. The
   counters and the flags of code pages, which translated code touches most,
   therefore stand in one stretch of memory, and the code addresses them by a
   32-bit offset from a pointer that it holds in a register. */

#ifndef TG_ARENA_H
#define TG_ARENA_H

#include "pub_tool_basics.h"

void tg_arena_init(void);

/* Where the arena begins. */
Addr tg_arena_base(void);

/* `words` 64-bit words, zeroed. If the arena is full they come from elsewhere,
   which is slower but right: see tg_arena_holds(). */
ULong* tg_arena_alloc(UInt words);
void tg_arena_free(ULong* p, UInt words);

Bool tg_arena_holds(const void* p);

#endif
