/* The MMUs of the run, of which the tool has one set: sim/mmu, with its nearest page
   records at a fixed place. */

#ifndef TG_RUN_MMUS_H
#define TG_RUN_MMUS_H

#include "pub_tool_basics.h"

#include "sim/mmu/known_hits.h"
#include "sim/mmu/mmu_data.h"

extern tlb_mmus tg_mmus;

/* Most runs have pages of 4K, so the common cases are written for these. */
enum { TG_4K_SHIFT = 12 };

/* Room for the records of 4 GiB of small pages, stack and heap among them (1 GiB with 32
   bits). What is not used costs no memory. */
#if VG_WORDSIZE == 8
enum { TG_NEAR_PAGES = 1 << 20 };
#else
enum { TG_NEAR_PAGES = 1 << 18 };
#endif

extern tlb_page_record tg_near[TG_NEAR_PAGES];

/* The record that `a` has, if it is near; else some other whose tags `a` does not
   match. */
static inline tlb_page* tg_near_page(Addr a, UInt shift)
{
   return &tg_near[(a >> shift) & (TG_NEAR_PAGES - 1)].page;
}

/* The same in another address space, whose records are near so far behind those of the first. */
static inline tlb_page* tg_near_page_behind(Addr a, UInt shift, UWord spread)
{
   return &tg_near[((a >> shift) + spread) & (TG_NEAR_PAGES - 1)].page;
}

#endif
