/* Passes Valgrind's allocator to the simulator. See base/memory.h. */

#include "pub_tool_basics.h"

#include "pub_tool_mallocfree.h"

#include "base/memory.h"

static void* take(size_t bytes, void* name)
{
   return VG_(malloc)(name, bytes);
}

static void give(void* memory, void* name)
{
   (void)name;
   VG_(free)(memory);
}

tlb_memory tg_memory(const char* name)
{
   return (tlb_memory){ take, give, (void*)(Addr)name };
}
