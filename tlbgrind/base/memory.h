/* Valgrind's allocator as the simulator's tlb_memory. */

#ifndef TG_MEMORY_H
#define TG_MEMORY_H

#include "sim/base/memory.h"

/* Memory from Valgrind, which ends the run if there is none left. `name`: a cost centre for
   --profile-heap=yes; the pointer is kept. */
tlb_memory tg_memory(const char* name);

#endif
