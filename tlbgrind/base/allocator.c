/* Passes Valgrind's allocator to the simulator. See base/allocator.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_mallocfree.h"

#include "base/allocator.h"
#include "base/valgrind_versions.h"

static void* take(size_t bytes, void* name)
{
   return VG_(malloc)(name, bytes);
}

static void give(void* memory, void* name)
{
   (void)name;
   VG_(free)(memory);
}

void* tg_zero_pages(SizeT bytes)
{
   void* pages = TG_SHADOW_ADDRESS(VG_(am_shadow_alloc)(bytes));
   if (pages == NULL)
      VG_(tool_panic)("out of address space");
   return pages;
}

tlb_memory tg_memory(const char* name)
{
   return (tlb_memory){ take, give, (void*)(Addr)name };
}
