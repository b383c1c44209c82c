/* The recording of a run: what it leaves out. See engine/recording.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"

#include "sim/base/divisor.h"
#include "sim/mmu/refer.h"
#include "sim/record/large_filter.h"

#include "base/allocator.h"
#include "base/number_format.h"
#include "engine/jobs.h"
#include "engine/recorded.h"
#include "engine/recording.h"
#include "options/record_options.h"
#include "space/aspace.h"
#include "space/forks.h"
#include "trace/segment_run.h"

Bool tg_recording_on;

/* A filter holds the pages of each set that were used last, in any order. */
typedef struct {
   tlb_filter is;
   tlb_page** page;                /* NULL: the place is empty */
   const uint64_t** time[2];       /* by place: where the times stand at which the page was used last;
                                      of loads and stores apart, if these are told apart and the
                                      filter is for both */
   UInt n_times;
   uint64_t* recorded[TLB_N_USERS]; /* by user and place: the number of what the recording has of the
                                      page last, in its set of the side */
} Filter;

/* One kind of page: data or code. What the filters of a side have in common: pages whose numbers
   are the same modulo `sets` can drive each other out. */
typedef struct {
   UInt sets;
   ULong last[TLB_MAX_FILTER_SETS]; /* by set: the time up to which uses have been recorded */
   ULong n[TLB_MAX_FILTER_SETS];    /* and how many references and uses have been */
} Side;

/* Large pages of one size. */
typedef struct {
   UInt number; /* among the recording's sizes, from 1 */
   tlb_large_filter* uses_of[TLB_N_USERS]; /* as below; NULL: the user has none */
   Side side[TLB_N_TABLES]; /* `last`: up to which time the order is recorded in which the large
                               pages of the set were used last */
} View;

static Filter filter[TLB_MAX_FILTERS];
static UInt n_filters;
static const Filter* uses_of[TLB_N_USERS]; /* has all pages that the user does not observe */
static Filter* only[TLB_N_TABLES]; /* the only filter of base pages of the side, if it keeps one time
                                      of each; else NULL */
static Side side[TLB_N_TABLES];
static tlb_large_filter large[TLB_MAX_FILTERS];
static UInt n_large;
static View view[TLB_MAX_RECORD_SIZES];
static UInt n_views;
static UChar view_number[TLB_MAX_PAGE_SHIFT + 1]; /* by the logarithm of its pages' size */
static UInt thp_shift;             /* of the run's transparent huge pages */
static ULong large_pages;          /* their sizes, as in a tlb_strength; 0: the recording has none */
static ULong folded[TLB_N_TABLES]; /* the filters of large pages have all uses up to this time */
static Bool split;
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
      VG_(umsg)("warning: forked children are not recorded; a %%p in the name of --record= gives each a "
                "recording of its own\n");
}

void tg_recording_has_forked(void)
{
   has_forked = True;
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
   tg_jobs_take(line_of);
}

/* --- What a page's record tells --- */

static const uint64_t* time_at(tlb_page* p, tlb_user user)
{
   return &tlb_probe(p, split ? tlb_probe_at(user) : 0)->time;
}

static ULong time_of(tlb_page* p, tlb_user user)
{
   return *time_at(p, user);
}

static Bool is_observed(tlb_page* p, tlb_user user)
{
   return (*tlb_observers_of(p, user, split) & TLB_OBSERVER_RECORDING) != 0;
}

static tlb_page_number number_of(tlb_side table, tlb_page* p)
{
   const UInt shift = tg_mmus.traits.page_shift;
   return table == TLB_CODE ? tlb_code_page_number(p, shift) : tlb_page_number_of_data(p, shift);
}

/* --- Filters --- */

static Bool is_of(const Filter* f, tlb_user user)
{
   return (f->is.users >> user & 1) != 0;
}

static tlb_page** set_of(const Filter* f, tlb_page_number number)
{
   return f->page + tlb_filter_set(number, f->is.sets) * f->is.ways;
}

