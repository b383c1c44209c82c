/* Memory from Valgrind: its allocator as the simulator's tlb_memory, and zeroed pages. */

#ifndef TG_ALLOCATOR_H
#define TG_ALLOCATOR_H

#include "pub_tool_basics.h"

#include "sim/base/memory.h"

/* Memory from Valgrind, which ends the run if there is none left. `name`: a cost centre for
   --profile-heap=yes; the pointer is kept. */
tlb_memory tg_memory(const char* name);

/* Zeroed pages that take no memory until they are written to; never freed. Ends the run if there
   is no address space left for them. */
void* tg_zero_pages(SizeT bytes);

#endif
