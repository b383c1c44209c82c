/* The filters of a recording. See engine/record_filters.h. */

#include "pub_tool_basics.h"

#include "pub_tool_mallocfree.h"

#include "sim/base/divisor.h"
#include "sim/record/large_filter.h"
#include "sim/record/late_uses.h"

#include "base/allocator.h"
#include "engine/record_filters.h"
#include "engine/record_uses.h"
#include "engine/recorded.h"
#include "trace/run_mmus.h"

/* A filter holds the pages of each set that were used last, in any order. */
typedef struct {
   tlb_filter is;
   tlb_page** page;                /* NULL: the place is empty, or another's: */
   ULong* others;                  /* by place: what took it, of a user behind; 0: nothing has.
                                      NULL: there are no such users */
   uint64_t* others_time;          /* and when it was used last */
   UChar* table;                   /* by place: on which side the page is */
   const uint64_t** time[2];       /* by place: where the times stand at which the page was used
                                      last; of loads and stores apart, if these are told apart and
                                      the filter is for both */
   UInt n_times;
   uint64_t* recorded[TLB_N_USERS]; /* by user and place: the number of what the recording has of
                                       the page last, in its set of the side */
} Filter;

/* Large pages of one size. */
typedef struct {
   UInt number; /* among the recording's sizes, from 1 */
   tlb_large_filter* uses_of[TLB_N_USERS]; /* as below; NULL: the user has none */
   TgUseOrder side[TLB_N_TABLES];
} View;

static Filter filter[TLB_MAX_FILTERS];
static UInt n_filters;
static const Filter* uses_of[TLB_N_USERS]; /* has all pages that the user does not observe */
static Filter* only[TLB_N_TABLES]; /* the only filter of base pages of the side, if it keeps one
                                      time of each, and has no users behind; else NULL */
static TgUseOrder side[TLB_N_TABLES];
static tlb_late late[TLB_N_TABLES]; /* the filters of base pages of a side
                                       whose uses are recorded */
static Bool is_late[TLB_N_TABLES];  /* late */
static Bool is_joint; /* code and data have one order: that of the first side */
static UInt drives_out[TLB_N_USERS + 1]; /* a bit for each side: whose pages the user behind can
                                            drive out; the last one are prefetches */
static tlb_large_filter large[TLB_MAX_FILTERS];
static UInt n_large;
static tlb_large_filter* large_of[TLB_N_USERS][TLB_MAX_FILTERS]; /* those of the user */
static UInt n_large_of[TLB_N_USERS];
static View view[TLB_MAX_RECORD_SIZES];
static UInt n_views;
static UChar view_number[TLB_MAX_PAGE_SHIFT + 1]; /* by the logarithm of its pages' size */
static ULong large_pages;          /* their sizes, as in a tlb_strength;
                                      0: the recording has none */
static ULong folded[TLB_N_TABLES]; /* the filters of large pages have all uses up to this time */
static Bool split;

/* --- What a page's record tells --- */

static View* view_of(UInt shift)
{
   return &view[view_number[shift]];
}

static const uint64_t* time_at(tlb_page* p, tlb_user user)
{
   return &tlb_probe(p, split ? tlb_probe_at(user) : 0)->time;
}

static ULong time_of(tlb_page* p, tlb_user user)
{
   return *time_at(p, user);
}

Bool tg_record_filters_observe(tlb_page* p, tlb_user user)
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

static Bool is_behind(const tlb_filter* is, UInt user)
{
   return (is->behind >> user & 1) != 0;
}

static TgUseOrder* side_of(tlb_side table)
{
   return &side[is_joint ? 0 : table];
}

static tlb_page_number number_at(const Filter* f, UInt place)
{
   return number_of(f->table[place], f->page[place]);
}

