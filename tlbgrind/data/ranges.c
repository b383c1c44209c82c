/* Ranges of addresses. See data/ranges.h. */

#include "pub_tool_basics.h"

#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"

#include <stddef.h>

#include "data/ranges.h"

OSet* tg_ranges_new(const HChar* cost_centre)
{
   return VG_(OSetGen_Create)(offsetof(TgRange, end), NULL, VG_(malloc), cost_centre, VG_(free));
}

const TgRange* tg_ranges_above(OSet* ranges, Addr a)
{
   const Addr key = a + 1;
   VG_(OSetGen_ResetIterAt)(ranges, &key);
   return VG_(OSetGen_Next)(ranges);
}

const TgRange* tg_ranges_at(OSet* ranges, Addr a)
{
   const TgRange* r = tg_ranges_above(ranges, a);
   return r != NULL && r->start <= a ? r : NULL;
}

void tg_ranges_add(OSet* ranges, TgRange range)
{
   if (range.start >= range.end)
      return;
   TgRange* r = VG_(OSetGen_AllocNode)(ranges, sizeof *r);
   *r = range;
   VG_(OSetGen_Insert)(ranges, r);
}

void tg_ranges_remove(OSet* ranges, Addr start, Addr end)
{
   const TgRange* r;
   while ((r = tg_ranges_above(ranges, start)) != NULL && r->start < end) {
      TgRange below = *r, above = *r;
      below.end = start;
      above.start = end;
      VG_(OSetGen_FreeNode)(ranges, VG_(OSetGen_Remove)(ranges, &r->end));
      tg_ranges_add(ranges, below);
      tg_ranges_add(ranges, above);
   }
}
