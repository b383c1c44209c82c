/* The recording of a run. See engine/recording.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"

#include "config.h"

#include "sim/base/divisor.h"
#include "sim/record/stream.h"

#include "base/file.h"
#include "base/packed_file.h"
#include "base/shown.h"
#include "engine/recording.h"
#include "options/record_options.h"
#include "options/refuse.h"
#include "trace/segment_run.h"

Bool tg_recording_on;

/* A filter holds the pages of each set that were used last, in any order. */
typedef struct {
   tlb_filter is;
   tlb_page** page;                /* NULL: the place is empty */
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
static UInt n_lines;
static Bool goes_on; /* the first part of the reference at hand is recorded */

/* --- The file --- */

static void put(void* opaque, const uint8_t* bytes, size_t n)
{
   (void)opaque;
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
   tg_packed_forget(file);
   let_go();
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

static ULong time_of(tlb_page* p, tlb_user user)
{
   return tlb_probe(p, split ? tlb_probe_at(user) : 0)->time;
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

/* When the page was used last by any of the filter's users. */
static ULong used_last(const Filter* f, tlb_page* p)
{
   const ULong loaded = is_of(f, TLB_STORE) && !is_of(f, TLB_LOAD) ? 0 : p->time;
   const ULong stored = split && is_of(f, TLB_STORE) ? tlb_writes(p)->time : 0;
   return loaded > stored ? loaded : stored;
}

/* An empty place, or that of the page that was not used for longest. */
static UInt oldest_of(const Filter* f, tlb_page** set)
{
   UInt oldest = 0;
   ULong least = ~0ULL;
   for (UInt i = 0; i < f->is.ways; i++) {
      const ULong time = set[i] == NULL ? 0 : used_last(f, set[i]);
      if (time < least) {
         least = time;
         oldest = i;
      }
   }
   return oldest;
}

/* The page is in the filter from now on. */
static void enter(Filter* f, tlb_side table, tlb_page* p, tlb_page_number number)
{
   tlb_page** set = set_of(f, number);
   if (place_of(f, set, p) < f->is.ways)
      return;
   const UInt place = oldest_of(f, set);
   if (set[place] != NULL)
      tlb_page_observe(&tg_mmus, table, set[place], is_of(f, TLB_LOAD), is_of(f, TLB_STORE),
                       TLB_OBSERVER_RECORDING);
   set[place] = p;
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
   for (UInt i = first; i < first + f->is.ways; i++) {
      tlb_page* p = f->page[i];
      if (p == NULL || is_observed(p, user))
         continue;
      const ULong time = time_of(p, user);
      if (time > since)
         use[n++] = (Use){ .time = time, .recorded = &f->recorded[user][i], .page = p,
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
   if (line->recorded == 0)
      line->recorded = ++n_lines;
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
   *f = (Filter){ .is = *is };
   f->page = VG_(calloc)("tg.recording", is->sets * is->ways, sizeof *f->page);
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
   name = tg_output_name(TG_RECORDING_OUT);
   file = tg_packed_open(name, &why);
   if (file == NULL)
      tg_refuse(tg_output_arg(TG_RECORDING_OUT), "%s; give a file that can be written", why);
   stream = VG_(malloc)("tg.recording", sizeof *stream);
   write_head(options);
   tlb_stream_begin(stream, put, NULL);
   tg_recording_on = True;
}