/* References to that page of the filter are recorded from now on. */
static void observe(const Filter* f, UInt place)
{
   tlb_page_observe(&tg_mmus, f->table[place], f->page[place], is_of(f, TLB_LOAD),
                    is_of(f, TLB_STORE), TLB_OBSERVER_RECORDING);
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

/* The number of an empty place of the set, or of that of the page that was not used for longest.
   This and used_since() take most of the recording's time, so they read nothing but times. */
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
   if ((f->is.users & (TLB_FETCHES | TLB_LOADS)) != 0)
      user[n++] = TLB_LOAD; /* which stand where those of fetches do */
   if (is_of(f, TLB_STORE) && (n == 0 || split))
      user[n++] = TLB_STORE;
   return n;
}

static const uint64_t never; /* the time of an empty place */

static void point_at_times(Filter* f, UInt place, tlb_page* p)
{
   tlb_user user[2];
   const UInt n = users_of_times(f, user);
   for (UInt i = 0; i < n; i++) {
      const Bool has_none = f->table[place] == TLB_CODE
                               ? user[i] == TLB_STORE
                               : split && user[i] == TLB_LOAD && !is_of(f, TLB_LOAD);
      f->time[i][place] = has_none ? &never : time_at(p, user[i]);
   }
}

/* The place is left to a new page, or to another's. Uses of its page have been recorded. */
static void leave(Filter* f, UInt place)
{
   if (f->page[place] != NULL)
      observe(f, place);
   f->page[place] = NULL;
   if (f->others != NULL)
      f->others[place] = 0;
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      if (f->recorded[user] != NULL)
         f->recorded[user][place] = 0;
   }
}

/* --- Filters whose uses are recorded late --- */

/* As whom all users of the side are noted: loads and stores are not told apart there. */
static tlb_user user_of_late(tlb_side table)
{
   return table == TLB_CODE ? TLB_FETCH : TLB_LOAD;
}

static void observe_late(tlb_side table, tlb_page* p)
{
   tlb_page_observe(&tg_mmus, table, p, True, True, TLB_OBSERVER_RECORDING);
}

/* --- Filters of large pages --- */

static UInt as_user(tlb_user user)
{
   return user == TLB_STORE && !split ? TLB_LOAD : user;
}

/* Lets the filters of large pages have the last use of a page, which may have been left out. */
static void fold_page(tlb_user user, tlb_page* p, tlb_page_number number)
{
   const ULong time = time_of(p, user);
   for (UInt i = 0; i < n_large_of[user]; i++)
      tlb_large_filter_use(large_of[user][i], user, number, time);
}

static ULong fold_late(tlb_side table, ULong last)
{
   const tlb_late* l = &late[table];
   for (UInt i = 1; i <= tlb_late_pages(l); i++) {
      const ULong time = l->page[i].n_filters == 0 ? 0 : *l->page[i].time;
      if (time <= folded[table])
         continue;
      fold_page(user_of_late(table), l->page[i].page, (tlb_page_number)l->page[i].number);
      last = time > last ? time : last;
   }
   return last;
}

static void fold(tlb_side table)
{
   ULong last = is_late[table] ? fold_late(table, folded[table]) : folded[table];
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      const Filter* f = uses_of[user];
      if (f == NULL || tlb_side_of_user(user) != table)
         continue;
      for (UInt i = 0; i < f->is.sets * f->is.ways; i++) {
         tlb_page* p = f->table[i] == table ? f->page[i] : NULL;
         const ULong time = p == NULL ? 0 : time_of(p, user);
         if (time <= folded[table])
            continue;
         fold_page(user, p, number_of(table, p));
         last = time > last ? time : last;
      }
   }
   folded[table] = last;
}

static void observe_large_late(const tlb_large_filter* f, ULong number, tlb_side table)
{
   const tlb_late* l = &late[table];
   for (UInt i = 1; i <= tlb_late_pages(l); i++) {
      if (l->page[i].n_filters > 0 && l->page[i].number >> f->bits == number)
         observe_late(table, l->page[i].page);
   }
}