/* The page's place in its set; `ways`: it has none. */
static UInt place_of(const Filter* f, tlb_page** set, const tlb_page* p)
{
   UInt i = 0;
   while (i < f->is.ways && set[i] != p)
      i++;
   return i;
}

/* The number of an empty place of the set, or of that of the page that was not used for longest. This
   and find_in_set() take most of the recording's time, so they read nothing but times. */
static UInt oldest_of_one(const uint64_t* const* time, UInt ways)
{
   UInt oldest = 0;
   ULong least = ~0ULL;
   for (UInt i = 0; i < ways; i++) {
      const ULong t = *time[i];
      oldest = t < least ? i : oldest;
      least = t < least ? t : least;
   }
   return oldest;
}

/* The same where each page has two times. */
static UInt oldest_of_both(const uint64_t* const* loaded, const uint64_t* const* stored, UInt ways)
{
   UInt oldest = 0;
   ULong least = ~0ULL;
   for (UInt i = 0; i < ways; i++) {
      const ULong a = *loaded[i], b = *stored[i], t = a > b ? a : b;
      oldest = t < least ? i : oldest;
      least = t < least ? t : least;
   }
   return oldest;
}

static UInt oldest_of(const Filter* f, UInt first)
{
   return f->n_times == 1
             ? oldest_of_one(f->time[0] + first, f->is.ways)
             : oldest_of_both(f->time[0] + first, f->time[1] + first, f->is.ways);
}

/* Of which users a filter keeps times. */
static UInt users_of_times(const Filter* f, tlb_user user[2])
{
   UInt n = 0;
   for (UInt u = 0; u < TLB_N_USERS; u++) {
      if (is_of(f, u) && (n == 0 || split))
         user[n++] = u;
   }
   return n;
}

static void point_at_times(Filter* f, UInt place, tlb_page* p)
{
   tlb_user user[2];
   const UInt n = users_of_times(f, user);
   for (UInt i = 0; i < n; i++)
      f->time[i][place] = time_at(p, user[i]);
}

/* --- Filters of large pages --- */

static View* view_of(UInt shift)
{
   return &view[view_number[shift]];
}

static UInt as_user(tlb_user user)
{
   return user == TLB_STORE && !split ? TLB_LOAD : user;
}

/* Lets the filters of large pages have the last use of a page, which may have been left out. */
static void fold_page(tlb_user user, tlb_page* p, tlb_page_number number)
{
   const ULong time = time_of(p, user);
   for (UInt i = 0; i < n_large; i++) {
      if (tlb_large_filter_is_of(&large[i], user))
         tlb_large_filter_use(&large[i], user, number, time);
   }
}

static void fold(tlb_side table)
{
   ULong last = folded[table];
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      const Filter* f = uses_of[user];
      if (f == NULL || tlb_side_of_user(user) != table)
         continue;
      for (UInt i = 0; i < f->is.sets * f->is.ways; i++) {
         tlb_page* p = f->page[i];
         const ULong time = p == NULL ? 0 : time_of(p, user);
         if (time <= folded[table])
            continue;
         fold_page(user, p, number_of(table, p));
         last = time > last ? time : last;
      }
   }
   folded[table] = last;
}

/* References to the base pages of a large page, which the filter has no more, are not left out. */
static void observe_large(const tlb_large_filter* l, tlb_side table, ULong number)
{
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      const Filter* f = uses_of[user];
      if (f == NULL || !tlb_large_filter_is_of(l, user))
         continue;
      for (UInt i = 0; i < f->is.sets * f->is.ways; i++) {
         tlb_page* p = f->page[i];
         if (p != NULL && number_of(table, p) >> l->bits == number)
            tlb_page_observe(&tg_mmus, table, p, (l->is.users & TLB_LOADS) != 0,
                             (l->is.users & TLB_STORES) != 0, TLB_OBSERVER_RECORDING);
      }
   }
}

