/* The recording of a run. See engine/recording.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"

#include "sim/mmu/refer.h"
#include "sim/record/map_events.h"

#include "base/number_format.h"
#include "data/references.h"
#include "engine/jobs.h"
#include "engine/record_filters.h"
#include "engine/recorded.h"
#include "engine/recording.h"
#include "faults/flushes.h"
#include "faults/interruptions.h"
#include "options/record_options.h"
#include "space/aspace.h"
#include "space/forks.h"
#include "trace/segment_run.h"

Bool tg_recording_on;

static UInt thp_shift;             /* of the run's transparent huge pages */
static ULong large_pages;          /* their sizes, as in a tlb_strength;
                                      0: the recording has none */
static UInt n_lines, room_for_lines;
static TgLine** line_at; /* by its number, from 1 */
static Bool goes_on; /* the first part of the reference at hand is recorded */

/* --- The end --- */

static void release(tlb_mmus* all, tlb_page* p, void* opaque)
{
   tlb_rest(p)->observers &= ~TLB_OBSERVER_RECORDING;
   tlb_rest(p)->write_observers &= ~TLB_OBSERVER_RECORDING;
   if (all->fast_path)
      tlb_page_settle(all, *(tlb_side*)opaque, p);
}

/* Nothing is observed any more. */
static void let_go(void)
{
   tg_recording_on = False;
   if (large_pages != 0) {
      tlb_pagemap_tell(tg_aspace_map(), NULL, NULL);
      tg_forks_follow_all(False);
   }
   for (UInt i = 0; i < TLB_N_TABLES; i++) {
      tlb_side table = i;
      tg_mmus.traits.observers[table] &= ~TLB_OBSERVER_RECORDING;
      tlb_pages_each(&tg_mmus, table, release, &table);
   }
   tg_mmus.traits.write_observers &= ~TLB_OBSERVER_RECORDING;
}

const HChar* tg_recording_end(void)
{
   const HChar* failure = tg_recorded_close();
   let_go();
   return failure;
}

void tg_recording_stop(const HChar* why)
{
   if (!tg_recording_on)
      return;
   tg_recorded_cut(why);
   let_go();
}

static Bool has_forked; /* this process, or one that it comes from */

void tg_recording_forked(void)
{
   const HChar* why;
   if (!tg_recording_on || tg_recorded_fork(&why))
      return;
   let_go();
   if (why != NULL)
      VG_(umsg)("warning: this forked child is not recorded: %s\n", why);
   else if (!tg_jobs_on && !has_forked && VG_(clo_verbosity) > 0)
      VG_(umsg)("warning: forked children are not recorded; a %%p in the name of --record= gives "
                "each a recording of its own\n");
}

void tg_recording_has_forked(void)
{
   has_forked = True;
}

/* --- Calls --- */

static UInt n_arcs, room_for_arcs;
static TgArc** arc_at; /* by its number, from 1 */

static UInt arc_number(TgArc* arc)
{
   if (arc == NULL)
      return 0;
   if (arc->recorded == 0) {
      if (n_arcs == room_for_arcs) {
         room_for_arcs = room_for_arcs == 0 ? 1024 : 2 * room_for_arcs;
         arc_at = VG_(realloc)("tg.recording", arc_at, room_for_arcs * sizeof *arc_at);
      }
      arc_at[n_arcs++] = arc;
      arc->recorded = n_arcs;
   }
   return arc->recorded;
}

static TgArc* arc_of(UInt number)
{
   return number - 1 < n_arcs ? arc_at[number - 1] : NULL;
}

void tg_recording_move(tlb_move move, UInt n, TgArc* arc)
{
   if (tg_recording_on)
      tg_recorded_move(move, move == TLB_MOVE_STACK || move == TLB_MOVE_POP ? n : arc_number(arc));
}

/* --- Marks --- */

void tg_recording_zero(void)
{
   if (tg_recording_on)
      tg_recorded_mark(TLB_MARK_ZERO, "");
}

void tg_recording_part(tlb_mark mark, const HChar* label)
{
   if (tg_recording_on && !tg_jobs_on)
      tg_recorded_mark(mark, label);
}

static TgLine* line_of(UInt number)
{
   return number - 1 < n_lines ? line_at[number - 1] : NULL;
}

void tg_recording_settle(void)
{
   if (!tg_recording_on || !tg_jobs_on)
      return;
   tg_recorded_mark(TLB_MARK_REPORT, "");
   tg_jobs_take(line_of, arc_of);
}