/* References to the base pages of a large page, which the filter has no more, are not left out. */
static void observe_large(const tlb_large_filter* l, ULong number)
{
   for (UInt i = 0; i < TLB_N_TABLES; i++) {
      const tlb_side table = i;
      if (is_late[table] && tlb_large_filter_is_of(l, user_of_late(table)))
         observe_large_late(l, number, table);
   }
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      const Filter* f = uses_of[user];
      if (f == NULL || !tlb_large_filter_is_of(l, user))
         continue;
      for (UInt i = 0; i < f->is.sets * f->is.ways; i++) {
         if (f->page[i] != NULL && number_at(f, i) >> l->bits == number)
            tlb_page_observe(&tg_mmus, f->table[i], f->page[i], (l->is.users & TLB_LOADS) != 0,
                             (l->is.users & TLB_STORES) != 0, TLB_OBSERVER_RECORDING);
      }
   }
}

static void enter_large(UInt user, tlb_page_number page, ULong now)
{
   for (UInt i = 0; i < n_large; i++) {
      ULong gone = 0;
      if (is_behind(&large[i].is, user))
         gone = tlb_large_filter_enter_others(&large[i], user, page, now);
      else if (tlb_large_filter_is_of(&large[i], user) && !tlb_large_filter_hits(&large[i], page))
         gone = tlb_large_filter_enter(&large[i], page);
      if (gone != 0)
         observe_large(&large[i], gone - 1);
   }
}

static Bool misses_large(tlb_user user, tlb_page_number page)
{
   for (UInt i = 0; i < n_large_of[user]; i++) {
      if (!tlb_large_filter_hits(large_of[user][i], page))
         return True;
   }
   return False;
}

static TgUseOrder* side_of_view(View* v, tlb_side table)
{
   return &v->side[is_joint ? 0 : table];
}

/* Where base pages have one set, their order is that of all large pages, too. */
static Bool has_own_order(tlb_side table)
{
   return side_of(table)->sets > 1;
}

/* The recording has this use of the page now. */
static void note_large(UInt user, tlb_side table, tlb_page_number page, ULong now)
{
   for (UInt i = 0; i < n_large_of[user]; i++) {
      tlb_large_filter* f = large_of[user][i];
      tlb_large_entry* u = tlb_large_filter_find(f, page);
      if (u == NULL)
         continue;
      tlb_large_entry_use(u, user, page, now);
      if (!has_own_order(table))
         continue;
      View* v = view_of(f->is.shift);
      TgUseOrder* s = side_of_view(v, table);
      if (v->uses_of[user] == f)
         u->by[user].recorded = ++s->n[tlb_filter_set(page >> f->bits, s->sets)];
   }
}

/* --- A page comes --- */

/* The page of that place is about to go. */
static void fold_place(const Filter* f, UInt place)
{
   for (UInt user = 0; n_large > 0 && f->page[place] != NULL && user < TLB_N_USERS; user++) {
      if (uses_of[user] == f && tlb_side_of_user(user) == f->table[place])
         fold_page(user, f->page[place], number_at(f, place));
   }
}

/* The page is in the filter from now on. */
static void enter(Filter* f, tlb_side table, tlb_page* p, tlb_page_number number)
{
   tlb_page** set = set_of(f, number);
   if (place_of(f, set, p) < f->is.ways)
      return;
   const UInt first = (UInt)(set - f->page), place = first + oldest_of(f, first);
   fold_place(f, place);
   leave(f, place);
   f->page[place] = p;
   f->table[place] = (UChar)table;
   point_at_times(f, place, p);
}

/* The number of a page of another's, which is not 0. */
static ULong name_of(UInt user, tlb_page_number number)
{
   return ((ULong)number + 1) << 2 | user;
}

/* A user behind has referenced the page, or so it may be to an array. */
static void enter_others(Filter* f, UInt user, tlb_page_number number, ULong now)
{
   const UInt first = (UInt)(set_of(f, number) - f->page);
   UInt place = first;
   while (place < first + f->is.ways && f->others[place] != name_of(user, number))
      place++;
   if (place == first + f->is.ways) {
      place = first + oldest_of(f, first);
      fold_place(f, place);
      leave(f, place);
      f->others[place] = name_of(user, number);
      for (UInt i = 0; i < f->n_times; i++)
         f->time[i][place] = &f->others_time[place];
   }
   f->others_time[place] = now;
}

/* --- Uses --- */

enum { MAX_USES = 3 * TLB_MAX_FILTER_SETS * TLB_MAX_FILTER_WAYS };

