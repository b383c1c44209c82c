/* References counted as cachegrind counts them. See engine/as_cachegrind.h. */

#include "pub_tool_basics.h"

#include "sim/mmu/miss_counts.h"

#include "engine/as_cachegrind.h"
#include "engine/translate.h"
#include "trace/run_mmus.h"
#include "trace/segment_run.h"

static UInt page_shift;

void tg_as_cachegrind_init(const TgOptions* options)
{
   page_shift = options->page_shift;
}

/* A reference that crosses from page `first` to page `last`. */
static void refer_both(TgRef* r, UWord first, UWord last, ULong now)
{
   tlb_hierarchy* h = &tg_mmus.mmu[0].h;
   const UChar shift = (UChar)h->base_shift;
   tlb_reference a = { .page = first, .now = now - TG_HALF_TICKS, .user = r->kind,
                       .page_shift = shift, .block_shift = shift };
   tlb_reference b = a;
   tlb_outcome o = { .walked = 1 };
   b.page = last;
   b.now = now;
   for (UInt level = 0; level < h->levels; level++) {
      if (tlb_route_of(h, r->kind, shift, shift)->at[level].n == 0)
         continue;
      const int either = tlb_translate_level(h, &a, level)
                         | tlb_translate_level(h, &b, level);
      if (!either) {
         o.walked = 0;
         break;
      }
      o.missed |= 1u << level;
   }
   tlb_missed_begin(&tg_mmus, 0, r->kind);
   if (o.missed)
      tlb_missed_book(&tg_mmus, tg_ref_misses(r), &tg_mmus.mmu[0], &o);
}

static void data(TgRef* r, Addr a, ULong now, ULong* straddles)
{
   const UWord first = a >> page_shift;
   const UWord last = (a + r->size - 1) >> page_shift;
   straddles[r->kind] += first != last;
   if (first != last)
      refer_both(r, first, last, now);
   else
      tg_translate(r, tlb_data_page(&tg_mmus, first), first, now, True);
}

/* An instruction on two pages is two references, of which the second looks up both. */
static Bool is_second_half(const TgRef* r)
{
   return r->kind == TLB_FETCH && r->size > 0;
}

static void fetch(TgRef* r, ULong now, Bool alone)
{
   const UWord number = tlb_code_page_number(r->at.page, page_shift);
   if (is_second_half(r))
      refer_both(r, number - 1, number, now);
   else
      tg_translate(r, r->at.page, number, now, alone);
}

void tg_as_cachegrind(const TgShadowArea* shadow, TgSegment* s, UInt n, ULong* straddles)
{
   TgRef* ref = tg_segment_refs(s);
   for (UInt i = 0; i < n; i++) {
      TgRef* r = &ref[i];
      const ULong now = tg_time_of_ref(s, i);
      if (r->kind != TLB_FETCH)
         data(r, tg_address_of_ref(shadow, r), now, straddles);
      else if (i + 1 == n || !is_second_half(r + 1) || r[1].site != r->site)
         fetch(r, now, s->n_fetches == 1);
   }
}