/* --- Changes of the page map --- */

/* Whatever large pages [start, end) has a part of: these break, or come. */
static void doubt_around(ULong start, ULong end)
{
   const ULong in_large = (1ULL << (63 - __builtin_clzll(large_pages))) - 1;
   const UInt shift = tg_mmus.traits.page_shift;
   if (start < end)
      tg_record_filters_doubt((start & ~in_large) >> shift, ((end - 1) | in_large) >> shift);
}

/* Whether the mapping is requested in pages that the recording is not made for. */
static Bool is_of_other_pages(const tlb_mapping* m)
{
   return m != NULL && (m->flags & TLB_MAP_HUGETLB) != 0
          && (large_pages >> m->huge_shift & 1) == 0;
}

/* Pages that have been looked up, by number, since a mapping changed. Page 0 is none. */
enum { N_MAPPED = 512 };

static tlb_page_number mapped[N_MAPPED];

static void forget_mapped(void)
{
   VG_(memset)(mapped, 0, sizeof mapped);
}

/* In pieces that the format has, which end where no huge page goes on. */
static void collapses(const tlb_map_event* e)
{
   tlb_map_event piece = *e;
   for (; piece.start < e->end; piece.start = piece.end) {
      const ULong end = (piece.start | (TLB_EVENT_MOST_COLLAPSED - 1)) + 1;
      piece.end = end < e->end ? end : e->end;
      tg_recorded_event(&piece);
   }
}

static void changes(void* opaque, const tlb_map_event* e)
{
   (void)opaque;
   if (is_of_other_pages(e->mapping)) {
      HChar text[160];
      const TgNumber size = tg_page_size(e->mapping->huge_shift);
      VG_(snprintf)(text, sizeof text, "the program asks for pages of %s; --record-pages=%s "
                                       "records these, too", size.text, size.text);
      tg_recording_stop(text);
      return;
   }
   forget_mapped();
   doubt_around(e->start, e->end);
   if (e->what == TLB_EVENT_MOVE)
      doubt_around(e->to, e->to + (e->end - e->start));
   if (e->what == TLB_EVENT_COLLAPSE)
      collapses(e);
   else
      tg_recorded_event(e);
}

void tg_recording_asks(void)
{
   const tlb_map_event e = { .what = TLB_EVENT_ASK };
   if (!tg_recording_on)
      return;
   if (thp_shift == 0 || (large_pages >> thp_shift & 1) == 0) {
      HChar text[160];
      VG_(snprintf)(text, sizeof text,
                    "the program asks for huge pages; --record-pages=%s records these, too",
                    thp_shift == 0 ? "..." : tg_page_size(thp_shift).text);
      tg_recording_stop(text);
      return;
   }
   tg_record_filters_doubt(0, ~0ULL);
   tg_recorded_event(&e);
}

static void follow_changes(void)
{
   tlb_pagemap* map = tg_aspace_map();
   for (SizeT i = 0; i < map->mappings.count; i++) {
      const tlb_mapping* m = map->mappings.at[i];
      const tlb_map_event e = { .what = TLB_EVENT_MAP, .start = m->start, .end = m->end,
                                .mapping = m };
      tg_recorded_event(&e);
   }
   tlb_pagemap_tell(map, changes, NULL);
   tg_forks_follow_all(True);
}

/* --- References --- */

/* The stack grows where it is touched first: that is recorded before. It has not to be looked up
   again until a mapping changes. */
static void find_mapping(tlb_page_number number)
{
   tlb_page_number* known = &mapped[number % N_MAPPED];
   if (LIKELY(*known == number))
      return;
   tg_aspace_find(number << tg_mmus.traits.page_shift);
   *known = number;
}

/* Something may be driven out of some machine. What the filters have is then certain to be in no
   first level any more, so each page is recorded once more when it is referenced next; the order in
   which they were used until here is told before. */
static void others_come(tlb_point point, ULong first, ULong last)
{
   if (!tg_recording_on)
      return;
   for (ULong n = first; large_pages != 0 && n <= last && point >= TLB_POINT_READ; n++)
      find_mapping((tlb_page_number)n);
   tg_record_filters_doubt(0, ~0ULL);
   tg_recorded_point(point, first, last);
}