static TgUse* use; /* room for MAX_USES */

/* The places of so many, from `first` on, that were used since then. Which ones cannot be foreseen,
   so no branch depends on it. */
static UInt used_since(const uint64_t* const* times, UInt first, UInt n_places, ULong since,
                       UShort* found)
{
   UInt n = 0;
   for (UInt i = first; i < first + n_places; i++) {
      found[n] = (UShort)i;
      n += *times[i] > since;
   }
   return n;
}

enum { MOST_AT_ONCE = TLB_MAX_FILTER_SETS * TLB_MAX_FILTER_WAYS };

_Static_assert(MOST_AT_ONCE <= 1 << 16, "places are short numbers");

/* Adds the uses since then of pages at so many places of the filter. They are in the first levels
   still: no reference to the set has been recorded since then. Some are observed again, for their
   large page has left a filter. */
static UInt find_used(const Filter* f, tlb_user user, UInt first, UInt n_places, ULong since,
                      UInt n)
{
   static UShort found[MOST_AT_ONCE + 1];
   const uint64_t* const* times = f->time[f->n_times == 2 && user == TLB_STORE ? 1 : 0];
   const tlb_side table = tlb_side_of_user(user);
   const UInt n_found = used_since(times, first, n_places, since, found);
   for (UInt nth = 0; nth < n_found; nth++) {
      const UInt i = found[nth];
      /* An observed page has no uses that were left out, unless a large page has gone since. */
      if (f->page[i] == NULL || f->table[i] != table
          || (n_large == 0 && tg_record_filters_observe(f->page[i], user)))
         continue;
      use[n++] = (TgUse){ .time = *times[i], .recorded = &f->recorded[user][i],
                        .page = number_of(table, f->page[i]), .user = user };
   }
   return n;
}

/* Whether the order of the user's pages is that of the side. */
static Bool is_in_order_of(tlb_side table, tlb_user user)
{
   return is_joint || tlb_side_of_user(user) == table;
}

/* Records n uses that were left for later. */
static void record_late(tlb_side table, UInt n)
{
   if (n > 0)
      tg_recorded_add_uses(tlb_record_use(user_of_late(table), 0), late[table].uses, n);
}

/* Records in which order the pages of a set were used. */
static void add_uses(tlb_side table, UInt set)
{
   TgUseOrder* s = side_of(table);
   UInt n = 0;
   if (is_late[table]) {
      record_late(table, tlb_late_all(&late[table]));
      return;
   }
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      const Filter* f = uses_of[user];
      if (f == NULL || !is_in_order_of(table, user))
         continue;
      if (s->sets == 1) {
         n = find_used(f, user, 0, f->is.sets * f->is.ways, s->last[set], n);
         continue;
      }
      for (UInt at = set; at < f->is.sets; at += s->sets)
         n = find_used(f, user, at * f->is.ways, f->is.ways, s->last[set], n);
   }
   tg_record_uses(s, set, use, n, 0);
}

/* The same of large pages, each by its base page that was used last. References that were recorded
   are among them: unlike base pages, the order is not recorded at each. */
static void add_large_uses(View* v, tlb_side table, UInt set)
{
   TgUseOrder* s = side_of_view(v, table);
   UInt n = 0;
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      const tlb_large_filter* f = v->uses_of[user];
      if (f == NULL || !is_in_order_of(table, user))
         continue;
      for (UInt at = set; at < f->is.sets; at += s->sets) {
         for (UInt i = at * f->is.ways; i < (at + 1) * f->is.ways; i++) {
            tlb_large_entry* u = &f->at[i];
            if (u->number != 0 && u->others == 0 && u->by[user].time > s->last[set])
               use[n++] = (TgUse){ .time = u->by[user].time, .recorded = &u->by[user].recorded,
                                 .page = (tlb_page_number)u->by[user].page, .user = user };
         }
      }
   }
   tg_record_uses(s, set, use, n, v->number);
}

