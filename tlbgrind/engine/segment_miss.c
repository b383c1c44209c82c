/* Segments that refer to unknown pages. See engine/segment_miss.h. */

#include "pub_tool_basics.h"

#include "sim/mmu/refer.h"

#include "trace/missed_segments.h"
#include "trace/run_mmus.h"
#include "trace/segment_pages.h"
#include "trace/segment_run.h"
#include "engine/batch.h"
#include "engine/fast_path.h"
#include "engine/recording.h"
#include "engine/replay.h"
#include "engine/segment_miss.h"
#include "engine/several_misses.h"
#include "engine/translate.h"

static UInt page_shift;

static UWord page_of(Addr a)
{
   return a >> page_shift;
}

/* Simulates reference r to page p, whose number is `number`, as far as it is one of that
   kind, at the time `now`, for many machines. Where loads and stores are told apart, one
   that modifies is two of them. */
static inline __attribute__((always_inline))
void refer_many(TgRef* r, tlb_page* p, tlb_page_number number, tlb_user kind, ULong now,
                Bool split)
{
   if (UNLIKELY((split && r->modifies) || r->locked
                || !tlb_refer_group(&tg_mmus, tg_ref_misses(r), p, number, kind, now, split)))
      tg_translate(r, p, number, now, True);
}

/* What the recording has seen. Most pages that its filters miss hit in the machines. */
static void refer_recorded(TgRef* r, tlb_page* p, tlb_page_number number, tlb_user kind, ULong now,
                           Bool alone)
{
   const Bool split = tg_mmus.traits.split;
   if (!split && (tlb_rest(p)->observers | tlb_rest(p)->write_observers) == 0) {
      p->time = now;
      tlb_page_settle(&tg_mmus, r->kind == TLB_FETCH ? TLB_CODE : TLB_DATA, p);
   } else if (tg_mmus.n_mmus > 1) {
      refer_many(r, p, number, kind, now, split);
   } else if ((split && !alone) || !tg_fast_path_refer(kind, r, p, now)) {
      tg_translate(r, p, number, now, True);
   }
}

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
   if (unknown_of(s) != 0)
      return False;
   for (UInt i = 0; i < s->n_groups; i++) {
      const TgGroup* g = &s->group[i];
      const tlb_page* second = second_page(shadow, g);
      if (second != NULL
          && tlb_is_data_unknown(tg_group_probe(g, second, tg_mmus.traits.writes)))
         return False;
   }
   tg_replay_note_times(shadow, s, s->n_refs);
   return True;
}

/* Notes the time of the segment's fetch, if it comes before reference number `nth`, at which a copy
   on write flushes. The recording tells there which pages were used before it, by their times: were
   that of the fetch stored later, its page would seem to be used, and so to hit,
   behind the flush. */
static void note_fetch_before(const TgSegment* s, UInt nth)
{
   const UInt fetch = s->n_fetches == 0 ? nth : first_fetch(s);
   if (fetch < nth)
      s->fetch->time = tg_time_of_ref(s, fetch);
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
   if (UNLIKELY(tg_recording_on)) {
      /* It can break a large page, and flush, which is recorded before it. */
      if (tg_translate_touches(r, p)) {
         note_fetch_before(s, nth);
         tg_translate(r, p, number, now, True);
         return True;
      }
      tg_recording_refer(r, p, number, now, TG_RECORDED_WHOLE);
      refer_recorded(r, p, number, kind, now, alone);
      return True;
   }
   if (tg_mmus.n_mmus > 1)
      refer_many(r, p, number, kind, now, split);
   else if ((split && !alone) || !tg_fast_path_refer(kind, r, p, now))
      tg_translate(r, p, number, now, True);
   return True;
}

/* All other references are hits that only set the times of their pages: those before an
   unknown page are noted before it, by group, and the others at the end. */
static void miss_unknown(const TgShadowArea* shadow, TgSegment* s)
{
   UInt bits = unknown_of(s);
   const Bool alone = (bits & (bits - 1)) == 0;
   while (bits != 0) {
      UInt bit = 0;
      const UInt nth = first_of(s, bits, &bit);
      tg_note_before(s, s->n_groups, nth, tg_mmus.traits.split);
      const Bool simple = simulate(s, nth, bit, alone);
      const UInt still = unknown_of(s);
      if (UNLIKELY(!simple || (still & ~(bits & ~(1u << bit))) != 0)) {
         tg_replay_from(shadow, s, simple ? nth + 1 : nth);
         return;
      }
      bits = still;
   }
   if (tg_mmus.traits.own_times)
      tg_exact_times(s, s->n_groups, tg_mmus.traits.split);
   else
      tg_note_times(s, s->n_groups, tg_mmus.traits.split);
}

