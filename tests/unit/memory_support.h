/* A tlb_memory that is full of rubbish and counts what is not given back.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef MEMORY_SUPPORT_H
#define MEMORY_SUPPORT_H

#include "unit.h"

#include "sim/pages/mappings.h"

/* How many pieces have been taken and not given back. */
static size_t given;

static inline void *take(size_t bytes, void *opaque)
{
   (void)opaque;
   assert_true(bytes > 0);
   void *const got = malloc(bytes);
   assert_non_null(got);
   memset(got, 0xA5, bytes);
   given++;
   return got;
}

static inline void give(void *memory, void *opaque)
{
   (void)opaque;
   assert_non_null(memory);
   given--;
   free(memory);
}

static const tlb_memory memory = { take, give, NULL };

#endif
