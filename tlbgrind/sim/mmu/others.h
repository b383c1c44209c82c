/* Others on the core: where their pages are.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_OTHERS_H
#define TLB_OTHERS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/tlb/key.h"

/* In the kernel's half of the address space, where the program has none. */
#define TLB_OTHERS (UINT64_C(1) << 63)

static inline bool tlb_is_others(tlb_key key)
{
   return (tlb_key_page(key) << tlb_key_shift(key) & TLB_OTHERS) != 0;
}

#endif
