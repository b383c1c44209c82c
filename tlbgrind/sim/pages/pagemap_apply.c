/* Changes of the page map that are made again, from what was told of them. See pagemap.h. */

#include "sim/pages/pagemap_parts.h"

void tlb_pagemap_apply(tlb_pagemap *p, const tlb_map_event *e)
{
   switch (e->what) {
   case TLB_EVENT_MAP: tlb_pagemap_map(p, e->mapping); break;
   case TLB_EVENT_UNMAP: tlb_pagemap_unmap(p, e->start, e->end); break;
   case TLB_EVENT_PROTECT: tlb_pagemap_protect(p, e->start, e->end, e->value); break;
   case TLB_EVENT_FLAG: tlb_pagemap_flag(p, e->start, e->end, e->set, e->clear); break;
   case TLB_EVENT_RENAME:
      tlb_pagemap_rename(p, e->start, e->end, (tlb_kind)e->value, e->set);
      break;
   case TLB_EVENT_ZAP: tlb_pagemap_zap(p, e->start, e->end); break;
   case TLB_EVENT_SPLIT: tlb_pagemap_split(p, e->start, e->end, e->value); break;
   case TLB_EVENT_MOVE: tlb_pagemap_move(p, e->start, e->to, e->end - e->start); break;
   case TLB_EVENT_COLLAPSE: tlb_pagemap_collapse(p, e->start, e->end); break;
   case TLB_EVENT_SHARE: tlb_pagemap_share(p); break;
   case TLB_EVENT_WRITTEN: tlb_pagemap_written(p, e->start, e->value); break;
   case TLB_EVENT_CONSENT: tlb_pagemap_consent(p, (tlb_thp_consent)e->value); break;
   case TLB_EVENT_ASK:
   case TLB_N_EVENTS: break;
   }
}
