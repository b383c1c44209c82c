/* The simulation of a trace. See simulate/trace_run.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/load_machine.h"
#include "simulate/progress.h"
#include "simulate/trace_files.h"
#include "simulate/trace_run.h"
#include "simulate/unpacked.h"

/* MOST_LINES: pages of code that are told apart; what comes from others is one more. */
enum { BATCH = 4096, MOST_LINES = 1 << 15, SLOTS = 1 << 17 };

/* A page of code, and what was referenced from there. The replay calls it a line. */
typedef struct {
   uint64_t page;
   uint64_t refs[TLB_N_USERS];
} code_page;

/* A file of the trace. */
typedef struct {
   TgTrace trace;
   TgUnpacked *file;
   const char *name;
   bool has_ended;
   uint32_t here; /* the line of its instruction at hand; 0: none has come */
} source;

typedef struct {
   unsigned n_sources;
   source **source;
   bool is_folder;
   TgReplay *replay;
   unsigned page_shift;
   unsigned n_lines, room;
   code_page *line;       /* number 1 is the first */
   uint32_t slot[SLOTS];  /* of a page: the line's number, 0 none; what collides goes on */
   uint32_t here;         /* of the source at hand */
   uint64_t refs[TLB_N_USERS], straddles[TLB_N_USERS];
   unsigned n;
   tlb_record record[BATCH];
} run;

/* --- Pages of code --- */

static uint64_t hash_of(uint64_t page)
{
   return page * UINT64_C(0x9E3779B97F4A7C15) >> 32;
}

static uint32_t new_line(run *r, uint64_t page)
{
   if (r->n_lines == r->room) {
      r->room = r->room == 0 ? 256 : 2 * r->room;
      r->line = tg_load_need(realloc(r->line, r->room * sizeof *r->line));
   }
   r->line[r->n_lines] = (code_page){ .page = page };
   return ++r->n_lines;
}

/* The last line is that of all pages for which there is none. */
static uint32_t line_of(run *r, uint64_t page)
{
   for (uint64_t at = hash_of(page);; at++) {
      uint32_t *const slot = &r->slot[at % SLOTS];
      if (*slot != 0 && r->line[*slot - 1].page == page)
         return *slot;
      if (*slot == 0 && r->n_lines > MOST_LINES)
         return MOST_LINES + 1;
      if (*slot == 0)
         return *slot = new_line(r, page);
   }
}

/* --- References --- */

/* How much of all files has been read; -1.0: that is not known of one. */
static double done_of(const run *r)
{
   double sum = 0.0;
   for (unsigned i = 0; i < r->n_sources; i++) {
      const double done = r->source[i]->has_ended ? 1.0 : tg_unpacked_done(r->source[i]->file);
      if (done < 0.0)
         return -1.0;
      sum += done;
   }
   return sum / r->n_sources;
}

static void replay_batch(run *r)
{
   const char *const wrong = tg_replay_records(r->replay, r->record, r->n);
   if (wrong != NULL)
      tg_load_refuse("internal error: %s", wrong);
   tg_progress_note(done_of(r));
   r->n = 0;
}

static void put(run *r, uint8_t what, uint64_t page)
{
   if (r->n == BATCH)
      replay_batch(r);
   r->record[r->n++] = (tlb_record){ .what = what, .line = r->here, .page = page };
}

/* What lies on several pages is a part on each, the lower first. */
static void refer(run *r, const TgTraceRef *ref)
{
   const uint64_t first = ref->address >> r->page_shift;
   const uint64_t last = (ref->address + (ref->size - 1)) >> r->page_shift;
   const uint8_t what = (uint8_t)(ref->user | (ref->modifies ? TLB_RECORD_MODIFIES : 0)
                                  | (first != last ? TLB_RECORD_IN_PARTS : 0));
   if (ref->user == TLB_FETCH && (r->here == 0 || r->line[r->here - 1].page != first))
      r->here = line_of(r, first);
   if (r->here == 0)
      r->here = line_of(r, UINT64_MAX);
   r->line[r->here - 1].refs[ref->user]++;
   r->refs[ref->user]++;
   r->straddles[ref->user] += first != last;
   for (uint64_t page = first; page <= last; page++)
      put(r, (uint8_t)(what | (page != first ? TLB_RECORD_GOES_ON : 0)), page);
}

/* What a file says must not differ from what another has said. */
static TgTraceFound compare(const run *r, TgTrace *t)
{
   for (unsigned i = 0; i < r->n_sources; i++) {
      const TgTrace *const other = &r->source[i]->trace;
      if (other->pid != 0 && t->pid != 0 && other->pid != t->pid)
         return tg_trace_damaged(t, "it is of process %llu, and another file of %llu; a trace of "
                                    "one process is read", (unsigned long long)t->pid,
                                 (unsigned long long)other->pid);
      if (t->page_shift != 0 && t->page_shift != r->page_shift)
         return tg_trace_damaged(t, "pages have another size than in another file");
   }
   return TG_TRACE_MORE;
}

