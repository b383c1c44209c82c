/* Pages that all copies of the program have in common: --shared-context=yes. */

#ifndef TG_SHARED_CONTEXT_H
#define TG_SHARED_CONTEXT_H

#include "pub_tool_basics.h"

#include "options/options.h"
#include "sim/mmu/known_hits.h"

void tg_shared_context_init(const TgOptions* options);

extern Bool tg_shared_context_on;

tlb_page_number tg_shared_context_find(tlb_page_number number);

/* The number under which a copy's page is simulated: that of the program's page where all of them
   have the same memory. */
static inline tlb_page_number tg_shared_context_page(tlb_page_number number)
{
   return UNLIKELY(tg_shared_context_on) ? tg_shared_context_find(number) : number;
}

#endif