void tg_segment_miss_any(const TgShadowArea* shadow, TgSegment* s, UWord differs)
{
   enum { ALL_FOUND = TLB_DATA_UNKNOWN | TLB_CODE_UNKNOWN };
   if (tg_batching != 0) {
      tg_batch_add(shadow, s);
      return;
   }
   tg_segments_missed++;
   tg_simulated = s;
   if (s->n_fetches > 1)
      tg_replay_from(shadow, s, 0);
   else if ((differs & ~(UWord)ALL_FOUND) == 0 || list_pages(shadow, s) == 0)
      miss_unknown(shadow, s);
   else if (!note_known(shadow, s))
      tg_replay_from(shadow, s, 0);
}

/* --- The common case: one 4K page is unknown --- */

/* What the functions below are made for; each instance has constants. */
typedef struct {
   Bool many;   /* machines */
   Bool writes; /* these two: see tlb_run_traits */
   Bool split;
} Run;

static const Run one_reads = { .many = False, .writes = False, .split = False };
static const Run one_writes = { .many = False, .writes = True, .split = False };
static const Run one_split = { .many = False, .writes = True, .split = True };
static const Run many_reads = { .many = True, .writes = False, .split = False };
static const Run many_writes = { .many = True, .writes = True, .split = False };
static const Run many_split = { .many = True, .writes = True, .split = True };

/* To the one machine of a run with a fast path. The last thing done is at most a call, so
   that no registers have to be saved. Returns False, and has done nothing, if the fast
   path can not. */
static inline __attribute__((always_inline))
Bool miss_fast(TgFastSearch search, const TgShadowArea* shadow, TgSegment* s, UInt n_groups,
               UInt nth, TgRef* r, tlb_page* p, tlb_user kind, Run run)
{
   const Bool split = run.split;
   const Bool code = kind == TLB_FETCH;
   const TgFastPath* w = &tg_fast_path[code || split ? kind : TLB_LOAD];
   if (UNLIKELY(!tg_fast_path_is_open(w, kind, p, split) || r->misses == NULL))
      return False;
   /* Of the second level, where this is the segment's only reference, any time in the segment
      will do. */
   const Bool lru = search != TG_FAST_POLICY;
   const ULong now = search == TG_FAST_LRU ? tg_clock : tg_time_of_ref(s, nth);
   const UWord probe_at = split ? tlb_probe_at(kind) : 0;
   uint64_t* const time = &tlb_probe(p, probe_at)->time;
   const tlb_key key = tg_fast_key(w, p, probe_at, TG_4K_SHIFT, code);
   tlb_page* lost;
   if (lru) {
      /* No times need be noted before: another page of the segment is not evicted. */
      const UInt entry = tg_fast_lru_oldest(search, w, key);
      lost = tlb_page_of_time(w->short_cut[entry], probe_at);
      if (UNLIKELY(!code && tg_is_among(lost, tg_segment_page, n_groups)))
         return False;
      tg_fast_lru_replace(search, w, entry, key, now, time);
   } else {
      if (!code)
         tg_note_before(s, n_groups, nth, split);
      lost = tlb_page_of_time(tg_fast_policy_refer(w, key, now, time), probe_at);
   }
   tg_fast_exchange(p, lost, probe_at, kind, TG_4K_SHIFT, code, run.writes, split);
   if (code || lru) {
      tg_note_times(s, n_groups, split);
   } else if (LIKELY(!tg_is_among(lost, tg_segment_page, n_groups))) {
      tg_exact_times(s, n_groups, split);
   } else {
      tg_fast_path_missed(w, kind, r, p, key, now);
      tg_simulated = s;
      tg_replay_from(shadow, s, nth + 1);
      return True;
   }
   tg_fast_path_missed(w, kind, r, p, key, now);
   return True;
}

/* To many machines. Returns False, and has done nothing but set tg_simulated, if code that misses
   can drive out data. */
