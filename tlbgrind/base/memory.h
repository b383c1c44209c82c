/* Valgrind's allocator as the simulator's tlb_memory. */

#ifndef TG_MEMORY_H
#define TG_MEMORY_H

#include "sim/base/memory.h"

/* Valgrind's allocator, which ends the run when memory runs out. `name`: a cost
   centre for --profile-heap=yes, which must stay. */
tlb_memory tg_memory(const char* name);

#endif
