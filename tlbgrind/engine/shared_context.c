/* Pages that all copies have in common. See engine/shared_context.h. */

#include "pub_tool_basics.h"

#include "engine/shared_context.h"
#include "space/aspace.h"
#include "trace/run_mmus.h"

Bool tg_shared_context_on;

void tg_shared_context_init(const TgOptions* options)
{
   tg_shared_context_on = options->kernel.copies > 1 && options->kernel.shared_context;
}

/* What a file has there, which none of them may change, or which all of them change. */
static Bool is_same_for_all(Addr address)
{
   const tlb_mapping* m = tlb_mappings_find(&tg_aspace_map()->mappings, address);
   return m != NULL && m->inode != 0
          && ((m->flags & TLB_MAP_SHARED) != 0 || (m->prot & TLB_MAY_WRITE) == 0);
}

tlb_page_number tg_shared_context_find(tlb_page_number number)
{
   const tlb_page_number own = tlb_in_space(&tg_mmus, number);
   return own != number && is_same_for_all(own << tg_mmus.traits.page_shift) ? own : number;
}