static inline __attribute__((always_inline))
Bool miss_many(const TgShadowArea* shadow, TgSegment* s, UInt n_groups, UInt nth, TgRef* r,
               tlb_page* p, tlb_user kind, Run run)
{
   const Bool split = run.split;
   const Bool code = kind == TLB_FETCH;
   UInt which;
   tg_simulated = s;
   if (UNLIKELY(code && tg_mmus.traits.code_behind))
      return False;
   if (!code)
      tg_note_before(s, n_groups, nth, split);
   refer_many(r, p, code ? tlb_code_page_number(p, TG_4K_SHIFT)
                         : tlb_page_number_of_data(p, TG_4K_SHIFT),
              kind, tg_time_of_ref(s, nth), split);
   if (UNLIKELY(!code && n_groups > 1
                && (tg_count_unknown(s, n_groups, run.writes, &which) != 0
                    || s->fetch->tag != 0)))
      tg_replay_from(shadow, s, nth + 1);
   else if (UNLIKELY(!code && tg_mmus.traits.own_times))
      tg_exact_times(s, n_groups, split);
   else
      tg_note_times(s, n_groups, split);
   return True;
}

/* The same where the run is recorded: to the recording, and then to the machines. Returns False,
   and has done nothing, if this is the page's first touch, which is more. */
static __attribute__((noinline))
Bool miss_recorded(const TgShadowArea* shadow, TgSegment* s, UInt nth, TgRef* r, tlb_page* p,
                   tlb_user kind)
{
   const Bool split = tg_mmus.traits.split;
   const Bool code = kind == TLB_FETCH;
   const UInt n_groups = s->n_groups;
   UInt which;
   if (tg_translate_touches(r, p) || (code && tg_mmus.traits.code_behind))
      return False;
   const UWord number = code ? tlb_code_page_number(p, TG_4K_SHIFT)
                             : tlb_page_number_of_data(p, TG_4K_SHIFT);
   const ULong now = tg_time_of_ref(s, nth);
   tg_simulated = s;
   if (!code)
      tg_note_before(s, n_groups, nth, split);
   tg_recording_refer(r, p, number, now, TG_RECORDED_WHOLE);
   refer_recorded(r, p, number, kind, now, True);
   /* What the recording's filters lost can be a page of the segment, too. */
   if (!code && n_groups > 1
       && (tg_count_unknown(s, n_groups, tg_mmus.traits.writes, &which) != 0 || s->fetch->tag != 0))
      tg_replay_from(shadow, s, nth + 1);
   else if (!code && tg_mmus.traits.own_times)
      tg_exact_times(s, n_groups, split);
   else
      tg_note_times(s, n_groups, split);
   return True;
}

/* All but the pointers are constants. Where this and miss_one_page() return False, nothing has been
   simulated and no time noted. */
static inline __attribute__((always_inline))
Bool miss_one(const TgShadowArea* shadow, TgSegment* s, UInt n_groups, UInt nth, tlb_page* p,
              tlb_user kind, TgFastSearch search, Run run)
{
   TgRef* r = (TgRef*)(Addr)(s->group + n_groups) + nth;
   if (kind != TLB_FETCH && !run.split)
      kind = r->kind == TLB_STORE ? TLB_STORE : TLB_LOAD;
   if (UNLIKELY(tg_recording_on))
      return miss_recorded(shadow, s, nth, r, p, kind);
   if (run.many)
      return miss_many(shadow, s, n_groups, nth, r, p, kind, run);
   if (LIKELY(search == TG_FAST_LRU))
      return miss_fast(TG_FAST_LRU, shadow, s, n_groups, nth, r, p, kind, run);
   if (search == TG_FAST_TREE)
      return miss_fast(TG_FAST_TREE, shadow, s, n_groups, nth, r, p, kind, run);
   return search == TG_FAST_POLICY
          && miss_fast(TG_FAST_POLICY, shadow, s, n_groups, nth, r, p, kind, run);
}

static inline __attribute__((always_inline))
Bool miss_one_page(const TgShadowArea* shadow, TgSegment* s, UWord differs, UInt n_groups,
                   Run run)
{
   UInt which = 0;
   if (differs == TLB_CODE_UNKNOWN) {
      const TgRef* r = (TgRef*)(Addr)(s->group + n_groups);
      return LIKELY(r->kind == TLB_FETCH)
             && miss_one(shadow, s, n_groups, 0, s->fetch, TLB_FETCH,
                         tg_fast_path[TLB_FETCH].search, run);
   }
   if (n_groups == 0 || differs != TLB_DATA_UNKNOWN
       || tg_count_unknown(s, n_groups, run.writes, &which) != 1)
      return False;
   const TgGroup* g = &s->group[which];
   tlb_page* p = tg_segment_page[which];
   if (run.split && tg_group_writes(g))
      return miss_one(shadow, s, n_groups, g->oldest, p, TLB_STORE,
                      tg_fast_path[TLB_STORE].search, run);
   if (!run.split && run.writes && tg_write_is_observed(g, p))
      return False;
   return miss_one(shadow, s, n_groups, g->oldest, p, TLB_LOAD, tg_fast_path[TLB_LOAD].search,
                   run);
}