/* Before a reference that a filter of large pages misses. */
static void before_large_miss(tlb_side table, tlb_page_number page)
{
   fold(table);
   if (is_joint)
      fold(table == TLB_CODE ? TLB_DATA : TLB_CODE);
   for (View* v = view; v < view + n_views && has_own_order(table); v++) {
      for (UInt user = 0; user < TLB_N_USERS; user++) {
         if (v->uses_of[user] == NULL || !is_in_order_of(table, user))
            continue;
         add_large_uses(v, table, tlb_filter_set(page >> v->uses_of[user]->bits,
                                                 side_of_view(v, table)->sets));
         break;
      }
   }
}

/* Before a reference of a user behind, which can drive out what users in front have used: it stands
   between what is recorded of these. */
static void before_behind(UInt user, tlb_page_number number)
{
   for (UInt i = 0; i < TLB_N_TABLES; i++) {
      const tlb_side table = i;
      TgUseOrder* s = side_of(table);
      if ((drives_out[user] >> table & 1) == 0)
         continue;
      const UInt set = tlb_filter_set(number, s->sets);
      add_uses(table, set);
      s->n[set]++;
      if (n_large > 0)
         before_large_miss(table, number);
      for (UInt j = 0; j < n_large; j++) {
         TgUseOrder* of_view = side_of_view(view_of(large[j].is.shift), table);
         if (is_behind(&large[j].is, user) && of_view->sets > 0)
            of_view->n[tlb_filter_set(number >> large[j].bits, of_view->sets)]++;
      }
   }
}

/* --- Pages in doubt --- */

static void add_all_uses(void)
{
   for (UInt i = 0; i < TLB_N_TABLES; i++) {
      const tlb_side table = i;
      for (UInt set = 0; set < side_of(table)->sets; set++)
         add_uses(table, set);
      fold(table);
   }
   for (UInt i = 0; i < TLB_N_TABLES; i++) {
      const tlb_side table = i;
      for (View* v = view; v < view + n_views && has_own_order(table); v++) {
         for (UInt set = 0; set < side_of_view(v, table)->sets; set++)
            add_large_uses(v, table, set);
      }
   }
}

typedef struct {
   ULong first, last; /* base pages */
} Range;

/* Whether the place has one of these pages, and references to it are left out. */
static Bool is_between(const Filter* f, UInt place, Range r)
{
   tlb_page* p = f->page[place];
   if (p == NULL || (tg_record_filters_observe(p, TLB_LOAD)
                     && tg_record_filters_observe(p, TLB_STORE)))
      return False;
   const ULong number = number_at(f, place);
   return number >= r.first && number <= r.last;
}

static Bool is_late_between(const tlb_late_page* p, Range r)
{
   return p->n_filters > 0 && p->number >= r.first && p->number <= r.last;
}

static Bool late_has(tlb_side table, Range r)
{
   const tlb_late* l = &late[table];
   for (UInt i = 1; i <= tlb_late_pages(l); i++) {
      if (is_late_between(&l->page[i], r)
          && !tg_record_filters_observe(l->page[i].page, user_of_late(table)))
         return True;
   }
   return False;
}

static void doubt_late(tlb_side table, Range r)
{
   tlb_late* l = &late[table];
   for (UInt i = 1; i <= tlb_late_pages(l); i++) {
      if (!is_late_between(&l->page[i], r))
         continue;
      observe_late(table, l->page[i].page);
      tlb_late_doubt(l, i);
   }
}

/* Whether references to any of these pages are left out. */
static Bool filters_have(Range r)
{
   for (UInt i = 0; i < TLB_N_TABLES; i++) {
      const tlb_side table = i;
      if (is_late[table] && late_has(table, r))
         return True;
   }
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

void tg_record_filters_doubt(ULong first, ULong last)
{
   const Range r = { first, last };
   if (filters_have(r))
      add_all_uses();
   for (Filter* f = filter; f < filter + n_filters; f++) {
      for (UInt i = 0; i < f->is.sets * f->is.ways; i++) {
         if (is_between(f, i, r))
            observe(f, i);
      }
   }
   for (UInt i = 0; i < TLB_N_TABLES; i++) {
      const tlb_side table = i;
      if (is_late[table])
         doubt_late(table, r);
   }
   for (UInt i = 0; i < n_large; i++)
      tlb_large_filter_doubt(&large[i], r.first, r.last);
}

/* --- A reference --- */

/* The recording has this of the page now. */
static void note_recorded(tlb_user user, tlb_side table, tlb_page* p, tlb_page_number number)
{
   const Filter* f = uses_of[user];
   TgUseOrder* s = side_of(table);
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
      else if (is_behind(&filter[i].is, user))
         enter_others(&filter[i], user, number, now);
   }
   note_recorded(as_user(user), table, p, number);
   if (n_large > 0) {
      enter_large(user, number, now);
      note_large(as_user(user), table, number, now);
   }
   *tlb_observers_of(p, user, split) &= ~TLB_OBSERVER_RECORDING;
}

