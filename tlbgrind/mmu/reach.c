/* Reach: what fully associative TLBs of all sizes would miss. See mmu/reach.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_mallocfree.h"

#include "mmu/mmu.h"
#include "base/memory.h"
#include "mmu/reach.h"

static tlb_reach* reach[TG_REACH_SIDES];
static Bool fast_path;
static UInt number_shift; /* from numbers of base pages to those of 4K pages */

/* A page is told of by the address of its time. */
static TgPage* page_of_time(const uint64_t* time)
{
   return (TgPage*)((Addr)time - offsetof(TgPage, time));
}

static void want(uint64_t* time, void* opaque)
{
   const Bool is_code = opaque == &reach[TG_REACH_CODE];
   tg_page_observe(is_code ? TG_CODE : TG_DATA, page_of_time(time), True, True,
                  TG_OBSERVER_REACH);
}

void tg_reach_init(const TgOptions* options)
{
   fast_path = options->fast_path;
   number_shift = options->page_shift - TLB_REACH_PAGE_SHIFT;
   for (UInt side = 0; side < TG_REACH_SIDES; side++) {
      reach[side] = VG_(malloc)("tg.reach", sizeof *reach[side]);
      tlb_reach_init(reach[side], tg_memory("tg.reach"), want, &reach[side]);
   }
   if (tg_run_traits.split)
      reach[TG_REACH_DATA]->second_time = TG_SECOND_TIME;
}

void tg_reach_refer(TgTable table, TgPage* p, UWord number, ULong now)
{
   tlb_reach* r = reach[table == TG_CODE ? TG_REACH_CODE : TG_REACH_DATA];
   tlb_reach_reference(r, (uint64_t)number << number_shift, now,
                       fast_path ? &p->time : NULL);
   if (fast_path) {
      tg_rest(p)->observers &= ~TG_OBSERVER_REACH;
      tg_rest(p)->write_observers &= ~TG_OBSERVER_REACH;
   }
}

void tg_reach_zero(void)
{
   for (UInt side = 0; side < TG_REACH_SIDES; side++)
      tlb_reach_zero(reach[side]);
}

const tlb_reach* tg_reach_of(TgReachSide side)
{
   /* Valgrind ends the run when memory runs out. */
   tl_assert(!tlb_reach_failed(reach[side]));
   return reach[side];
}