static void enter_large(tlb_user user, tlb_side table, tlb_page_number page)
{
   for (UInt i = 0; i < n_large; i++) {
      if (!tlb_large_filter_is_of(&large[i], user) || tlb_large_filter_hits(&large[i], page))
         continue;
      const ULong gone = tlb_large_filter_enter(&large[i], page);
      if (gone != 0)
         observe_large(&large[i], table, gone - 1);
   }
}

static Bool misses_large(tlb_user user, tlb_page_number page)
{
   for (UInt i = 0; i < n_large; i++) {
      if (tlb_large_filter_is_of(&large[i], user) && !tlb_large_filter_hits(&large[i], page))
         return True;
   }
   return False;
}

/* The recording has this use of the page now. */
static void note_large(UInt user, tlb_side table, tlb_page_number page, ULong now)
{
   for (UInt i = 0; i < n_large; i++) {
      tlb_large_filter* f = &large[i];
      tlb_large_entry* u = tlb_large_filter_is_of(f, user) ? tlb_large_filter_find(f, page) : NULL;
      if (u == NULL)
         continue;
      tlb_large_entry_use(u, user, page, now);
      View* v = view_of(f->is.shift);
      if (v->uses_of[user] == f)
         u->by[user].recorded
            = ++v->side[table].n[tlb_filter_set(page >> f->bits, v->side[table].sets)];
   }
}

/* --- A page comes --- */

/* The page is in the filter from now on. */
static void enter(Filter* f, tlb_side table, tlb_page* p, tlb_page_number number)
{
   tlb_page** set = set_of(f, number);
   if (place_of(f, set, p) < f->is.ways)
      return;
   const UInt place = oldest_of(f, (UInt)(set - f->page));
   for (UInt user = 0; n_large > 0 && set[place] != NULL && user < TLB_N_USERS; user++) {
      if (uses_of[user] == f)
         fold_page(user, set[place], number_of(table, set[place]));
   }
   if (set[place] != NULL)
      tlb_page_observe(&tg_mmus, table, set[place], is_of(f, TLB_LOAD), is_of(f, TLB_STORE),
                       TLB_OBSERVER_RECORDING);
   set[place] = p;
   point_at_times(f, (UInt)(set + place - f->page), p);
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      if (f->recorded[user] != NULL)
         f->recorded[user][set + place - f->page] = 0;
   }
}

/* --- Uses --- */

typedef struct {
   ULong time;
   uint64_t* recorded;
   tlb_page_number page;
   tlb_user user;
} Use;

enum { MAX_USES = 2 * TLB_MAX_FILTER_SETS * TLB_MAX_FILTER_WAYS };

static Use* use; /* room for MAX_USES */

/* Adds the uses since then of pages in the set of the filter. They are in the first levels still: no
   reference to the set has been recorded since then. Some are observed again, for their large page
   has left a filter. */
static UInt find_in_set(const Filter* f, tlb_user user, UInt set, ULong since, UInt n)
{
   const UInt first = set * f->is.ways;
   const uint64_t* const* times = f->time[f->n_times == 2 && user == TLB_STORE ? 1 : 0];
   for (UInt i = first; i < first + f->is.ways; i++) {
      const ULong time = *times[i];
      /* An observed page has no uses that were left out, unless a large page has gone since. */
      if (LIKELY(time <= since) || (n_large == 0 && is_observed(f->page[i], user)))
         continue;
      use[n++] = (Use){ .time = time, .recorded = &f->recorded[user][i],
                        .page = number_of(tlb_side_of_user(user), f->page[i]), .user = user };
   }
   return n;
}

/* In order of their times. Most often there are few, and in order. */
static void sort(UInt n)
{
   for (UInt i = 1; i < n; i++) {
      const Use u = use[i];
      UInt j = i;
      for (; j > 0 && use[j - 1].time > u.time; j--)
         use[j] = use[j - 1];
      use[j] = u;
   }
}

/* How many of the uses, from the first on, are the last that the recording has of the set, in this
   order: it need not have them twice. */