/* --- Which of them --- */

/* To one machine, where reads and writes are not told apart. Returns False if there is more to
   do: of the pages that are not known now the references are still to be simulated. */
static inline __attribute__((always_inline))
Bool miss_several(const TgSegment* s, UWord differs, UInt n_groups)
{
   if (n_groups < 2 || differs != TLB_DATA_UNKNOWN)
      return False;
   return n_groups == 2   ? tg_several_misses_2(s)
          : n_groups == 3 ? tg_several_misses_3(s)
          : n_groups == 4 ? tg_several_misses_4(s)
                          : tg_several_misses_n(s);
}

enum { ANY = TG_MAX_GROUPS + 1 };

static inline __attribute__((always_inline))
void miss(const TgShadowArea* shadow, TgSegment* s, UWord differs, UInt n_groups, Run run)
{
   const UInt n = n_groups == ANY ? s->n_groups : n_groups;
   if (!miss_one_page(shadow, s, differs, n, run)
       && (run.many || run.split || !miss_several(s, differs, n)))
      tg_segment_miss_any(shadow, s, differs);
}

/* By number of groups: most segments have few. One function for all would use so many registers
   that each miss takes a tenth more time. */
_Static_assert(TG_MISS_GROUPS == 4, "INSTANCES has a function for each number of groups");

#define INSTANCE(run, n, n_groups) \
   static void miss_##run##_##n(const TgShadowArea* a, TgSegment* s, UWord d) \
   { \
      miss(a, s, d, n_groups, run); \
   }

#define INSTANCES(run) \
   INSTANCE(run, 0, 0) \
   INSTANCE(run, 1, 1) \
   INSTANCE(run, 2, 2) \
   INSTANCE(run, 3, 3) \
   INSTANCE(run, n, ANY) \
   static TgSegmentMiss* const of_##run[TG_MISS_GROUPS + 1] \
      = { miss_##run##_0, miss_##run##_1, miss_##run##_2, miss_##run##_3, miss_##run##_n };

INSTANCES(one_reads)
INSTANCES(one_writes)
INSTANCES(one_split)
INSTANCES(many_reads)
INSTANCES(many_writes)
INSTANCES(many_split)

static TgSegmentMiss* const* instances_of(Bool many, const tlb_run_traits* traits)
{
   if (traits->split)
      return many ? of_many_split : of_one_split;
   if (traits->writes)
      return many ? of_many_writes : of_one_writes;
   return many ? of_many_reads : of_one_reads;
}

/* --- At the start --- */

TgSegmentMiss* tg_segment_miss_of[TG_MISS_GROUPS + 1];
TgSegmentMiss* tg_segment_miss_more = tg_segment_miss_any;

/* Where inclusive costs are counted, each of them is called by one that lists the segment. */
static TgSegmentMiss* listed_miss_of[TG_MISS_GROUPS + 1];

#define LISTED(n) \
   static void listed_##n(const TgShadowArea* a, TgSegment* s, UWord d) \
   { \
      tg_missed_segments_add(s); \
      listed_miss_of[n](a, s, d); \
   }

LISTED(0)
LISTED(1)
LISTED(2)
LISTED(3)
LISTED(4)

static void listed_more(const TgShadowArea* a, TgSegment* s, UWord d)
{
   tg_missed_segments_add(s);
   tg_segment_miss_any(a, s, d);
}

static void list_missed_segments(void)
{
   static TgSegmentMiss* const listed[TG_MISS_GROUPS + 1]
      = { listed_0, listed_1, listed_2, listed_3, listed_4 };
   for (UInt i = 0; i <= TG_MISS_GROUPS; i++) {
      listed_miss_of[i] = tg_segment_miss_of[i];
      tg_segment_miss_of[i] = listed[i];
   }
   tg_segment_miss_more = listed_more;
}

static void choose(TgSegmentMiss** out)
{
   TgSegmentMiss* const* of = instances_of(tg_mmus.n_mmus > 1, &tg_mmus.traits);
   for (UInt i = 0; i <= TG_MISS_GROUPS; i++)
      out[i] = page_shift == TG_4K_SHIFT ? of[i] : tg_segment_miss_any;
}

void tg_segment_miss_renew(void)
{
   choose(tg_lists_missed_segments ? listed_miss_of : tg_segment_miss_of);
}

void tg_segment_miss_init(const TgOptions* options)
{
   page_shift = options->page_shift;
   choose(tg_segment_miss_of);
   if (tg_lists_missed_segments)
      list_missed_segments();
}
