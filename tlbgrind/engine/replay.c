/* Replay: the references of a segment, simulated in the program's order. */

#include "pub_tool_basics.h"

#include "pub_tool_libcprint.h"

#include "trace/run_mmus.h"
#include "trace/segment_pages.h"
#include "trace/segment_run.h"
#include "engine/one_miss.h"
#include "engine/replay.h"
#include "engine/fast_lru.h"
#include "engine/translate.h"

static UInt page_shift;
static Bool fast_path;
static Bool as_cachegrind;
static ULong straddles[TLB_N_USERS];
static ULong replays, replays_refs;

void tg_replay_init(const TgOptions* options)
{
   page_shift = options->page_shift;
   fast_path = options->fast_path;
   as_cachegrind = options->as_cachegrind;
}

static UWord page_of(Addr a)
{
   return a >> page_shift;
}

/* --- Reference by reference --- */

static void replay_data(TgRef* r, Addr a, ULong now)
{
   const UWord first = page_of(a);
   const UWord last = page_of(a + r->size - 1);
   straddles[r->kind] += first != last;
   if (as_cachegrind && first != last) {
      tg_translate_as_cachegrind(r, first, last, now);
      return;
   }
   tg_translate(r, tlb_data_page(&tg_mmus, first), first,
                first == last ? now : now - TG_HALF_TICKS, first == last);
   /* No reference is longer than a page, so there is at most one more. */
   if (first != last)
      tg_translate_second(r, tlb_data_page(&tg_mmus, last), last, now);
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
   const UWord number = tlb_code_page_number(page, page_shift);
   if (as_cachegrind && r->size > 0)
      tg_translate_as_cachegrind(r, number - 1, number, now);
   else if (goes_on(s, r))
      tg_translate_second(r, page, number, now);
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
static void note_time(const TgShadowArea* shadow, const TgRef* r, ULong now)
{
   if (r->kind == TLB_FETCH) {
      r->at.page->time = now;
      return;
   }
   const Addr a = tg_address_of_ref(shadow, r);
   const UWord first = page_of(a);
   const UWord last = page_of(a + r->size - 1);
   if (UNLIKELY(first != last)) {
      straddles[r->kind]++;
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
         note_time(shadow, r, now);
      else if (r->kind != TLB_FETCH)
         replay_data(r, tg_address_of_ref(shadow, r), now);
      /* The next looks up both pages. */
      else if (!as_cachegrind || i + 1 == n || !goes_on(s, r + 1))
         fetch(s, r, now);
   }
}

void tg_replay_note_times(const TgShadowArea* shadow, TgSegment* s)
{
   replay_refs(shadow, s, s->n_refs, s->n_refs);
}

void tg_replay_from(const TgShadowArea* shadow, TgSegment* s, UInt nth)
{
   replays_refs += s->n_refs - nth;
   replay_refs(shadow, s, nth, s->n_refs);
}

/* --- The common case: a page or two of the segment are not known --- */

_Static_assert(TG_MAX_GROUPS < 32, "a bit for each group, and one for the fetch");

/* Completes the list of the groups' pages that the check has left: those that they
   begin on. Returns how many lie on two. */
static UInt list_pages(const TgShadowArea* shadow, const TgSegment* s)
{
   UInt on_two = 0;
   for (UInt i = 0; i < s->n_groups; i++) {
      const TgGroup* g = &s->group[i];
      const Addr first = shadow->base[g->base] + g->first;
      const UWord number = page_of(first);
      on_two += number != page_of(first + g->span);
      if (UNLIKELY(tlb_page_number_of_data(tg_segment_page[i], page_shift) != number))
         tg_segment_page[i] = tlb_record_of(&tg_mmus, TLB_DATA, number);
   }
   return on_two;
}

static UInt first_fetch(const TgSegment* s)
{
   const TgRef* ref = tg_segment_refs(s);
   UInt i = 0;
   while (ref[i].kind != TLB_FETCH)
      i++;
   return i;
}

/* Whose page is not known: the bits of groups and fetch. */
static UInt unknown_of(const TgSegment* s)
{
   const Bool writes = tg_mmus.traits.writes;
   UInt bits = s->fetch->tag != 0 ? 1u << s->n_groups : 0;
   for (UInt i = 0; i < s->n_groups; i++) {
      const tlb_page* p = tg_group_probe(&s->group[i], tg_segment_page[i], writes);
      bits |= (UInt)tlb_is_data_unknown(p) << i;
   }
   return bits;
}

/* Of those bits, that of what is referenced first, and the number of that reference. */
static UInt first_of(const TgSegment* s, UInt bits, UInt* bit)
{
   UInt first = TG_NO_REF;
   for (; bits != 0; bits &= bits - 1) {
      const UInt i = (UInt)__builtin_ctz(bits);
      const UInt nth = i == s->n_groups ? first_fetch(s) : s->group[i].oldest;
      *bit = nth < first ? i : *bit;
      first = nth < first ? nth : first;
   }
   return first;
}

/* The second page of a group, if it lies on two, else NULL. */
static tlb_page* second_page(const TgShadowArea* shadow, const TgGroup* g)
{
   const Addr first = shadow->base[g->base] + g->first;
   const UWord last = page_of(first + g->span);
   return last == page_of(first) ? NULL : tlb_data_page(&tg_mmus, last);
}

/* A segment with groups that lie on two pages: notes all times, if all pages are
   known. A stack that has grown to the end of a page makes many of these. */
static Bool note_known(const TgShadowArea* shadow, TgSegment* s)
{
   if (tg_mmus.traits.mixed || as_cachegrind || unknown_of(s) != 0)
      return False;
   for (UInt i = 0; i < s->n_groups; i++) {
      const TgGroup* g = &s->group[i];
      const tlb_page* second = second_page(shadow, g);
      if (second != NULL
          && tlb_is_data_unknown(tg_group_probe(g, second, tg_mmus.traits.writes)))
         return False;
   }
   tg_replay_note_times(shadow, s);
   return True;
}

/* Simulates reference number `nth` of the segment, the first to what that bit stands for.
   `alone`: no other has to be simulated. Returns False, and has done nothing, if it is
   not as simple as that. */
static Bool simulate(const TgSegment* s, UInt nth, UInt bit, Bool alone)
{
   const Bool split = tg_mmus.traits.split;
   const Bool code = bit == s->n_groups;
   TgRef* r = &tg_segment_refs(s)[nth];
   tlb_page* p = code ? s->fetch : tg_segment_page[bit];
   tlb_user kind = r->kind;
   if (!code && split)
      kind = tg_group_writes(&s->group[bit]) ? TLB_STORE : TLB_LOAD;
   else if (!code && tg_write_is_observed(&s->group[bit], p))
      return False; /* the first write need not be the first reference */
   const UWord number = code ? tlb_code_page_number(p, page_shift)
                             : tlb_page_number_of_data(p, page_shift);
   const ULong now = tg_time_of_ref(s, nth);
   if (tg_mmus.n_mmus > 1)
      tg_many_see(r, p, number, kind, now, split);
   else if (split && !alone)
      tg_translate(r, p, number, now, True);
   else
      tg_one_sees(r, p, number, kind, now);
   return True;
}

/* All other references are hits that only set the times of their pages: those before an
   unknown page are noted before it, by group, and the others at the end. If an unknown
   page takes away the knowledge of one that the segment refers to, the references behind
   it are gone through one by one. */
void tg_replay_unknown(const TgShadowArea* shadow, TgSegment* s)
{
   UInt bits = unknown_of(s);
   const Bool alone = (bits & (bits - 1)) == 0;
   while (bits != 0) {
      UInt bit = 0;
      const UInt nth = first_of(s, bits, &bit);
      if (tg_mmus.traits.mixed)
         replay_refs(shadow, s, nth, nth);
      else
         tg_note_before(s, s->n_groups, nth, tg_mmus.traits.split);
      const Bool simple = simulate(s, nth, bit, alone);
      const UInt still = unknown_of(s);
      if (UNLIKELY(!simple || (still & ~(bits & ~(1u << bit))) != 0)) {
         tg_replay_from(shadow, s, simple ? nth + 1 : nth);
         return;
      }
      bits = still;
   }
   if (tg_mmus.traits.mixed)
      tg_replay_note_times(shadow, s);
   else if (tg_mmus.traits.own_times)
      tg_exact_times(s, s->n_groups, tg_mmus.traits.split);
   else
      tg_note_times(s, s->n_groups, tg_mmus.traits.split);
}

/* Simulates the segment without going through its references, if it can. */
static Bool replay_groups(const TgShadowArea* shadow, TgSegment* s, UWord differs)
{
   enum { ALL_KNOWN = TLB_DATA_UNKNOWN | TLB_CODE_UNKNOWN };
   if (s->n_fetches > 1)
      return False;
   if ((differs & ~(UWord)ALL_KNOWN) != 0 && list_pages(shadow, s) != 0)
      return note_known(shadow, s);
   tg_replay_unknown(shadow, s);
   return True;
}

void tg_replay(const TgShadowArea* shadow, TgSegment* s, UWord differs)
{
   replays++;
   tg_simulated = s;
   /* A guarded reference is in no group. */
   if (fast_path && !s->guarded && replay_groups(shadow, s, differs))
      return;
   tg_replay_from(shadow, s, 0);
}

void tg_replay_first(const TgShadowArea* shadow, TgSegment* s, UInt n)
{
   tg_simulated = s;
   replay_refs(shadow, s, 0, n);
}

ULong* tg_replay_straddles(void)
{
   return straddles;
}

void tg_replay_print_stats(void)
{
   VG_(dmsg)(" tlbgrind: %llu segments replayed, %llu references one by one\n",
             replays, replays_refs);
}
