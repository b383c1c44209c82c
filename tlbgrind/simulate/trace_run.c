/* The simulation of a trace. See simulate/trace_run.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/load_machine.h"
#include "simulate/progress.h"
#include "simulate/trace_run.h"
#include "simulate/unpacked.h"

/* MOST_LINES: pages of code that are told apart; what comes from others is one more. */
enum { BATCH = 4096, MOST_LINES = 1 << 15, SLOTS = 1 << 17 };

/* A page of code, and what was referenced from there. The replay calls it a line. */
typedef struct {
   uint64_t page;
   uint64_t refs[TLB_N_USERS];
} code_page;

typedef struct {
   TgTrace trace;
   TgUnpacked *file;
   TgReplay *replay;
   unsigned page_shift;
   unsigned n_lines, room;
   code_page *line;       /* number 1 is the first */
   uint32_t slot[SLOTS];  /* of a page: the line's number, 0 none; what collides goes on */
   uint32_t here;         /* the line of the instruction at hand; 0: none has come */
   uint64_t refs[TLB_N_USERS], straddles[TLB_N_USERS];
   unsigned n;
   tlb_record record[BATCH];
} run;

static void *need(void *memory)
{
   if (memory == NULL)
      tg_load_refuse("no memory");
   return memory;
}

/* --- Pages of code --- */

static uint64_t hash_of(uint64_t page)
{
   return page * UINT64_C(0x9E3779B97F4A7C15) >> 32;
}

static uint32_t new_line(run *r, uint64_t page)
{
   if (r->n_lines == r->room) {
      r->room = r->room == 0 ? 256 : 2 * r->room;
      r->line = need(realloc(r->line, r->room * sizeof *r->line));
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

static void replay_batch(run *r)
{
   const char *const wrong = tg_replay_records(r->replay, r->record, r->n);
   if (wrong != NULL)
      tg_load_refuse("internal error: %s", wrong);
   tg_progress_note(tg_unpacked_done(r->file));
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

static TgTraceFound read_all(run *r)
{
   for (;;) {
      const TgTraceFound found = tg_trace_next(&r->trace);
      if (found != TG_TRACE_MORE)
         return found;
      for (unsigned i = 0; i < r->trace.n; i++)
         refer(r, &r->trace.ref[i]);
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
      out->text = need(realloc(out->text, out->room));
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

static void tell(const run *r, char *out, size_t size)
{
   const TgTrace *const t = &r->trace;
   int n = snprintf(out, size, "%s, %llu instructions, %llu reads, %llu writes; it has %s",
                    t->format->name, (unsigned long long)r->refs[TLB_FETCH],
                    (unsigned long long)r->refs[TLB_LOAD],
                    (unsigned long long)r->refs[TLB_STORE], t->format->lacks);
   if (t->no_data)
      n += snprintf(out + n, size - (size_t)n, ", no references to data");
   if (t->n_prefetches > 0)
      n += snprintf(out + n, size - (size_t)n, "; %llu prefetches are left out",
                    (unsigned long long)t->n_prefetches);
   if (t->n_not_fetched > 0)
      snprintf(out + n, size - (size_t)n,
               "; %llu repetitions of instructions are not fetched again",
               (unsigned long long)t->n_not_fetched);
}

static void open_trace(run *r, const char *name, const TgTraceFormat *format)
{
   r->file = tg_unpacked_open(name);
   tg_trace_begin(&r->trace, format, tg_unpacked_get, r->file);
}

unsigned tg_trace_page_shift(const char *name, const TgTraceFormat *format)
{
   run *const r = need(calloc(1, sizeof *r));
   open_trace(r, name, format);
   while (tg_trace_next(&r->trace) == TG_TRACE_MORE && r->trace.n == 0)
      ;
   const unsigned shift = r->trace.page_shift;
   tg_unpacked_close(r->file);
   free(r);
   return shift;
}

/* What has been unpacked in part ends somewhere, and perhaps not where a record does. */
static void find_ending(run *r, TgTraceFound found, TgTraceRun *result)
{
   const char *program;
   result->how = found;
   if (found == TG_TRACE_DAMAGED)
      snprintf(result->why, sizeof result->why, "%s %llu: %s", r->trace.format->unit,
               (unsigned long long)r->trace.at_unit, r->trace.why);
   else if (!tg_unpacked_is_whole(r->file, &program)) {
      result->how = TG_TRACE_CUT;
      snprintf(result->why, sizeof result->why, "%s cannot unpack the file to its end", program);
   } else if (found == TG_TRACE_CUT)
      snprintf(result->why, sizeof result->why, "the file is not complete");
   else if (r->refs[TLB_FETCH] + r->refs[TLB_LOAD] + r->refs[TLB_STORE] == 0) {
      result->how = TG_TRACE_DAMAGED;
      snprintf(result->why, sizeof result->why, "there is no reference in it");
   }
}

TgTraceRun tg_trace_run(const char *name, const TgTraceFormat *format, TgReplay *replay,
                        unsigned page_shift)
{
   TgTraceRun result = { .how = TG_TRACE_END };
   run *const r = need(calloc(1, sizeof *r));
   r->replay = replay;
   r->page_shift = page_shift;
   open_trace(r, name, format);
   const TgTraceFound found = read_all(r);
   replay_batch(r);
   find_ending(r, found, &result);
   result.instructions = r->refs[TLB_FETCH];
   tell(r, result.about, sizeof result.about);
   if (result.how == TG_TRACE_END)
      make_text(r, name, &result);
   tg_unpacked_close(r->file);
   free(r->line);
   free(r);
   return result;
}
