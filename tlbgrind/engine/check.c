/* The check, see engine/check.h. */

#include "pub_tool_basics.h"

#include "attribution/lines.h"
#include "calls/collection.h"
#include "data/references.h"
#include "trace/instrumentation.h"
#include "trace/missed_segments.h"
#include "trace/run_mmus.h"
#include "trace/segment_run.h"
#include "engine/batch.h"
#include "engine/check.h"
#include "engine/copy_turns.h"
#include "engine/look_up.h"
#include "engine/replay.h"
#include "faults/page_use.h"
#include "faults/touches.h"

static UInt page_shift;

/* --- Segments of 4K pages with one fetch at most, by their number of groups --- */

static inline __attribute__((always_inline))
void check(UChar* guest_state, TgSegment* s, UInt n_groups, Bool writes, Bool split)
{
   /* To read the clock again would wait for it to be written. */
   const ULong now = tg_clock + s->ticks;
   tg_clock = now;
   s->entered++;
   tg_look_up(tg_shadow_area(guest_state), s, now, n_groups, 0, TG_4K_SHIFT, 0, writes, split);
}

/* By what of tlb_run_traits is set: nothing, `writes`, or `split`, too. */
static void check_reads_0(UChar* g, TgSegment* s) { check(g, s, 0, False, False); }
static void check_reads_1(UChar* g, TgSegment* s) { check(g, s, 1, False, False); }
static void check_reads_2(UChar* g, TgSegment* s) { check(g, s, 2, False, False); }
static void check_reads_3(UChar* g, TgSegment* s) { check(g, s, 3, False, False); }
static void check_reads_4(UChar* g, TgSegment* s) { check(g, s, 4, False, False); }
static void check_reads_5(UChar* g, TgSegment* s) { check(g, s, 5, False, False); }
static void check_reads_6(UChar* g, TgSegment* s) { check(g, s, 6, False, False); }
static void check_reads_7(UChar* g, TgSegment* s) { check(g, s, 7, False, False); }
static void check_reads_8(UChar* g, TgSegment* s) { check(g, s, 8, False, False); }
static void check_reads_9(UChar* g, TgSegment* s) { check(g, s, 9, False, False); }
static void check_reads_10(UChar* g, TgSegment* s) { check(g, s, 10, False, False); }

static void check_writes_0(UChar* g, TgSegment* s) { check(g, s, 0, True, False); }
static void check_writes_1(UChar* g, TgSegment* s) { check(g, s, 1, True, False); }
static void check_writes_2(UChar* g, TgSegment* s) { check(g, s, 2, True, False); }
static void check_writes_3(UChar* g, TgSegment* s) { check(g, s, 3, True, False); }
static void check_writes_4(UChar* g, TgSegment* s) { check(g, s, 4, True, False); }
static void check_writes_5(UChar* g, TgSegment* s) { check(g, s, 5, True, False); }
static void check_writes_6(UChar* g, TgSegment* s) { check(g, s, 6, True, False); }
static void check_writes_7(UChar* g, TgSegment* s) { check(g, s, 7, True, False); }
static void check_writes_8(UChar* g, TgSegment* s) { check(g, s, 8, True, False); }
static void check_writes_9(UChar* g, TgSegment* s) { check(g, s, 9, True, False); }
static void check_writes_10(UChar* g, TgSegment* s) { check(g, s, 10, True, False); }

static void check_split_0(UChar* g, TgSegment* s) { check(g, s, 0, True, True); }
static void check_split_1(UChar* g, TgSegment* s) { check(g, s, 1, True, True); }
static void check_split_2(UChar* g, TgSegment* s) { check(g, s, 2, True, True); }
static void check_split_3(UChar* g, TgSegment* s) { check(g, s, 3, True, True); }
static void check_split_4(UChar* g, TgSegment* s) { check(g, s, 4, True, True); }
static void check_split_5(UChar* g, TgSegment* s) { check(g, s, 5, True, True); }
static void check_split_6(UChar* g, TgSegment* s) { check(g, s, 6, True, True); }
static void check_split_7(UChar* g, TgSegment* s) { check(g, s, 7, True, True); }
static void check_split_8(UChar* g, TgSegment* s) { check(g, s, 8, True, True); }
static void check_split_9(UChar* g, TgSegment* s) { check(g, s, 9, True, True); }
static void check_split_10(UChar* g, TgSegment* s) { check(g, s, 10, True, True); }

static TgCheck* check_of_4k(const TgSegment* s)
{
   static TgCheck* const by_groups[3][11] = {
      { check_reads_0, check_reads_1, check_reads_2, check_reads_3, check_reads_4,
        check_reads_5, check_reads_6, check_reads_7, check_reads_8, check_reads_9,
        check_reads_10 },
      { check_writes_0, check_writes_1, check_writes_2, check_writes_3, check_writes_4,
        check_writes_5, check_writes_6, check_writes_7, check_writes_8, check_writes_9,
        check_writes_10 },
      { check_split_0, check_split_1, check_split_2, check_split_3, check_split_4,
        check_split_5, check_split_6, check_split_7, check_split_8, check_split_9,
        check_split_10 }
   };
   const UInt kind = tg_mmus.traits.split ? 2 : tg_mmus.traits.writes ? 1 : 0;
   return s->n_groups < 11 ? by_groups[kind][s->n_groups] : NULL;
}

/* --- All other segments --- */

static void count(TgSegment* s)
{
   tg_clock_pass(s);
   s->entered++;
}

static Bool is_4k(const TgSegment* s)
{
   return page_shift == TG_4K_SHIFT && s->n_fetches < 2;
}

