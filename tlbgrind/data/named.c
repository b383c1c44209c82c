/* Named memory. See data/named.h. */

#include "pub_tool_basics.h"

#include "pub_tool_oset.h"

#include "data/named.h"
#include "data/objects.h"
#include "data/ranges.h"
#include "data/records.h"
#include "data/words.h"

static OSet* ranges;

void tg_named_init(void)
{
   ranges = tg_ranges_new("tg.data.named");
}

static Addr end_of(Addr a, SizeT bytes)
{
   return a + bytes < a ? ~(Addr)0 : a + bytes;
}

static void take(Addr start, Addr end)
{
   if (!tg_named_any(start, end))
      return;
   tg_ranges_remove(ranges, start, end);
   tg_words_refine(start, end);
}

void tg_named_give(Addr a, SizeT bytes, const HChar* name)
{
   const TgDataObject key = { .kind = TG_DATA_NAMED, .name = tg_intern(name) };
   const Addr end = end_of(a, bytes);
   if (end == a)
      return;
   TgDataObject* o = tg_data_object(&key);
   o->blocks++;
   o->bytes += end - a;
   tg_ranges_remove(ranges, a, end);
   tg_ranges_add(ranges, (TgRange){ .end = end, .start = a, .origin = a,
                                    .record = tg_record_of_named(o, end - a),
                                    .object = o->number });
   tg_words_refine(a, end);
}

void tg_named_take(Addr a, SizeT bytes)
{
   const TgRange* r = tg_ranges_at(ranges, a);
   if (bytes != 0)
      take(a, end_of(a, bytes));
   else if (r != NULL)
      take(r->start, r->end);
}

void tg_named_freed(Addr start, Addr end)
{
   const TgRange* r;
   for (Addr a = start; (r = tg_ranges_above(ranges, a)) != NULL && r->start < end; ) {
      const TgRange range = *r;
      a = range.end;
      if (range.start >= start && range.end <= end)
         take(range.start, range.end);
   }
}

Bool tg_named_any(Addr start, Addr end)
{
   if (VG_(OSetGen_Size)(ranges) == 0)
      return False;
   const TgRange* r = tg_ranges_above(ranges, start);
   return r != NULL && r->start < end;
}

UInt tg_named_at(Addr a, Addr* end)
{
   const TgRange* r = tg_ranges_above(ranges, a);
   if (r != NULL && r->start <= a) {
      *end = r->end;
      return tg_record_in_range(r, a, end);
   }
   *end = r != NULL ? r->start : ~(Addr)0;
   return 0;
}