/* With --data=yes: the part of the line for what the reference is to. */
static TgLine* line_of_ref(const TgRef* r)
{
   return tg_data_on && r->kind != TLB_FETCH ? tg_data_line_of_ref(tg_simulated, r)
          : LIKELY(r->site->line != NULL)      ? r->site->line
                                               : tg_site_line(r->site);
}

static UInt line_number(TgLine* line)
{
   if (line->recorded == 0) {
      if (n_lines == room_for_lines) {
         room_for_lines = room_for_lines == 0 ? 1024 : 2 * room_for_lines;
         line_at = VG_(realloc)("tg.recording", line_at, room_for_lines * sizeof *line_at);
      }
      line_at[n_lines++] = line;
      line->recorded = n_lines;
   }
   return line->recorded;
}

/* The reference has the number itself, where that is short: few sites and lines are in the
   processor's caches. */
static UInt line_number_of_ref(TgRef* r)
{
   enum { MOST = 0xffff };
   if (LIKELY(r->line != 0))
      return r->line;
   const UInt number = line_number(line_of_ref(r));
   if (number <= MOST && (!tg_data_on || r->kind == TLB_FETCH))
      r->line = (UShort)number;
   return number;
}

/* The kernel flushes. Which machines lose what is chosen later, so this is the same. */
static void flush_comes(TgLine* line, Addr start, Addr end, ULong bytes)
{
   if (!tg_recording_on)
      return;
   const tlb_flush_point f = { .line = line == NULL ? 0 : line_number(line), .start = start,
                               .end = end, .bytes = bytes };
   if (line != NULL)
      line->is_flushed = True;
   tg_record_filters_doubt(0, ~0ULL);
   tg_recorded_flush_point(&f);
}

void tg_recording_refer(TgRef* r, tlb_page* p, tlb_page_number number, ULong now,
                        TgRecordedPart part)
{
   const tlb_user user = r->kind;
   const Bool stores_too = r->modifies && tg_mmus.traits.split;
   const Bool follows = part == TG_RECORDED_SECOND && goes_on;
   if (part != TG_RECORDED_SECOND)
      goes_on = False;
   if (!tg_record_filters_observe(p, user)
       && !(stores_too && tg_record_filters_observe(p, TLB_STORE)))
      return;
   if (large_pages != 0)
      find_mapping(number);
   /* The run's own page map then has what its files and the summary say of page sizes. */
   if (large_pages != 0 && tg_jobs_on)
      tlb_refer_ask(&tg_mmus, p, number, user);
   tg_record_filters_before(user, stores_too, p, number);
   const UInt what = (UInt)user | (r->modifies ? TLB_RECORD_MODIFIES : 0)
                     | (part != TG_RECORDED_WHOLE ? TLB_RECORD_IN_PARTS : 0)
                     | (follows ? TLB_RECORD_GOES_ON : 0)
                     | (tg_costs_are_kept ? 0 : TLB_RECORD_UNCOUNTED);
   goes_on = part != TG_RECORDED_WHOLE;
   if (UNLIKELY(tg_call_stacks_on)) {
      if (tg_costs_are_kept)
         tg_call_stack_tell();
      tg_recorded_end_moves();
   }
   tg_recorded_add((tlb_record){ .what = (uint8_t)what, .line = line_number_of_ref(r),
                                 .page = number });
   tg_record_filters_refer(user, stores_too, p, number, now);
}

/* What each machine does with it is chosen later. */
void tg_recording_prefetch(TgLine* line, tlb_page_number number, ULong now, Bool present)
{
   const UInt what = TLB_RECORD_PREFETCH | (present ? TLB_RECORD_PRESENT : 0)
                     | (tg_costs_are_kept ? 0 : TLB_RECORD_UNCOUNTED);
   if (present)
      tg_record_filters_before_prefetch(number);
   tg_recorded_add((tlb_record){ .what = (uint8_t)what, .line = line_number(line),
                                 .page = present ? number : 0 });
   if (present)
      tg_record_filters_prefetch(number, now);
}

/* --- Start --- */

void tg_recording_begin(const TgOptions* options)
{
   thp_shift = options->record->thp_shift;
   large_pages = options->record->strength.large;
   tg_record_filters_init(&options->record->strength);
   tg_recorded_open(options);
   tg_recording_on = True;
   if (large_pages != 0)
      follow_changes();
   tg_interruptions_tell(others_come);
   tg_flushes_tell(flush_comes);
}