/* --- References where a side has one filter --- */

/* What before_only() has found, for refer_only(). */
static struct {
   UInt place;  /* the page's, or NO_PLACE, and then */
   UInt oldest; /* the one that it gets */
   Bool misses; /* filters of large pages */
} found;

enum { NO_PLACE = 0x7fffffff };

/* What add_uses() does, and what enter() looks for, in one walk through the set. */
static void before_only(const Filter* f, tlb_user user, tlb_page* p, tlb_page_number number)
{
   const tlb_side table = tlb_side_of_user(user);
   const UInt set = tlb_filter_set(number, f->is.sets), first = set * f->is.ways;
   const TgUseOrder* s = side_of(table);
   uint64_t* const recorded = f->recorded[user];
   UInt n = 0, place = NO_PLACE, oldest = first;
   ULong least = ~0ULL;
   for (UInt i = first; i < first + f->is.ways; i++) {
      const ULong time = *f->time[0][i];
      place = f->page[i] == p ? i : place;
      oldest = time < least ? i : oldest;
      least = time < least ? time : least;
      if (time > s->last[set] && (n_large > 0 || !tg_record_filters_observe(f->page[i], user)))
         use[n++] = (TgUse){ .time = time, .recorded = &recorded[i], .user = user,
                           .page = number_of(table, f->page[i]) };
   }
   tg_record_uses(side_of(table), set, use, n, 0);
   found.place = place;
   found.oldest = oldest;
   found.misses = n_large > 0 && misses_large(user, number);
   if (found.misses)
      before_large_miss(table, number);
}

/* As refer_as(). */
static void refer_only(Filter* f, tlb_user user, tlb_page* p, tlb_page_number number, ULong now)
{
   const tlb_side table = tlb_side_of_user(user);
   TgUseOrder* s = side_of(table);
   const UInt set = tlb_filter_set(number, s->sets);
   UInt place = found.place;
   s->last[set] = now;
   if (place == NO_PLACE) {
      place = found.oldest;
      fold_place(f, place);
      if (f->page[place] != NULL)
         observe(f, place);
      f->page[place] = p;
      f->table[place] = (UChar)table;
      f->time[0][place] = time_at(p, user);
   }
   f->recorded[user][place] = ++s->n[set];
   if (found.misses)
      enter_large(user, number, now);
   if (n_large > 0)
      note_large(user, table, number, now);
   tlb_rest(p)->observers &= ~TLB_OBSERVER_RECORDING;
}

/* --- References where uses are recorded late --- */

static void before_late(tlb_side table, tlb_user user, tlb_page_number number)
{
   found.misses = n_large > 0 && misses_large(user, number);
   record_late(table, tlb_late_before(&late[table], number, found.misses));
   if (found.misses)
      before_large_miss(table, number);
}

/* While another filter has the page, fold_late() finds it. */
static void leaves_late(void* opaque, void* page, uint64_t number, bool all)
{
   const tlb_side table = *(const tlb_side*)opaque;
   if (n_large > 0 && all)
      fold_page(user_of_late(table), page, (tlb_page_number)number);
   if (!tg_record_filters_observe(page, user_of_late(table)))
      observe_late(table, page);
}

