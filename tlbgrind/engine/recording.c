/* The recording of a run. See engine/recording.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"

#include "config.h"

#include "sim/base/divisor.h"

#include "base/file.h"
#include "base/packed_file.h"
#include "base/shown.h"
#include "engine/jobs.h"
#include "engine/recording.h"
#include "options/record_options.h"
#include "options/refuse.h"
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
   ULong* recorded[TLB_N_USERS];   /* by user and place: the number of what the recording has of the
                                      page last, in its set of the side */
} Filter;

/* One kind of page: data or code. What the filters of a side have in common: pages whose numbers
   are the same modulo `sets` can drive each other out. */
typedef struct {
   UInt sets;
   ULong last[TLB_MAX_FILTER_SETS]; /* by set: the time up to which uses have been recorded */
   ULong n[TLB_MAX_FILTER_SETS];    /* and how many references and uses have been */
} Side;

static const HChar* name;
static TgPackedFile* file;
static tlb_stream_writer* stream;
static Filter filter[TLB_MAX_FILTERS];
static UInt n_filters;
static const Filter* uses_of[TLB_N_USERS]; /* has all pages that the user does not observe */
static Side side[TLB_N_TABLES];
static Bool split;
static UInt n_lines, room_for_lines;
static TgLine** line_at; /* by its number, from 1 */
static Bool goes_on; /* the first part of the reference at hand is recorded */

/* --- The file --- */

static void put(void* opaque, const uint8_t* bytes, size_t n)
{
   (void)opaque;
   if (tg_jobs_on)
      tg_jobs_write(bytes, n);
   else
      tg_packed_write(file, bytes, n);
}

static void put_text(void* opaque, const HChar* text, SizeT n)
{
   put(opaque, (const UChar*)text, n);
}

static void write_head(const TgOptions* o)
{
   TgFile* f = tg_file_to(put_text, NULL);
   tg_file_print(f, "# tlbgrind recording\nversion: 1\ncreator: tlbgrind-" TG_VERSION
                    " (Valgrind " VERSION ")\npid: %d\ncmd: ", VG_(getpid)());
   tg_file_command(f);
   tg_file_print(f, "\nbase page: %u\n", o->page_shift);
   for (UInt i = 0; i < n_filters; i++) {
      HChar text[64];
      tlb_filter_print(&filter[i].is, text, sizeof text);
      tg_file_print(f, "filter: %s\n", text);
   }
   tg_file_print(f, "\n");
   tg_file_close(f);
}

static void flush_block(void)
{
   tlb_stream_flush(stream, tg_instructions());
}

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
   for (UInt i = 0; i < TLB_N_TABLES; i++) {
      tlb_side table = i;
      tg_mmus.traits.observers[table] &= ~TLB_OBSERVER_RECORDING;
      tlb_pages_each(&tg_mmus, table, release, &table);
   }
   tg_mmus.traits.write_observers &= ~TLB_OBSERVER_RECORDING;
   VG_(free)(stream);
   stream = NULL;
   file = NULL;
}

const HChar* tg_recording_end(void)
{
   flush_block();
   tlb_stream_end(stream);
   const HChar* failure = tg_packed_close(file);
   let_go();
   return failure;
}

void tg_recording_stop(const HChar* why)
{
   if (!tg_recording_on)
      return;
   if (tg_jobs_on) {
      tg_jobs_stop(why);
      let_go();
      return;
   }
   HChar text[200];
   flush_block();
   VG_(snprintf)(text, sizeof text, "@cut %s\n", why);
   tlb_stream_text(stream, text, VG_(strlen)(text));
   const HChar* failure = tg_recording_end();
   VG_(umsg)("warning: the recording '%s' ends after %llu instructions: %s\n", tg_shown(name),
             tg_instructions(), failure != NULL ? failure : why);
}

void tg_recording_forked(void)
{
   if (!tg_recording_on)
      return;
   if (tg_jobs_on)
      tg_jobs_forked();
   else
      tg_packed_forget(file);
   let_go();
}

/* --- Marks --- */

static void put_mark(tlb_mark mark, const HChar* text)
{
   flush_block();
   tlb_stream_mark(stream, mark, tg_instructions(), text, VG_(strlen)(text));
}

void tg_recording_zero(void)
{
   if (tg_recording_on)
      put_mark(TLB_MARK_ZERO, "");
}

void tg_recording_part(tlb_mark mark, const HChar* label)
{
   if (tg_recording_on && !tg_jobs_on)
      put_mark(mark, label);
}

static TgLine* line_of(UInt number)
{
   return number - 1 < n_lines ? line_at[number - 1] : NULL;
}

void tg_recording_settle(void)
{
   if (!tg_recording_on || !tg_jobs_on)
      return;
   put_mark(TLB_MARK_REPORT, "");
   tg_jobs_take(line_of);
}

void tg_recording_text(void* opaque, const HChar* text, SizeT n)
{
   (void)opaque;
   if (stream->n > 0)
      flush_block();
   while (n > 0) {
      const SizeT piece = n < TLB_BLOCK_TEXT ? n : TLB_BLOCK_TEXT;
      tlb_stream_text(stream, text, piece);
      text += piece;
      n -= piece;
   }
}

