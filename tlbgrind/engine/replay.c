/* Replay: the references of a segment, simulated in the program's order. */

#include "pub_tool_basics.h"

#include "pub_tool_libcprint.h"

#include "trace/run_mmus.h"
#include "trace/segment_run.h"
#include "engine/as_cachegrind.h"
#include "engine/replay.h"
#include "engine/shared_context.h"
#include "engine/translate.h"

static UInt page_shift;
static Bool as_cachegrind;
static ULong straddles[2][TLB_N_USERS]; /* of the program; of its copies */
static ULong refs_one_by_one;

ULong tg_segments_missed;

void tg_replay_init(const TgOptions* options)
{
   page_shift = options->page_shift;
   as_cachegrind = options->as_cachegrind;
   tg_as_cachegrind_init(options);
}

static UWord page_of(Addr a)
{
   return a >> page_shift;
}

/* --- Reference by reference --- */

static ULong* straddles_of(const TgSegment* s)
{
   return straddles[s->copy != 0];
}

static void replay_data(const TgSegment* s, TgRef* r, Addr a, ULong now)
{
   const UWord first = tg_shared_context_page(page_of(a));
   const UWord last = tg_shared_context_page(page_of(a + r->size - 1));
   straddles_of(s)[r->kind] += first != last;
   tg_translate(r, tlb_data_page(&tg_mmus, first), first,
                first == last ? now : now - TG_HALF_TICKS, first == last);
   /* No reference is longer than a page, so there is at most one more. */
   if (first != last)
      tg_translate_second(r, tlb_data_page(&tg_mmus, last), first, last, now);
}

/* Whether r fetches the second page of an instruction whose first page is what
   the reference before it fetches. */
static Bool goes_on(const TgSegment* s, const TgRef* r)
{
   return r->kind == TLB_FETCH && r->size > 0 && r > tg_segment_refs(s)
          && r[-1].kind == TLB_FETCH && r[-1].site == r->site;
}

static void fetch(const TgSegment* s, TgRef* r, ULong now)
{
   tlb_page* page = r->at.page;
   const UWord own = tlb_code_page_number(page, page_shift);
   const UWord number = tg_shared_context_page(own);
   if (number != own)
      page = tlb_record_of(&tg_mmus, TLB_CODE, number);
   if (goes_on(s, r))
      tg_translate_second(r, page,
                          tg_shared_context_page(tlb_code_page_number(r[-1].at.page, page_shift)),
                          number, now);
   else
      tg_translate(r, page, number, now, s->n_fetches == 1);
}

static void note_data_time(const TgRef* r, UWord page, ULong now)
{
   tlb_page* p = tlb_data_page(&tg_mmus, page);
   if (r->kind == TLB_STORE && tg_mmus.traits.split)
      tlb_writes(p)->time = now;
   else
      p->time = now;
   if (r->modifies)
      tlb_writes(p)->time = now;
}

/* A reference that changes nothing, or has been simulated already, in which case it
   lies on one page: all that is left is to note its time. */
static void note_time(const TgShadowArea* shadow, const TgSegment* s, const TgRef* r, ULong now)
{
   if (r->kind == TLB_FETCH) {
      r->at.page->time = now;
      return;
   }
   const Addr a = tg_address_of_ref(shadow, r);
   const UWord first = page_of(a);
   const UWord last = page_of(a + r->size - 1);
   if (UNLIKELY(first != last)) {
      straddles_of(s)[r->kind]++;
      note_data_time(r, first, now - TG_HALF_TICKS);
   }
   note_data_time(r, last, now);
}

/* The first n references of the segment, of which those before number `from`
   have been simulated. */
static void replay_refs(const TgShadowArea* shadow, TgSegment* s, UInt from, UInt n)
{
   TgRef* ref = tg_segment_refs(s);
   for (UInt i = 0; i < n; i++) {
      TgRef* r = &ref[i];
      const ULong now = tg_time_of_ref(s, i);
      if (i < from)
         note_time(shadow, s, r, now);
      else if (r->kind != TLB_FETCH)
         replay_data(s, r, tg_address_of_ref(shadow, r), now);
      else
         fetch(s, r, now);
   }
}

void tg_replay_note_times(const TgShadowArea* shadow, TgSegment* s, UInt n)
{
   replay_refs(shadow, s, n, n);
}

void tg_replay_from(const TgShadowArea* shadow, TgSegment* s, UInt nth)
{
   refs_one_by_one += s->n_refs - nth;
   replay_refs(shadow, s, nth, s->n_refs);
}

void tg_replay_first(const TgShadowArea* shadow, TgSegment* s, UInt n)
{
   tg_simulated = s;
   if (as_cachegrind)
      tg_as_cachegrind(shadow, s, n, straddles_of(s));
   else
      replay_refs(shadow, s, 0, n);
}

void tg_replay_touches(const TgShadowArea* shadow, const TgSegment* s, UInt n)
{
   tg_simulated = s;
   for (UInt i = 0; i < n; i++) {
      const TgRef* r = &tg_segment_refs(s)[i];
      if (r->kind == TLB_FETCH) {
         tg_translate_touch(r, r->at.page, tlb_code_page_number(r->at.page, page_shift));
         continue;
      }
      const Addr a = tg_address_of_ref(shadow, r);
      const UWord first = page_of(a);
      const UWord last = page_of(a + r->size - 1);
      tg_translate_touch(r, tlb_data_page(&tg_mmus, first), first);
      if (first != last)
         tg_translate_touch(r, tlb_data_page(&tg_mmus, last), last);
   }
}

void tg_replay_all(const TgShadowArea* shadow, TgSegment* s)
{
   tg_segments_missed++;
   refs_one_by_one += s->n_refs;
   tg_replay_first(shadow, s, s->n_refs);
}

ULong* tg_replay_straddles(void)
{
   return straddles[0];
}

void tg_replay_print_stats(void)
{
   VG_(dmsg)(" tlbgrind: %llu segments replayed, %llu references one by one\n",
             tg_segments_missed, refs_one_by_one);
}