static void refer_late(tlb_side table, tlb_user user, tlb_page* p, tlb_page_number number,
                       ULong now)
{
   tlb_late_refer(&late[table], p, number, time_at(p, user), leaves_late, &table);
   if (found.misses)
      enter_large(user, number, now);
   if (n_large > 0)
      note_large(user, table, number, now);
   tlb_rest(p)->observers &= ~TLB_OBSERVER_RECORDING;
}

/* --- References --- */

void tg_record_filters_before(tlb_user user, Bool stores_too, tlb_page* p, tlb_page_number number)
{
   const tlb_side table = tlb_side_of_user(user);
   if (LIKELY(is_late[table])) {
      before_late(table, as_user(user), number);
      return;
   }
   if (LIKELY(only[table] != NULL)) {
      before_only(only[table], as_user(user), p, number);
      return;
   }
   add_uses(table, tlb_filter_set(number, side_of(table)->sets));
   if (UNLIKELY(drives_out[user] != 0))
      before_behind(user, number);
   if (UNLIKELY(stores_too && drives_out[TLB_STORE] != 0))
      before_behind(TLB_STORE, number);
   if (n_large > 0
       && (misses_large(user, number) || (stores_too && misses_large(TLB_STORE, number))))
      before_large_miss(table, number);
}

void tg_record_filters_refer(tlb_user user, Bool stores_too, tlb_page* p, tlb_page_number number,
                             ULong now)
{
   const tlb_side table = tlb_side_of_user(user);
   if (LIKELY(is_late[table])) {
      refer_late(table, as_user(user), p, number, now);
      return;
   }
   if (LIKELY(only[table] != NULL)) {
      refer_only(only[table], as_user(user), p, number, now);
      return;
   }
   TgUseOrder* s = side_of(table);
   s->last[tlb_filter_set(number, s->sets)] = now;
   refer_as(user, table, p, number, now);
   if (stores_too)
      refer_as(TLB_STORE, table, p, number, now);
}

/* --- Prefetches --- */

void tg_record_filters_before_prefetch(tlb_page_number number)
{
   before_behind(TLB_PREFETCHER, number);
}

/* The page has no place of its own any more. What comes next takes it, at once. */
static void give_up(Filter* f, tlb_page* p, tlb_page_number number)
{
   tlb_page** set = set_of(f, number);
   const UInt at = place_of(f, set, p), place = (UInt)(set - f->page) + at;
   if (at == f->is.ways)
      return;
   fold_place(f, place);
   leave(f, place);
   for (UInt i = 0; i < f->n_times; i++)
      f->time[i][place] = &never;
}

/* Machines of the run that heed the prefetch store its time as that of a load: so the page's time
   is no use that is to be told. Its next reference is recorded. Until then the prefetch has its
   place, by a later time: so what is left out is still in the filter
   with no fewer pages before it. */
void tg_record_filters_prefetch(tlb_page_number number, ULong now)
{
   tlb_page* p = tlb_page_of(&tg_mmus, TLB_DATA, number);
   for (UInt i = 0; i < n_filters; i++) {
      if (!is_behind(&filter[i].is, TLB_PREFETCHER))
         continue;
      if (is_of(&filter[i], TLB_LOAD))
         give_up(&filter[i], p, number);
      enter_others(&filter[i], TLB_PREFETCHER, number, now);
   }
   if (n_large > 0)
      enter_large(TLB_PREFETCHER, number, now);
}

/* --- Start --- */

static void make_filter(Filter* f, const tlb_filter* is)
{
   tlb_user unused[2];
   *f = (Filter){ .is = *is };
   f->page = VG_(calloc)("tg.recording", is->sets * is->ways, sizeof *f->page);
   f->table = VG_(calloc)("tg.recording", is->sets * is->ways, sizeof *f->table);
   if (is->behind != 0) {
      f->others = VG_(calloc)("tg.recording", is->sets * is->ways, sizeof *f->others);
      f->others_time = VG_(calloc)("tg.recording", is->sets * is->ways, sizeof *f->others_time);
   }
   f->n_times = users_of_times(f, unused);
   for (UInt i = 0; i < f->n_times; i++) {
      f->time[i] = VG_(malloc)("tg.recording", is->sets * is->ways * sizeof *f->time[i]);
      for (UInt j = 0; j < is->sets * is->ways; j++)
         f->time[i][j] = &never;
   }
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      if (!is_of(f, user))
         continue;
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
      large_of[user][n_large_of[user]++] = f;
      TgUseOrder* s = side_of_view(v, tlb_side_of_user(user));
      s->sets = (UInt)tlb_common_divisor(is->sets, s->sets);
      if ((user != TLB_STORE || split)
          && (*best == NULL || is->sets * is->ways < (*best)->is.sets * (*best)->is.ways))
         *best = f;
   }
}

