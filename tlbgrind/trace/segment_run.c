/* The segment that was run last. See trace/segment_run.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_vki.h"

#include "trace/run_mmus.h"
#include "trace/segment_run.h"

ULong tg_clock;
ULong tg_idle_passes;
UInt tg_n_segments_noted;

const TgSegment* tg_simulated;

tlb_page* tg_segment_page[TG_MAX_GROUPS];

Bool tg_may_access(const TgShadowArea* shadow, const TgRef* r)
{
   return VG_(am_is_valid_for_client)(tg_address_of_ref(shadow, r), r->size,
                                      r->kind == TLB_STORE ? VKI_PROT_WRITE
                                                          : VKI_PROT_READ);
}

ULong tg_instructions_before(const TgRef* r)
{
   const UInt n = tg_n_instrs(tg_simulated);
   TgSite* const* instr = tg_segment_instrs(tg_simulated);
   UInt i = 0;
   while (i < n && instr[i] != r->site)
      i++;
   /* Of an instruction that began in the segment before. */
   return tg_instructions() - n + (i < n ? i : 0);
}

static Bool is_of_group(const TgRef* r, const TgGroup* g)
{
   if (r->kind == TLB_FETCH || r->base != g->base || r->at.offset - g->first > g->span)
      return False;
   return !tg_mmus.traits.split
          || (tg_group_writes(g) ? r->kind == TLB_STORE || r->modifies
                                 : r->kind == TLB_LOAD);
}

UInt tg_last_before(const TgSegment* s, const TgGroup* g, UInt nth)
{
   const TgRef* ref = tg_segment_refs(s);
   UInt i = nth - 1;
   while (i > g->oldest && !is_of_group(&ref[i], g))
      i--;
   return i;
}