/* --- What a page's record tells --- */

static const uint64_t* time_of(tlb_page* p, tlb_user user)
{
   return &tlb_probe(p, split ? tlb_probe_at(user) : 0)->time;
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
   return f->page + number % f->is.sets * f->is.ways;
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
      f->time[i][place] = time_of(p, user[i]);
}

/* The page is in the filter from now on. */
static void enter(Filter* f, tlb_side table, tlb_page* p, tlb_page_number number)
{
   tlb_page** set = set_of(f, number);
   if (place_of(f, set, p) < f->is.ways)
      return;
   const UInt place = oldest_of(f, (UInt)(set - f->page));
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
   ULong* recorded;
   tlb_page* page;
   tlb_user user;
} Use;

enum { MAX_USES = 2 * TLB_MAX_FILTER_SETS * TLB_MAX_FILTER_WAYS };

static Use* use; /* room for MAX_USES */

static void add(tlb_record r)
{
   if (!tlb_stream_add(stream, r))
      flush_block();
}

/* Adds the uses since then of pages in the set of the filter. */
static UInt find_in_set(const Filter* f, tlb_user user, UInt set, ULong since, UInt n)
{
   const UInt first = set * f->is.ways;
   const uint64_t* const* times = f->time[f->n_times == 2 && user == TLB_STORE ? 1 : 0];
   for (UInt i = first; i < first + f->is.ways; i++) {
      const ULong time = *times[i];
      if (LIKELY(time <= since) || is_observed(f->page[i], user))
         continue;
      use[n++] = (Use){ .time = time, .recorded = &f->recorded[user][i], .page = f->page[i],
                        .user = user };
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

/* Records in which order pages were used that the next reference to page `number` can drive out. */
static void add_uses(tlb_side table, tlb_page_number number)
{
   Side* s = &side[table];
   const UInt set = (UInt)(number % s->sets);
   const ULong since = s->last[set];
   UInt n = 0;
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      const Filter* f = uses_of[user];
      if (f == NULL || tlb_side_of_user(user) != table)
         continue;
      for (UInt at = set; at < f->is.sets; at += s->sets)
         n = find_in_set(f, user, at, since, n);
   }
   sort(n);
   for (UInt i = n_known(n, s->n[set]); i < n; i++) {
      add((tlb_record){ .what = (uint8_t)(TLB_RECORD_USE | use[i].user),
                        .page = number_of(table, use[i].page) });
      *use[i].recorded = ++s->n[set];
   }
}

/* --- References --- */

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
   const ULong nth = ++s->n[number % s->sets];
   if (f == NULL)
      return;
   tlb_page** set = set_of(f, number);
   const UInt place = place_of(f, set, p);
   if (place < f->is.ways)
      f->recorded[user][set + place - f->page] = nth;
}

/* Afterwards the page is in all filters of the user. It may be in all those of others, too, but
   they observe it until they have a number for it. */
static void refer_as(tlb_user user, tlb_side table, tlb_page* p, tlb_page_number number)
{
   for (UInt i = 0; i < n_filters; i++) {
      if (is_of(&filter[i], user))
         enter(&filter[i], table, p, number);
   }
   note_recorded(user == TLB_STORE && !split ? TLB_LOAD : user, table, p, number);
   *tlb_observers_of(p, user, split) &= ~TLB_OBSERVER_RECORDING;
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
   add_uses(table, number);
   const UInt what = (UInt)user | (r->modifies ? TLB_RECORD_MODIFIES : 0)
                     | (part != TG_RECORDED_WHOLE ? TLB_RECORD_IN_PARTS : 0)
                     | (follows ? TLB_RECORD_GOES_ON : 0);
   goes_on = part != TG_RECORDED_WHOLE;
   add((tlb_record){ .what = (uint8_t)what, .line = line_number(r), .page = number });
   side[table].last[number % side[table].sets] = now;
   refer_as(user, table, p, number);
   if (stores_too)
      refer_as(TLB_STORE, table, p, number);
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

static void make_filters(const tlb_strength* s)
{
   n_filters = s->n;
   split = tg_mmus.traits.split;
   use = VG_(malloc)("tg.recording", MAX_USES * sizeof *use);
   for (UInt i = 0; i < n_filters; i++)
      make_filter(&filter[i], &s->filter[i]);
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      if (uses_of[user] != NULL) {
         Filter* f = &filter[uses_of[user] - filter];
         f->recorded[user] = VG_(calloc)("tg.recording", f->is.sets * f->is.ways, sizeof(ULong));
      }
   }
}

void tg_recording_begin(const TgOptions* options)
{
   const HChar* why;
   make_filters(&options->record->strength);
   if (options->jobs > 0) {
      tg_jobs_begin(options);
   } else {
      name = tg_output_name(TG_RECORDING_OUT);
      file = tg_packed_open(name, &why);
      if (file == NULL)
         tg_refuse(tg_output_arg(TG_RECORDING_OUT), "%s; give a file that can be written", why);
   }
   stream = VG_(malloc)("tg.recording", sizeof *stream);
   write_head(options);
   tlb_stream_begin(stream, put, NULL);
   tg_recording_on = True;
}