static Bool is_late_filter(const tlb_filter* f)
{
   return is_late[(f->users & TLB_FETCHES) != 0 ? TLB_CODE : TLB_DATA];
}

static void find_late(const tlb_strength* s)
{
   const tlb_memory memory = tg_memory("tg.recording");
   for (UInt i = 0; i < TLB_N_TABLES; i++) {
      const UInt users = i == TLB_CODE ? TLB_FETCHES : TLB_LOADS | TLB_STORES;
      is_late[i] = !split && tlb_late_can(s, users);
      if (is_late[i])
         tlb_late_init(&late[i], s, users, &memory);
   }
}

static void find_who_drives_out(const tlb_strength* s)
{
   for (UInt i = 0; i < s->n; i++) {
      for (UInt user = 0; user <= TLB_PREFETCHER; user++) {
         if (!is_behind(&s->filter[i], user))
            continue;
         if ((s->filter[i].users & TLB_FETCHES) != 0)
            drives_out[user] |= 1u << TLB_CODE;
         if ((s->filter[i].users & (TLB_LOADS | TLB_STORES)) != 0)
            drives_out[user] |= 1u << TLB_DATA;
      }
   }
}

static void find_only(void)
{
   UInt n[TLB_N_TABLES] = { 0 };
   for (UInt i = 0; i < n_filters; i++) {
      Filter* f = &filter[i];
      for (UInt j = 0; j < TLB_N_TABLES; j++) {
         const tlb_user user = j == TLB_CODE ? TLB_FETCH : TLB_LOAD;
         if ((f->is.users & (j == TLB_CODE ? TLB_FETCHES : TLB_LOADS | TLB_STORES)) == 0)
            continue;
         only[j] = ++n[j] == 1 && !split && !is_joint && f->n_times == 1 && f->others == NULL
                         && uses_of[user] == f
                      ? f : NULL;
      }
   }
   /* Who is behind in one filter drives out what is in others. */
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      if (drives_out[user] != 0)
         only[tlb_side_of_user(user)] = NULL;
   }
   if (drives_out[TLB_PREFETCHER] != 0)
      only[TLB_DATA] = NULL;
}

void tg_record_filters_init(const tlb_strength* s)
{
   large_pages = s->large;
   n_views = (UInt)__builtin_popcountll(large_pages);
   for (UInt i = 0; i < n_views; i++)
      view[i].number = i + 1;
   for (UInt shift = 1; shift <= TLB_MAX_PAGE_SHIFT; shift++)
      view_number[shift] = (UChar)(view_number[shift - 1] + (large_pages >> (shift - 1) & 1));
   split = tg_mmus.traits.split;
   is_joint = tlb_strength_is_joint(s) != 0;
   side[TLB_CODE].sets = tlb_strength_sets(s, True);
   side[TLB_DATA].sets = tlb_strength_sets(s, False);
   find_who_drives_out(s);
   use = VG_(malloc)("tg.recording", MAX_USES * sizeof *use);
   find_late(s);
   for (UInt i = 0; i < s->n; i++) {
      if (s->filter[i].shift == 0 && is_late_filter(&s->filter[i]))
         continue;
      if (s->filter[i].shift == 0)
         make_filter(&filter[n_filters++], &s->filter[i]);
      else
         make_large(&s->filter[i]);
   }
   find_only();
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      if (uses_of[user] != NULL) {
         Filter* f = &filter[uses_of[user] - filter];
         f->recorded[user] = VG_(calloc)("tg.recording", f->is.sets * f->is.ways, sizeof(ULong));
      }
   }
}