/* Up to the next timestamp, which may be the same again; or, of one file, to the end. */
static TgTraceFound read_slice(run *r, source *s)
{
   const uint64_t time = s->trace.time;
   TgTraceFound found = TG_TRACE_MORE;
   r->here = s->here;
   while (found == TG_TRACE_MORE && (r->n_sources == 1 || s->trace.time == time)) {
      found = tg_trace_next(&s->trace);
      for (unsigned i = 0; found == TG_TRACE_MORE && i < s->trace.n; i++)
         refer(r, &s->trace.ref[i]);
   }
   s->here = r->here;
   if (r->n_sources > 1 && (found == TG_TRACE_MORE || found == TG_TRACE_END)
       && compare(r, &s->trace) == TG_TRACE_DAMAGED)
      return TG_TRACE_DAMAGED;
   return found;
}

/* That with the earliest timestamp, of several the first. NULL: all have ended. */
static source *next_source(const run *r)
{
   source *next = NULL;
   for (unsigned i = 0; i < r->n_sources; i++) {
      source *const s = r->source[i];
      if (!s->has_ended && (next == NULL || s->trace.time < next->trace.time))
         next = s;
   }
   return next;
}

static bool is_whole(const source *s, TgTraceRun *result)
{
   const char *program;
   if (tg_unpacked_is_whole(s->file, &program))
      return true;
   result->how = TG_TRACE_CUT;
   snprintf(result->why, sizeof result->why, "%s cannot unpack the file to its end", program);
   return false;
}

/* What has been unpacked in part ends somewhere, and perhaps not where a record does. */
static void find_ending(const source *s, TgTraceFound found, TgTraceRun *result)
{
   result->how = found;
   if (found == TG_TRACE_DAMAGED)
      snprintf(result->why, sizeof result->why, "%s %llu: %s", s->trace.format->unit,
               (unsigned long long)s->trace.at_unit, s->trace.why);
   else if (is_whole(s, result) && found == TG_TRACE_CUT)
      snprintf(result->why, sizeof result->why, "the file is not complete");
}

/* Of a folder, in which file it is. */
static void name_file(const source *s, TgTraceRun *result)
{
   char why[sizeof result->why];
   memcpy(why, result->why, sizeof why);
   const char *const slash = strrchr(s->name, '/');
   snprintf(result->why, sizeof result->why, "%.150s: %.200s", slash == NULL ? s->name : slash + 1,
            why);
}

static void read_all(run *r, TgTraceRun *result)
{
   source *s;
   while ((s = next_source(r)) != NULL) {
      const TgTraceFound found = read_slice(r, s);
      if (found == TG_TRACE_MORE)
         continue;
      find_ending(s, found, result);
      if (result->how != TG_TRACE_END) {
         if (r->is_folder)
            name_file(s, result);
         return;
      }
      s->has_ended = true;
   }
   if (r->refs[TLB_FETCH] + r->refs[TLB_LOAD] + r->refs[TLB_STORE] == 0) {
      result->how = TG_TRACE_DAMAGED;
      snprintf(result->why, sizeof result->why, "there is no reference in it");
   }
}

/* --- The text of the out-file --- */

typedef struct {
   char *text;
   size_t n, room;
} out_text;