/* Looks up a segment that has been counted. `spread`: of a copy. */
static void look_up_any(const TgShadowArea* shadow, TgSegment* s, UWord spread)
{
   tg_look_up(shadow, s, tg_clock, s->n_groups, tg_more_fetches(s), page_shift, spread,
              tg_mmus.traits.writes, tg_mmus.traits.split);
}

/* The same in the middle of a batch, which is there to be fast. */
static void look_up_batched(const TgShadowArea* shadow, TgSegment* s)
{
   const Bool writes = tg_mmus.traits.writes;
   const Bool split = tg_mmus.traits.split;
   if (is_4k(s) && s->n_groups == 1)
      tg_look_up(shadow, s, tg_clock, 1, 0, TG_4K_SHIFT, 0, writes, split);
   else if (is_4k(s) && s->n_groups == 2)
      tg_look_up(shadow, s, tg_clock, 2, 0, TG_4K_SHIFT, 0, writes, split);
   else if (is_4k(s) && s->n_groups == 3)
      tg_look_up(shadow, s, tg_clock, 3, 0, TG_4K_SHIFT, 0, writes, split);
   else
      look_up_any(shadow, s, 0);
}

/* What a copy of the program executes: the first n references of a segment of its own. The clock
   goes on, but these are not the program's instructions. */
static void check_copy(const TgShadowArea* shadow, TgSegment* s, UInt n)
{
   const UInt ticks = s->ticks == 0 ? TG_INSTR_TICKS : s->ticks;
   tg_idle_passes += ticks >> TG_INSTR_SHIFT;
   tg_clock += ticks;
   if (tg_mmus.fast_path && n == s->n_refs && !s->guarded)
      look_up_any(shadow, s, tg_copies_spread[s->copy]);
   else
      tg_replay_first(shadow, s, n);
}

static void check_any(UChar* guest_state, TgSegment* s)
{
   count(s);
   look_up_any(tg_shadow_area(guest_state), s, 0);
}

static void check_nothing(UChar* guest_state, TgSegment* s)
{
   if (tg_lists_missed_segments)
      tg_missed_segments_add(s);
   tg_batch_look_up();
   count(s);
   tg_replay_all(tg_shadow_area(guest_state), s);
}

static TgCheck* check_of(const TgSegment* s)
{
   if (!tg_mmus.fast_path)
      return check_nothing;
   TgCheck* of_4k = NULL;
   if (is_4k(s) && s->ticks > 0)
      of_4k = check_of_4k(s);
   return of_4k != NULL ? of_4k : check_any;
}

void tg_check_init(const TgOptions* options)
{
   page_shift = options->page_shift;
   tg_segment_miss_init(options);
   tg_copies_init(options, check_copy);
   /* The use of a page is recorded, and data is attributed, as soon as the segment has ended. And
      with copies, only a part of all walks are the program's. */
   const Bool at_once = tg_data_on
                        || (options->faults.on && (options->faults.used || options->faults.touches))
                        || options->kernel.copies > 1;
   tg_batch_init(at_once ? NULL : look_up_batched);
}

static Bool notes_pages(void)
{
   return tg_page_use_on || tg_touches_on;
}

static void note_pages(UChar* guest_state, const TgSegment* s)
{
   if (tg_page_use_on)
      tg_page_use_segment(tg_shadow_area(guest_state), s);
   if (tg_touches_on)
      tg_touches_segment(guest_state, s);
}

/* The usual check, of a segment whose bytes and pages are noted first. */
static void check_page_use(UChar* guest_state, TgSegment* s)
{
   note_pages(guest_state, s);
   check_of(s)(guest_state, s);
}

/* The same while costs may not be kept. Misses are taken back later (calls/collection.h). */
static void check_collection(UChar* guest_state, TgSegment* s)
{
   note_pages(guest_state, s);
   if (tg_mmus.fast_path)
      check_any(guest_state, s);
   else
      check_nothing(guest_state, s);
   s->entered -= !tg_costs_are_kept;
}

/* The check while instrumentation is off: which pages are touched, and which bytes of them. */
static void check_touches(UChar* guest_state, TgSegment* s)
{
   note_pages(guest_state, s);
   tg_replay_touches(tg_shadow_area(guest_state), s, s->n_refs);
}

static TgCheck* check_of_program(const TgSegment* s)
{
   if (tg_collection_on)
      return check_collection;
   return notes_pages() ? check_page_use : check_of(s);
}

/* Finds the function each time: what it does beside is more. */
static void check_with_copies(UChar* guest_state, TgSegment* s)
{
   check_of_program(s)(guest_state, s);
   tg_copies_follow(tg_shadow_area(guest_state), s, s->n_refs);
}

TgCheck* tg_check_for(const TgSegment* s)
{
   if (!tg_instrumented)
      return check_touches;
   return tg_copies_on ? check_with_copies : check_of_program(s);
}

static void check_guarded(UChar* guest_state, TgSegment* s, UWord happens)
{
   s->attempted += tg_costs_are_kept;
   if (happens == 0)
      return;
   note_pages(guest_state, s);
   if (tg_data_on)
      tg_data_check(guest_state, s);
   check_nothing(guest_state, s);
   s->entered -= !tg_costs_are_kept;
   if (tg_copies_on)
      tg_copies_follow(tg_shadow_area(guest_state), s, s->n_refs);
}

static void check_guarded_touches(UChar* guest_state, TgSegment* s, UWord happens)
{
   if (happens != 0)
      check_touches(guest_state, s);
}

TgCheckGuarded* tg_check_for_guarded(void)
{
   return tg_instrumented ? check_guarded : check_guarded_touches;
}
