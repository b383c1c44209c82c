/* Memory that grows while the simulator runs.

   The caller gives it, for there is no libc here.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_MEMORY_H
#define TLB_MEMORY_H

#include <stddef.h>

#include "sim/base/api.h"

TLB_API_BEGIN

typedef struct {
   /* At least `bytes` bytes (never 0), aligned for uint64_t, with any
      contents; or NULL if there is no more. */
   void *(*take)(size_t bytes, void *opaque);
   /* Takes back what take() gave. */
   void (*give)(void *memory, void *opaque);
   void *opaque;
} tlb_memory;

TLB_API_END

#endif
