/* Keys: what an entry of a translation array is found by.

   A key is the number of a page (its address divided by its size), the page's size, so
   that pages of two sizes differ, and the context, the address space it belongs to.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_KEY_H
#define TLB_KEY_H

#include "sim/base/api.h"
#include "sim/machine/geometry.h"

TLB_API_BEGIN

typedef uint64_t tlb_key;

enum {
   TLB_KEY_PAGE_BITS = 52,
   TLB_KEY_SIZE_BITS = 5,
   TLB_MAX_CONTEXT = (1 << 7) - 2
};

/* No page of any context has this key. */
#define TLB_NO_KEY UINT64_MAX

/* `page`: below 2^52; `page_shift`: log2 of the page's size, TLB_MIN_PAGE_SHIFT and up to 31
   more; `context`: up to TLB_MAX_CONTEXT. */
static inline tlb_key tlb_key_of(uint64_t page, unsigned page_shift,
                                 uint32_t context)
{
   return page
          | (uint64_t)(page_shift - TLB_MIN_PAGE_SHIFT) << TLB_KEY_PAGE_BITS
          | (uint64_t)context << (TLB_KEY_PAGE_BITS + TLB_KEY_SIZE_BITS);
}

static inline uint64_t tlb_key_page(tlb_key key)
{
   return key & ((UINT64_C(1) << TLB_KEY_PAGE_BITS) - 1);
}

static inline unsigned tlb_key_shift(tlb_key key)
{
   return TLB_MIN_PAGE_SHIFT
          + (unsigned)(key >> TLB_KEY_PAGE_BITS & ((1 << TLB_KEY_SIZE_BITS) - 1));
}

static inline uint32_t tlb_key_context(tlb_key key)
{
   return (uint32_t)(key >> (TLB_KEY_PAGE_BITS + TLB_KEY_SIZE_BITS));
}

/* --- The set of a page --- */

/* Sets are chosen by the page number alone: contexts share the sets. Where the number of
   sets is a power of two, and the index plain, the mask is that number less 1. */
#define TLB_NO_MASK UINT32_MAX

static inline uint32_t tlb_set_mask(uint32_t sets, uint32_t index_xor)
{
   return (sets & (sets - 1)) == 0 && index_xor == 0 ? sets - 1 : TLB_NO_MASK;
}

/* `index_xor` as in a geometry; where it is not 0 there is no mask. */
static inline uint32_t tlb_set_of(uint64_t page, uint32_t sets, uint32_t mask,
                                  uint32_t index_xor)
{
   if (mask != TLB_NO_MASK)
      return (uint32_t)page & mask;
   if (index_xor != 0)
      return (uint32_t)(page ^ page >> index_xor) & (sets - 1);
   return (uint32_t)(page % sets);
}

TLB_API_END

#endif