static UInt n_known(UInt n, ULong n_recorded)
{
   UInt known = n;
   while (known > 0 && *use[known - 1].recorded != n_recorded)
      known--;
   for (UInt i = 1; i < known; i++) {
      if (*use[known - 1 - i].recorded != n_recorded - i)
         return 0;
   }
   return known;
}

/* Records n uses, in order, of pages of that size: those of a set, as far as the recording does not
   tell that already. */
static void record_uses(Side* s, UInt set, UInt n, UInt size)
{
   sort(n);
   for (UInt i = n_known(n, s->n[set]); i < n; i++) {
      tg_recorded_add((tlb_record){ .what = tlb_record_use(use[i].user, size), .page = use[i].page });
      *use[i].recorded = ++s->n[set];
   }
   if (n > 0)
      s->last[set] = use[n - 1].time;
}

/* Records in which order the pages of a set were used. */
static void add_uses(tlb_side table, UInt set)
{
   Side* s = &side[table];
   UInt n = 0;
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      const Filter* f = uses_of[user];
      if (f == NULL || tlb_side_of_user(user) != table)
         continue;
      for (UInt at = set; at < f->is.sets; at += s->sets)
         n = find_in_set(f, user, at, s->last[set], n);
   }
   record_uses(s, set, n, 0);
}

/* The same of large pages, each by its base page that was used last. References that were recorded
   are among them: unlike base pages, the order is not recorded at each. */
static void add_large_uses(View* v, tlb_side table, UInt set)
{
   Side* s = &v->side[table];
   UInt n = 0;
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      const tlb_large_filter* f = v->uses_of[user];
      if (f == NULL || tlb_side_of_user(user) != table)
         continue;
      for (UInt at = set; at < f->is.sets; at += s->sets) {
         for (UInt i = at * f->is.ways; i < (at + 1) * f->is.ways; i++) {
            tlb_large_entry* u = &f->at[i];
            if (u->number != 0 && u->by[user].time > s->last[set])
               use[n++] = (Use){ .time = u->by[user].time, .recorded = &u->by[user].recorded,
                                 .page = (tlb_page_number)u->by[user].page, .user = user };
         }
      }
   }
   record_uses(s, set, n, v->number);
}

/* Where base pages have one set, their order is that of all large pages, too. */
static Bool has_own_order(tlb_side table)
{
   return side[table].sets > 1;
}

/* Before a reference that a filter of large pages misses. */
static void before_large_miss(tlb_side table, tlb_page_number page)
{
   fold(table);
   for (View* v = view; v < view + n_views && has_own_order(table); v++) {
      for (UInt user = 0; user < TLB_N_USERS; user++) {
         if (v->uses_of[user] == NULL || tlb_side_of_user(user) != table)
            continue;
         add_large_uses(v, table, tlb_filter_set(page >> v->uses_of[user]->bits, v->side[table].sets));
         break;
      }
   }
}

/* --- Changes of the page map --- */

static void add_all_uses(void)
{
   for (UInt i = 0; i < TLB_N_TABLES; i++) {
      const tlb_side table = i;
      for (UInt set = 0; set < side[table].sets; set++)
         add_uses(table, set);
      fold(table);
      for (View* v = view; v < view + n_views && has_own_order(table); v++) {
         for (UInt set = 0; set < v->side[table].sets; set++)
            add_large_uses(v, table, set);
      }
   }
}

typedef struct {
   ULong first, last; /* base pages */
} Range;

static tlb_side side_of_filter(const Filter* f)
{
   return (f->is.users & TLB_FETCHES) != 0 ? TLB_CODE : TLB_DATA;
}

/* Whether the place has one of these pages, and references to it are left out. */
static Bool is_between(const Filter* f, UInt place, Range r)
{
   tlb_page* p = f->page[place];
   if (p == NULL || (is_observed(p, TLB_LOAD) && is_observed(p, TLB_STORE)))
      return False;
   const ULong number = number_of(side_of_filter(f), p);
   return number >= r.first && number <= r.last;
}