static void add(out_text *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(out_text *out, const char *format, ...)
{
   va_list args;
   va_start(args, format);
   const int n = vsnprintf(NULL, 0, format, args);
   va_end(args);
   if (out->n + (size_t)n + 1 > out->room) {
      out->room = 2 * out->room + (size_t)n + 4096;
      out->text = tg_load_need(realloc(out->text, out->room));
   }
   va_start(args, format);
   vsnprintf(out->text + out->n, (size_t)n + 1, format, args);
   va_end(args);
   out->n += (size_t)n;
}

static void add_line(out_text *out, unsigned number, const code_page *line, unsigned page_shift)
{
   if (number > MOST_LINES)
      add(out, "fn=(%u) further pages of code\n", number);
   else if (line->page == UINT64_MAX)
      add(out, "fn=(%u) before the first instruction\n", number);
   else
      add(out, "fn=(%u) page 0x%llx\n", number, (unsigned long long)line->page << page_shift);
   add(out, ":");
   for (unsigned user = 0; user < TLB_N_USERS; user++)
      add(out, "%llu ", (unsigned long long)line->refs[user]);
   add(out, "0 0 0 %u ;0\n", number);
}

static const char *name_of(const char *name)
{
   return strcmp(name, "-") == 0 ? "the standard input" : name;
}

/* Names can have control characters, which the text has not. */
static void add_name(out_text *out, const char *name)
{
   for (; *name != '\0'; name++)
      add(out, "%c", (unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name);
}

static void make_text(const run *r, const char *name, TgTraceRun *result)
{
   out_text out = { NULL, 0, 0 };
   add(&out, "# callgrind format\nversion: 1\ncreator: tg_simulate-%s\ncmd: trace ", TG_VERSION);
   add_name(&out, name_of(name));
   add(&out, "\npart: 1\ndesc: Format: 1\n@machine\ndesc: Trace: %s\n"
             "desc: Straddles: instructions %llu, reads %llu, writes %llu\n@second misses\n"
             "positions: line\n@events\n\nob=(1) ???\nfl=(1) ???\n", result->about,
       (unsigned long long)r->straddles[TLB_FETCH], (unsigned long long)r->straddles[TLB_LOAD],
       (unsigned long long)r->straddles[TLB_STORE]);
   for (unsigned i = 0; i < r->n_lines; i++)
      add_line(&out, i + 1, &r->line[i], r->page_shift);
   add(&out, "@totals\n");
   result->text = out.text;
   result->n_text = out.n;
}

/* --- All of it --- */

/* Adds to the line. */
static void say(TgTraceRun *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(TgTraceRun *result, const char *format, ...)
{
   const size_t n = strlen(result->about);
   va_list args;
   va_start(args, format);
   vsnprintf(result->about + n, sizeof result->about - n, format, args);
   va_end(args);
}

static void tell(const run *r, const char *v2p, const TgPhysical *physical, TgTraceRun *result)
{
   const TgTraceFormat *const format = r->source[0]->trace.format;
   uint64_t n_prefetches = 0, n_not_fetched = 0;
   bool no_data = false;
   for (unsigned i = 0; i < r->n_sources; i++) {
      n_prefetches += r->source[i]->trace.n_prefetches;
      n_not_fetched += r->source[i]->trace.n_not_fetched;
      no_data |= r->source[i]->trace.no_data;
   }
   say(result, "%s, ", format->name);
   if (r->is_folder)
      say(result, "%u files, ", r->n_sources);
   say(result, "%llu instructions, %llu reads, %llu writes; it has %s",
       (unsigned long long)r->refs[TLB_FETCH], (unsigned long long)r->refs[TLB_LOAD],
       (unsigned long long)r->refs[TLB_STORE], format->lacks);
   if (no_data)
      say(result, ", no references to data");
   if (n_prefetches > 0)
      say(result, "; %llu prefetches are left out", (unsigned long long)n_prefetches);
   if (n_not_fetched > 0)
      say(result, "; %llu repetitions of instructions are not fetched again",
          (unsigned long long)n_not_fetched);
   if (physical == NULL)
      return;
   const char *const slash = strrchr(v2p, '/');
   say(result, "; %.100s has %llu pages", slash == NULL ? v2p : slash + 1,
       (unsigned long long)tg_physical_n_pages(physical));
   if (tg_physical_n_missing(physical) > 0)
      say(result, ", and %llu that are referenced are not among them: these are base pages",
          (unsigned long long)tg_physical_n_missing(physical));
}

static source *open_source(const char *name, const TgTraceFormat *format)
{
   source *const s = tg_load_need(calloc(1, sizeof *s));
   s->name = name;
   s->file = tg_unpacked_open(name);
   tg_trace_begin(&s->trace, format, tg_unpacked_get, s->file);
   return s;
}

static void close_source(source *s)
{
   tg_unpacked_close(s->file);
   free(s);
}

unsigned tg_trace_page_shift(const char *name, const TgTraceFormat *format)
{
   const TgTraceFiles files = tg_trace_files(name, format);
   source *const s = open_source(files.name[0], format);
   while (tg_trace_next(&s->trace) == TG_TRACE_MORE && s->trace.n == 0)
      ;
   const unsigned shift = s->trace.page_shift;
   close_source(s);
   return shift;
}

TgTraceRun tg_trace_run(const char *name, const TgTraceFormat *format, TgReplay *replay,
                        unsigned page_shift, const char *v2p, TgPhysical *physical)
{
   TgTraceRun result = { .how = TG_TRACE_END };
   const TgTraceFiles files = tg_trace_files(name, format);
   run *const r = tg_load_need(calloc(1, sizeof *r));
   r->replay = replay;
   r->page_shift = page_shift;
   r->is_folder = files.is_folder;
   r->n_sources = files.n;
   r->source = tg_load_need(calloc(files.n, sizeof *r->source));
   for (unsigned i = 0; i < files.n; i++)
      r->source[i] = open_source(files.name[i], format);
   read_all(r, &result);
   replay_batch(r);
   result.instructions = r->refs[TLB_FETCH];
   tell(r, v2p, physical, &result);
   if (result.how == TG_TRACE_END)
      make_text(r, name, &result);
   for (unsigned i = 0; i < files.n; i++)
      close_source(r->source[i]);
   free(r->source);
   free(r->line);
   free(r);
   return result;
}