static Bool filters_have(Range r)
{
   for (const Filter* f = filter; f < filter + n_filters; f++) {
      for (UInt i = 0; i < f->is.sets * f->is.ways; i++) {
         if (is_between(f, i, r))
            return True;
      }
   }
   for (UInt i = 0; i < n_large; i++) {
      if (tlb_large_filter_has(&large[i], r.first, r.last))
         return True;
   }
   return False;
}

/* The next references to these pages are recorded: what backs them is asked anew. In which order
   they have been used is told before. They keep their places, for an array keeps its entries, too. */
static void doubt(Range r)
{
   if (!filters_have(r))
      return;
   add_all_uses();
   for (Filter* f = filter; f < filter + n_filters; f++) {
      for (UInt i = 0; i < f->is.sets * f->is.ways; i++) {
         if (is_between(f, i, r))
            tlb_page_observe(&tg_mmus, side_of_filter(f), f->page[i], is_of(f, TLB_LOAD),
                             is_of(f, TLB_STORE), TLB_OBSERVER_RECORDING);
      }
   }
   for (UInt i = 0; i < n_large; i++)
      tlb_large_filter_doubt(&large[i], r.first, r.last);
}

/* Whatever large pages [start, end) has a part of: these break, or come. */
static void doubt_around(ULong start, ULong end)
{
   const ULong in_large = (1ULL << (63 - __builtin_clzll(large_pages))) - 1;
   const UInt shift = tg_mmus.traits.page_shift;
   if (start < end)
      doubt((Range){ (start & ~in_large) >> shift, ((end - 1) | in_large) >> shift });
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

static void changes(void* opaque, const tlb_map_event* e)
{
   (void)opaque;
   if (is_of_other_pages(e->mapping)) {
      HChar text[160];
      VG_(snprintf)(text, sizeof text, "the program asks for pages of %s; --record-pages=%s records "
                                       "these, too", tg_page_size(e->mapping->huge_shift).text,
                    tg_page_size(e->mapping->huge_shift).text);
      tg_recording_stop(text);
      return;
   }
   forget_mapped();
   doubt_around(e->start, e->end);
   if (e->what == TLB_EVENT_MOVE)
      doubt_around(e->to, e->to + (e->end - e->start));
   tg_recorded_event(e);
}

void tg_recording_asks(void)
{
   const tlb_map_event e = { .what = TLB_EVENT_ASK };
   if (!tg_recording_on)
      return;
   if (thp_shift == 0 || (large_pages >> thp_shift & 1) == 0) {
      HChar text[160];
      VG_(snprintf)(text, sizeof text, "the program asks for huge pages; --record-pages=%s records "
                                       "these, too", thp_shift == 0 ? "..." : tg_page_size(thp_shift).text);
      tg_recording_stop(text);
      return;
   }
   doubt((Range){ 0, ~0ULL });
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

/* The stack grows where it is touched first: that is recorded before. It has not to be looked up again
   until a mapping changes. */
static void find_mapping(tlb_page_number number)
{
   tlb_page_number* known = &mapped[number % N_MAPPED];
   if (LIKELY(*known == number))
      return;
   tg_aspace_find(number << tg_mmus.traits.page_shift);
   *known = number;
}

static UInt line_number(const TgRef* r)
{
   TgLine* line = tg_site_line(r->site);
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

/* The recording has this of the page now. */
static void note_recorded(tlb_user user, tlb_side table, tlb_page* p, tlb_page_number number)
{
   const Filter* f = uses_of[user];
   Side* s = &side[table];
   const ULong nth = ++s->n[tlb_filter_set(number, s->sets)];
   if (f == NULL)
      return;
   tlb_page** set = set_of(f, number);
   const UInt place = place_of(f, set, p);
   if (place < f->is.ways)
      f->recorded[user][set + place - f->page] = nth;
}

/* Afterwards the page is in all filters of the user. It may be in all those of others, too, but
   they observe it until they have a number for it. */
static void refer_as(tlb_user user, tlb_side table, tlb_page* p, tlb_page_number number, ULong now)
{
   for (UInt i = 0; i < n_filters; i++) {
      if (is_of(&filter[i], user))
         enter(&filter[i], table, p, number);
   }
   note_recorded(as_user(user), table, p, number);
   if (n_large > 0) {
      enter_large(user, table, number);
      note_large(as_user(user), table, number, now);
   }
   *tlb_observers_of(p, user, split) &= ~TLB_OBSERVER_RECORDING;
}

/* What refer_as() does, and add_uses() before it, where the side has but one filter: it goes through
   the set once. */
static void refer_only(Filter* f, TgRef* r, UInt what, tlb_page* p, tlb_page_number number, ULong now)
{
   const tlb_side table = side_of_filter(f);
   const tlb_user user = table == TLB_CODE ? TLB_FETCH : TLB_LOAD;
   const UInt set = tlb_filter_set(number, f->is.sets), first = set * f->is.ways;
   Side* s = &side[table];
   uint64_t* const recorded = f->recorded[user];
   UInt n = 0, place = ~0u, oldest = first;
   ULong least = ~0ULL;
   for (UInt i = first; i < first + f->is.ways; i++) {
      const ULong time = *f->time[0][i];
      place = f->page[i] == p ? i : place;
      oldest = time < least ? i : oldest;
      least = time < least ? time : least;
      if (time > s->last[set] && (n_large > 0 || !is_observed(f->page[i], user)))
         use[n++] = (Use){ .time = time, .recorded = &recorded[i], .user = user,
                           .page = number_of(table, f->page[i]) };
   }
   record_uses(s, set, n, 0);
   const Bool misses = n_large > 0 && misses_large(user, number);
   if (misses)
      before_large_miss(table, number);
   tg_recorded_add((tlb_record){ .what = (uint8_t)what, .line = line_number(r), .page = number });
   s->last[set] = now;
   if (place == ~0u) {
      tlb_page* gone = f->page[oldest];
      place = oldest;
      if (gone != NULL && n_large > 0)
         fold_page(user, gone, number_of(table, gone));
      if (gone != NULL)
         tlb_page_observe(&tg_mmus, table, gone, True, True, TLB_OBSERVER_RECORDING);
      f->page[place] = p;
      f->time[0][place] = time_at(p, user);
   }
   recorded[place] = ++s->n[set];
   if (misses)
      enter_large(user, table, number);
   if (n_large > 0)
      note_large(user, table, number, now);
   tlb_rest(p)->observers &= ~TLB_OBSERVER_RECORDING;
}

void tg_recording_refer(TgRef* r, tlb_page* p, tlb_page_number number, ULong now,
                        TgRecordedPart part)
{
   const tlb_user user = r->kind;
   const tlb_side table = tlb_side_of_user(user);
   const Bool stores_too = r->modifies && split;
   const Bool follows = part == TG_RECORDED_SECOND && goes_on;
   if (part != TG_RECORDED_SECOND)
      goes_on = False;
   if (!is_observed(p, user) && !(stores_too && is_observed(p, TLB_STORE)))
      return;
   if (large_pages != 0)
      find_mapping(number);
   /* The run's own page map then has what its files and the summary say of page sizes. */
   if (large_pages != 0 && tg_jobs_on)
      tlb_refer_ask(&tg_mmus, p, number, user);
   const UInt what = (UInt)user | (r->modifies ? TLB_RECORD_MODIFIES : 0)
                     | (part != TG_RECORDED_WHOLE ? TLB_RECORD_IN_PARTS : 0)
                     | (follows ? TLB_RECORD_GOES_ON : 0)
                     | (tg_costs_are_kept ? 0 : TLB_RECORD_UNCOUNTED);
   goes_on = part != TG_RECORDED_WHOLE;
   if (LIKELY(only[table] != NULL)) {
      refer_only(only[table], r, what, p, number, now);
      return;
   }
   const UInt set = tlb_filter_set(number, side[table].sets);
   add_uses(table, set);
   if (n_large > 0 && (misses_large(user, number) || (stores_too && misses_large(TLB_STORE, number))))
      before_large_miss(table, number);
   tg_recorded_add((tlb_record){ .what = (uint8_t)what, .line = line_number(r), .page = number });
   side[table].last[set] = now;
   refer_as(user, table, p, number, now);
   if (stores_too)
      refer_as(TLB_STORE, table, p, number, now);
}

/* --- Start --- */

static void make_filter(Filter* f, const tlb_filter* is)
{
   static const uint64_t never; /* the time of an empty place */
   tlb_user unused[2];
   *f = (Filter){ .is = *is };
   f->page = VG_(calloc)("tg.recording", is->sets * is->ways, sizeof *f->page);
   f->n_times = users_of_times(f, unused);
   for (UInt i = 0; i < f->n_times; i++) {
      f->time[i] = VG_(malloc)("tg.recording", is->sets * is->ways * sizeof *f->time[i]);
      for (UInt j = 0; j < is->sets * is->ways; j++)
         f->time[i][j] = &never;
   }
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      Side* s = &side[tlb_side_of_user(user)];
      if (!is_of(f, user))
         continue;
      s->sets = (UInt)tlb_common_divisor(is->sets, s->sets);
      /* The smallest of a user's has all pages that are in all of them. */
      if ((user != TLB_STORE || split)
          && (uses_of[user] == NULL
              || is->sets * is->ways < uses_of[user]->is.sets * uses_of[user]->is.ways))
         uses_of[user] = f;
   }
}

static void make_large(const tlb_filter* is)
{
   const tlb_memory memory = tg_memory("tg.recording");
   tlb_large_filter* f = &large[n_large++];
   View* v = view_of(is->shift);
   tlb_large_filter_init(f, is, tg_mmus.traits.page_shift, &memory);
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      tlb_large_filter** best = &v->uses_of[user];
      if (!tlb_large_filter_is_of(f, user))
         continue;
      Side* s = &v->side[tlb_side_of_user(user)];
      s->sets = (UInt)tlb_common_divisor(is->sets, s->sets);
      if ((user != TLB_STORE || split)
          && (*best == NULL || is->sets * is->ways < (*best)->is.sets * (*best)->is.ways))
         *best = f;
   }
}

static void make_filters(const tlb_strength* s)
{
   large_pages = s->large;
   n_views = (UInt)__builtin_popcountll(large_pages);
   for (UInt i = 0; i < n_views; i++)
      view[i].number = i + 1;
   for (UInt shift = 1; shift <= TLB_MAX_PAGE_SHIFT; shift++)
      view_number[shift] = (UChar)(view_number[shift - 1] + (large_pages >> (shift - 1) & 1));
   split = tg_mmus.traits.split;
   use = VG_(malloc)("tg.recording", MAX_USES * sizeof *use);
   for (UInt i = 0; i < s->n; i++) {
      if (s->filter[i].shift == 0)
         make_filter(&filter[n_filters++], &s->filter[i]);
      else
         make_large(&s->filter[i]);
   }
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      if (uses_of[user] != NULL) {
         Filter* f = &filter[uses_of[user] - filter];
         f->recorded[user] = VG_(calloc)("tg.recording", f->is.sets * f->is.ways, sizeof(ULong));
      }
   }
}

static void find_only(void)
{
   UInt n[TLB_N_TABLES] = { 0 };
   for (Filter* f = filter; f < filter + n_filters; f++) {
      const tlb_side table = side_of_filter(f);
      only[table] = ++n[table] == 1 && !split && uses_of[table == TLB_CODE ? TLB_FETCH : TLB_LOAD] == f
                       ? f : NULL;
   }
}

void tg_recording_begin(const TgOptions* options)
{
   thp_shift = options->record->thp_shift;
   make_filters(&options->record->strength);
   find_only();
   tg_recorded_open(options);
   tg_recording_on = True;
   if (large_pages != 0)
      follow_changes();
}
