/* Stores and writes the fault log. See faults/log.h. */

#include "pub_tool_basics.h"

#include "pub_tool_clientstate.h"
#include "pub_tool_deduppoolalloc.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"

#include "config.h"

#include "faults/kinds.h"
#include "faults/log.h"
#include "native/maps.h"
#include "base/file.h"
#include "base/shown.h"
#include "arch/syscall_names.h"
#include "options/thp.h"
#include "faults/page_use.h"
#include "trace/instrumentation.h"
#include "trace/segment_run.h"

/* All properties of a fault but page and time: many faults share one record of them. */
typedef struct {
   const HChar* brought[2]; /* pages mapped along, warm and cold; equal texts are equal pointers */
   const HChar* read;
   const HChar* stack;      /* IDs of the call sites */
   UInt map;
   UInt code;               /* ID, 0: none */
   UInt thread;
   Int by;
   HChar kinds[TLB_N_VIEWS + 1];
} Circumstances;

/* A fault, or a series with constant steps of pages and instructions. A program that fills memory
   has one fault for each of its pages, all alike: they are one record. */
typedef struct {
   ULong page;
   ULong instructions;
   UInt in;                 /* number of its Circumstances; equal ones have one number */
   UInt series;             /* number of its Series, from 1; 0: a single fault */
} Record;

typedef struct {
   ULong more;              /* faults after the first */
   Long page_step;
   ULong instructions_step;
} Series;

/* The begin of a phase. */
typedef struct {
   ULong after;             /* so many faults came before it */
   ULong instructions;
   const HChar* phase;
} Mark;

/* A touch, and how many faults came before it. */
typedef struct {
   TgTouch touch;
   ULong after;
} Touch;

typedef struct _Code {
   struct _Code* next; /* the first two members are VG_(HashTable)'s */
   UWord site;         /* TgSite or TgCallSite */
   UInt number;
} Code;

/* An instruction: one that faults, or one that calls. */
typedef struct {
   TgSite* site;           /* NULL: of a call site, which stays */
   const TgCallSite* call;
} Instruction;

enum { RECORDS_PER_CHUNK = 1024 };

static XArray* chunks;  /* Record*, of RECORDS_PER_CHUNK */
static ULong n_records;
static ULong n_faults;
static ULong first_instructions;
static ULong instructions_before; /* the log began: of the run, executed before */
static VgHashTable* codes;
static XArray* code_sites; /* Instruction, by number - 1 */
static XArray* all_series; /* Series, by number - 1 */
static XArray* marks;      /* Mark */
static XArray* touches;    /* Touch */
static DedupPoolAlloc* texts;
static DedupPoolAlloc* circumstances;
static const HChar* nothing;
static tlb_fault_counts counts[TLB_N_VIEWS];
static tlb_fault_counts hidden[TLB_N_VIEWS];
static ULong trial_faults[TLB_MAX_TRIALS];

static const HChar* intern(const HChar* text)
{
   return VG_(allocEltDedupPA)(texts, VG_(strlen)(text) + 1, text);
}

static void start_empty(void)
{
   chunks = VG_(newXA)(VG_(malloc), "tg.log.chunks", VG_(free),
                       sizeof(Record*));
   codes = VG_(HT_construct)("tg.log.codes");
   code_sites = VG_(newXA)(VG_(malloc), "tg.log.sites", VG_(free),
                           sizeof(Instruction));
   all_series = VG_(newXA)(VG_(malloc), "tg.log.series", VG_(free),
                           sizeof(Series));
   touches = VG_(newXA)(VG_(malloc), "tg.log.touches", VG_(free), sizeof(Touch));
   n_records = 0;
   n_faults = 0;
   VG_(memset)(counts, 0, sizeof counts);
   VG_(memset)(hidden, 0, sizeof hidden);
   VG_(memset)(trial_faults, 0, sizeof trial_faults);
   instructions_before = tg_instructions();
}

void tg_log_init(void)
{
   texts = VG_(newDedupPA)(16 * 1024, 1, VG_(malloc), "tg.log.texts",
                           VG_(free));
   circumstances = VG_(newDedupPA)(16 * 1024, sizeof(void*), VG_(malloc),
                                   "tg.log.circumstances", VG_(free));
   nothing = intern("-");
   marks = VG_(newXA)(VG_(malloc), "tg.log.marks", VG_(free), sizeof(Mark));
   start_empty();
}

void tg_log_clear(void)
{
   for (Word i = 0; i < VG_(sizeXA)(chunks); i++)
      VG_(free)(*(Record**)VG_(indexXA)(chunks, i));
   for (Word i = 0; i < VG_(sizeXA)(code_sites); i++) {
      TgSite* site = ((Instruction*)VG_(indexXA)(code_sites, i))->site;
      if (site != NULL)
         tg_site_release(site);
   }
   VG_(deleteXA)(chunks);
   VG_(deleteXA)(code_sites);
   VG_(deleteXA)(all_series);
   VG_(deleteXA)(touches);
   VG_(HT_destruct)(codes, VG_(free));
   start_empty();
   const Word n_marks = VG_(sizeXA)(marks);
   if (n_marks == 0)
      return;
   Mark last = *(Mark*)VG_(indexXA)(marks, n_marks - 1);
   last.after = last.instructions = 0;
   VG_(dropTailXA)(marks, n_marks);
   VG_(addToXA)(marks, &last);
}

const tlb_fault_counts* tg_log_counts(tlb_fault_view view)
{
   return &counts[view];
}

/* --- Adding faults --- */

static Record* record(ULong number)
{
   Record* chunk = *(Record**)VG_(indexXA)(chunks,
                                           (Word)(number / RECORDS_PER_CHUNK));
   return &chunk[number % RECORDS_PER_CHUNK];
}

/* The ID of the instruction. A site gets one user more at the first call. */
static UInt code_of(TgSite* site, const TgCallSite* call)
{
   const UWord key = site != NULL ? (UWord)site : (UWord)call;
   if (key == 0)
      return 0;
   Code* c = VG_(HT_lookup)(codes, key);
   if (c == NULL) {
      const Instruction new = { site, call };
      c = VG_(malloc)("tg.log.code", sizeof *c);
      c->site = key;
      if (site != NULL)
         site->users++;
      VG_(addToXA)(code_sites, &new);
      c->number = (UInt)VG_(sizeXA)(code_sites);
      VG_(HT_add_node)(codes, c);
   }
   return c->number;
}

static const HChar* stack_text(const TgFaultWhere* where)
{
   HChar text[TG_MAX_FAULT_FRAMES * 11];
   Int used = 0;
   if (where->n_callers == 0)
      return nothing;
   for (UInt i = 0; i < where->n_callers; i++)
      used += (Int)VG_(sprintf)(text + used, "%s%u", i > 0 ? "," : "",
                                code_of(NULL, where->callers[i]));
   return intern(text);
}

static Int print_run(HChar* out, const tlb_page_run* run)
{
   if (run->from == run->to)
      return (Int)VG_(sprintf)(out, "%s%lld", run->from < 0 ? "" : "+",
                               (Long)run->from);
   return (Int)VG_(sprintf)(out, "%s%lld..%s%lld", run->from < 0 ? "" : "+",
                            (Long)run->from, run->to < 0 ? "" : "+",
                            (Long)run->to);
}

static const HChar* brought_text(const tlb_fault* f)
{
   HChar text[TLB_MAX_PAGE_RUNS * 48];
   Int used = 0;
   if (f->kind == TLB_NO_FAULT || f->n_brought == 0)
      return nothing;
   for (UInt i = 0; i < f->n_brought; i++) {
      if (i > 0)
         text[used++] = ',';
      used += print_run(text + used, &f->brought[i]);
   }
   return intern(text);
}

static const HChar* read_text(const tlb_fault* f)
{
   HChar text[64];
   if (f->kind == TLB_NO_FAULT || !f->major)
      return nothing;
   print_run(text, &f->read);
   return intern(text);
}

static void count(tlb_fault_counts* to, const tlb_fault in[TLB_N_VIEWS])
{
   for (UInt view = 0; view < TLB_N_VIEWS; view++) {
      if (in[view].kind == TLB_NO_FAULT)
         continue;
      to[view].faults++;
      to[view].major += in[view].major != 0;
      to[view].kind[in[view].kind]++;
   }
}

/* The letter in a fault's line; a capital for a major fault. */
static HChar letter(const tlb_fault* f)
{
   const HChar c = tg_fault_letter(f->kind);
   return f->kind != TLB_NO_FAULT && f->major ? (HChar)(c - 32) : c;
}

static UInt in_common(const TgFaultWhere* where,
                                      const tlb_fault in[TLB_N_VIEWS])
{
   Circumstances c;
   /* The pool compares bytes, those of padding, too. */
   VG_(memset)(&c, 0, sizeof c);
   c.brought[0] = brought_text(&in[TLB_VIEW_WARM]);
   c.brought[1] = brought_text(&in[TLB_VIEW_COLD]);
   c.read = read_text(&in[TLB_VIEW_COLD]);
   c.map = where->map;
   c.code = code_of(where->site, NULL);
   c.stack = stack_text(where);
   c.thread = where->thread;
   c.by = where->by;
   for (UInt view = 0; view < TLB_N_VIEWS; view++)
      c.kinds[view] = letter(&in[view]);
   return VG_(allocFixedEltDedupPA)(circumstances, sizeof c, &c);
}

static Series* series_of(const Record* r)
{
   return r->series == 0 ? NULL : VG_(indexXA)(all_series, (Word)r->series - 1);
}

static const Circumstances* circumstances_of(const Record* r)
{
   return VG_(indexEltNumber)(circumstances, r->in);
}

void tg_log_mark(const HChar* phase, ULong instructions)
{
   const Mark mark = { n_faults, instructions, intern(phase) };
   VG_(addToXA)(marks, &mark);
}

void tg_log_touch(const TgTouch* touch)
{
   const Touch t = { *touch, n_faults };
   VG_(addToXA)(touches, &t);
}

/* Whether something stands between the last fault and the next. */
static Bool is_marked(void)
{
   const Word n = VG_(sizeXA)(marks);
   const Word n_touches = VG_(sizeXA)(touches);
   return (n > 0 && ((Mark*)VG_(indexXA)(marks, n - 1))->after == n_faults)
          || (n_touches > 0 && ((Touch*)VG_(indexXA)(touches, n_touches - 1))->after == n_faults);
}

/* Appends the fault to the record `last`, if it continues its series. */
static Bool goes_on(Record* last, const Record* r)
{
   const Long page_step = (Long)(r->page - last->page);
   const ULong step = r->instructions - last->instructions;
   Series* series = series_of(last);
   if (last->in != r->in)
      return False;
   if (series == NULL) {
      const Series first = { 1, page_step, step };
      last->series = (UInt)VG_(addToXA)(all_series, &first) + 1;
      return True;
   }
   if (page_step != (Long)(series->more + 1) * series->page_step
       || step != (series->more + 1) * series->instructions_step)
      return False;
   series->more++;
   return True;
}

void tg_log_trials(const tlb_fault_model* m)
{
   for (UInt i = 0; i < m->settings.n_trials; i++)
      trial_faults[i] += m->trial_faults >> i & 1;
}

void tg_log_add(const TgFaultWhere* where, const tlb_fault in[TLB_N_VIEWS])
{
   const Bool begins_phase = is_marked();
   if (n_faults == 0)
      first_instructions = where->instructions;
   n_faults++;
   count(counts, in);
   const Record r = {
      .page = where->page,
      .instructions = where->instructions - first_instructions,
      .in = in_common(where, in),
   };
   if (n_records > 0 && !begins_phase && goes_on(record(n_records - 1), &r))
      return;
   if (n_records % RECORDS_PER_CHUNK == 0) {
      Record* chunk = VG_(malloc)("tg.log.records",
                                  RECORDS_PER_CHUNK * sizeof *chunk);
      VG_(addToXA)(chunks, &chunk);
   }
   n_records++;
   *record(n_records - 1) = r;
}

void tg_log_hide(const tlb_fault in[TLB_N_VIEWS])
{
   count(hidden, in);
}

/* --- Writing --- */

static void print_folios(TgFile* f, const tlb_fault_settings* s)
{
   const HChar* separator = "";
   tg_file_print(f, "mthp: ");
   for (UInt order = 1; order < 32; order++) {
      const Bool always = (s->mthp_always >> order & 1) != 0;
      if (!always && (s->mthp_madvise >> order & 1) == 0)
         continue;
      tg_file_print(f, "%s%lluK%s", separator,
                    (1ULL << (s->page_shift + order)) / 1024,
                    always ? "" : "@madvise");
      separator = "+";
   }
   tg_file_print(f, "%s\n", *separator == '\0' ? "none" : "");
}

static void print_header(TgFile* f, const TgFaultOptions* options,
                         Int forked_from)
{
   const tlb_fault_settings* s = &options->settings;
   tg_file_print(f, "# tlbgrind fault log\nversion: 1\n"
                    "creator: tlbgrind-" TG_VERSION " (Valgrind " VERSION ")\n"
                    "pid: %d\ncmd: ", VG_(getpid)());
   tg_file_text(f, VG_(args_the_exename));
   for (Word i = 0; i < VG_(sizeXA)(VG_(args_for_client)); i++) {
      tg_file_print(f, " ");
      tg_file_text(f, *(HChar**)VG_(indexXA)(VG_(args_for_client), i));
   }
   if (forked_from != 0)
      tg_file_print(f, "\nforked from: %d", forked_from);
   if (!tg_instrumentation_was_off)
      tg_file_print(f, "\ninstructions: %llu", tg_instructions() - instructions_before);
   tg_file_print(f, "\npage size: %llu\nfault-around: %llu\nread-ahead: %llu\n"
                    "kernel: %s\nthp: %s\n",
                 1ULL << s->page_shift, (ULong)s->fault_around,
                 (ULong)s->read_ahead, s->kernel->name, tg_thp_name(s->thp));
   print_folios(f, s);
   if (s->kernel->code_ahead && s->code_folio_shift > s->page_shift)
      tg_file_print(f, "code-folio: %llu\n", 1ULL << s->code_folio_shift);
   if (options->used)
      tg_file_print(f, "faults-used: yes\n");
   if (options->touches)
      tg_file_print(f, "faults-touches: yes\n");
   if (options->stacks > 0)
      tg_file_print(f, "faults-stacks: %lld\n", options->stacks);
   if (options->around_assumed)
      tg_file_print(f, "assumption: the host does not say what fault-around maps "
                       "at most; %llu bytes are taken\n",
                    (ULong)s->fault_around);
   tg_file_print(f, "views: 4k warm cold\ncolumns: number kinds page map "
                    "instructions thread by code warm-brought cold-brought "
                    "cold-read%s\n", options->stacks > 0 ? " stack" : "");
}

static void print_map(TgFile* f, UInt number)
{
   const TgMap* m = tg_maps_get(number);
   tg_file_print(f, "map\t%u\t0x%llx\t0x%llx\t0x%llx\t%c%c%c%s\t%s\t", number,
                 m->start, m->end, m->native,
                 (m->prot & TLB_MAY_READ) ? 'r' : '-',
                 (m->prot & TLB_MAY_WRITE) ? 'w' : '-',
                 (m->prot & TLB_MAY_EXECUTE) ? 'x' : '-', m->shared ? "s" : "",
                 m->what);
   if (VG_(strcmp)(m->what, "file") == 0)
      tg_file_print(f, "0x%llx\t", m->offset);
   else
      tg_file_print(f, "-\t");
   tg_file_text(f, m->name == NULL || *m->name == '\0' ? "-" : m->name);
   tg_file_print(f, "\n");
}

static Int by_number(const void* a, const void* b)
{
   const UInt x = *(const UInt*)a;
   const UInt y = *(const UInt*)b;
   return (x > y) - (x < y);
}

/* Prints the maps that have faults, touches or used pages, by number. */
static void print_maps(TgFile* f, const XArray* ranges)
{
   XArray* used = VG_(newXA)(VG_(malloc), "tg.log.used", VG_(free),
                             sizeof(UInt));
   UInt last = 0;
   for (ULong i = 0; i < n_records; i++) {
      const UInt map = circumstances_of(record(i))->map;
      if (map != last)
         VG_(addToXA)(used, &map);
      last = map;
   }
   for (Word i = 0; ranges != NULL && i < VG_(sizeXA)(ranges); i++) {
      const TgPageUseRange* range = VG_(indexXA)(ranges, i);
      if (range->map != last)
         VG_(addToXA)(used, &range->map);
      last = range->map;
   }
   for (Word i = 0; i < VG_(sizeXA)(touches); i++) {
      const Touch* touch = VG_(indexXA)(touches, i);
      if (touch->touch.map != last)
         VG_(addToXA)(used, &touch->touch.map);
      last = touch->touch.map;
   }
   VG_(setCmpFnXA)(used, by_number);
   VG_(sortXA)(used);
   last = 0;
   for (Word i = 0; i < VG_(sizeXA)(used); i++) {
      const UInt map = *(UInt*)VG_(indexXA)(used, i);
      if (map != last)
         print_map(f, map);
      last = map;
   }
   VG_(deleteXA)(used);
}

static void print_code(TgFile* f, UInt number)
{
   const Instruction* at = VG_(indexXA)(code_sites, (Word)number - 1);
   const TgLine* line = at->site != NULL ? tg_site_line(at->site) : at->call->line;
   tg_file_print(f, "code\t%u\t0x%lx\t", number,
                 at->site != NULL ? at->site->address : at->call->address);
   tg_file_text(f, line->function->object);
   tg_file_print(f, "\t");
   tg_file_text(f, line->function->name);
   tg_file_print(f, "\t");
   tg_file_text(f, line->file);
   tg_file_print(f, "\t%u\n", line->number);
}

static void print_by(TgFile* f, Int by)
{
   const HChar* name = by >= 0 ? tg_syscall_name((UInt)by) : NULL;
   if (by == TG_BY_PROGRAM)
      tg_file_print(f, "-");
   else if (by == TG_BY_EXEC)
      tg_file_print(f, "exec");
   else if (by == TG_BY_SIGNAL)
      tg_file_print(f, "signal");
   else if (name != NULL)
      tg_file_print(f, "%s", name);
   else
      tg_file_print(f, "syscall-%d", by);
}

static ULong since_first(ULong instructions)
{
   return instructions < first_instructions ? 0 : instructions - first_instructions;
}

/* Prints the touches from number `next` on that stand before fault `number`; returns the next. */
static Word print_touches(TgFile* f, Word next, ULong number)
{
   static const HChar letters[] = { [TLB_TOUCH_READ] = 'r', [TLB_TOUCH_WRITE] = 'w',
                                    [TLB_TOUCH_FETCH] = 'x' };
   static const HChar* const works[TG_N_WORKS] = { [TG_WORK_PROGRAM] = "program",
                                                   [TG_WORK_LINKER] = "linker",
                                                   [TG_WORK_LOCALE] = "locale" };
   for (; next < VG_(sizeXA)(touches); next++) {
      const Touch* t = VG_(indexXA)(touches, next);
      if (t->after >= number)
         break;
      tg_file_print(f, "touch\t%c\t0x%lx\t%u\t%llu\t%s\n", letters[t->touch.touch],
                    t->touch.page, t->touch.map, since_first(t->touch.instructions),
                    works[t->touch.work]);
   }
   return next;
}

/* Prints the marks from number `next` on that stand before fault `number`; returns the next. */
static Word print_marks(TgFile* f, Word next, ULong number)
{
   for (; next < VG_(sizeXA)(marks); next++) {
      const Mark* mark = VG_(indexXA)(marks, next);
      if (mark->after >= number)
         break;
      tg_file_print(f, "mark\t%llu\t", since_first(mark->instructions));
      tg_file_text(f, *mark->phase == '\0' ? "-" : mark->phase);
      tg_file_print(f, "\n");
   }
   return next;
}

static void print_faults(TgFile* f, Bool with_stacks)
{
   ULong number = 1;
   Word next_mark = 0, next_touch = 0;
   UInt codes_printed = 0;
   /* Call sites are of no order. */
   while (with_stacks && codes_printed < (UInt)VG_(sizeXA)(code_sites))
      print_code(f, ++codes_printed);
   for (ULong i = 0; i < n_records; i++) {
      const Record* r = record(i);
      const Circumstances* in = circumstances_of(r);
      const Series* series = series_of(r);
      next_mark = print_marks(f, next_mark, number);
      next_touch = print_touches(f, next_touch, number);
      /* IDs are in the order of the first fault, so at most one is new. */
      if (in->code > codes_printed)
         print_code(f, ++codes_printed);
      tg_file_print(f, "%llu\t%s\t0x%llx\t%u\t%llu\t%u\t", number, in->kinds,
                    r->page, in->map, r->instructions, in->thread);
      print_by(f, in->by);
      tg_file_print(f, "\t%u\t%s\t%s\t%s%s%s\n", in->code, in->brought[0],
                    in->brought[1], in->read, with_stacks ? "\t" : "",
                    with_stacks ? in->stack : "");
      number++;
      if (series != NULL) {
         number += series->more;
         tg_file_print(f, "*\t%llu\t%s0x%llx\t%llu\n", series->more,
                       series->page_step < 0 ? "-" : "",
                       (ULong)(series->page_step < 0 ? -series->page_step
                                                  : series->page_step),
                       series->instructions_step);
      }
   }
   print_marks(f, next_mark, number);
   print_touches(f, next_touch, number);
}

static void print_used(TgFile* f, const XArray* ranges)
{
   for (Word i = 0; ranges != NULL && i < VG_(sizeXA)(ranges); i++) {
      const TgPageUseRange* range = VG_(indexXA)(ranges, i);
      tg_file_print(f, "used\t%u\t0x%lx\t%llu\t%s\t%u\n", range->map, range->page,
                    range->count, range->kinds, range->bytes);
   }
}

static const HChar* const views[TLB_N_VIEWS] = { "4k", "warm", "cold" };

static void print_used_totals(TgFile* f, const XArray* ranges)
{
   for (UInt view = 0; ranges != NULL && view < TLB_N_VIEWS; view++) {
      ULong n = 0, bytes = 0;
      for (Word i = 0; i < VG_(sizeXA)(ranges); i++) {
         const TgPageUseRange* range = VG_(indexXA)(ranges, i);
         if (range->kinds[view] == TG_PAGE_USE_NOT_THERE)
            continue;
         n += range->count;
         bytes += range->count * range->bytes;
      }
      tg_file_print(f, "used-total\t%s\t%llu\t%llu\n", views[view], n, bytes);
   }
}

/* What each trial has that the run has not: one size of folios, or the mode of huge pages. */
static void print_trials(TgFile* f, const tlb_fault_settings* s)
{
   for (UInt i = 0; i < s->n_trials; i++) {
      const uint32_t more = s->trial[i].mthp_always & ~s->mthp_always;
      tg_file_print(f, "trial\t");
      if (s->trial[i].thp != s->thp)
         tg_file_print(f, "thp=%s", tg_thp_name(s->trial[i].thp));
      for (UInt order = 1; order < 32; order++) {
         if ((more >> order & 1) != 0)
            tg_file_print(f, "mthp=%lluK", (1ULL << (s->page_shift + order)) / 1024);
      }
      tg_file_print(f, "\t%llu\n", trial_faults[i]);
   }
}

static void print_totals(TgFile* f, const XArray* ranges)
{
   static const HChar* const groups[TLB_N_GROUPS] = { "program", "libraries",
                                                      "other" };
   const tlb_fault_model* m = tg_maps_model();
   for (UInt view = 0; view < TLB_N_VIEWS; view++) {
      tg_file_print(f, "summary\t%s\t%llu\t%llu", views[view],
                    (ULong)counts[view].faults, (ULong)counts[view].major);
      for (UInt kind = 1; kind < TLB_N_FAULT_KINDS; kind++)
         tg_file_print(f, "\t%llu", (ULong)counts[view].kind[kind]);
      tg_file_print(f, "\n");
   }
   for (UInt view = 0; view < TLB_N_VIEWS; view++)
      tg_file_print(f, "hidden\t%s\t%llu\t%llu\n", views[view],
                    (ULong)hidden[view].faults, (ULong)hidden[view].major);
   for (UInt group = 0; group < TLB_N_GROUPS; group++) {
      tg_file_print(f, "phase\t%s", groups[group]);
      for (UInt i = 0; i < TLB_N_PHASES; i++)
         tg_file_print(f, "\t%llu", (ULong)m->phase[group][i]);
      tg_file_print(f, "\n");
   }
   print_trials(f, &m->settings);
   print_used_totals(f, ranges);
   tg_file_print(f, "end\t%llu\n", n_faults);
}

Bool tg_log_write(const HChar* name, const TgFaultOptions* options,
                  Int forked_from)
{
   const HChar* failure;
   TgFile* f = tg_file_open(name, &failure);
   if (f != NULL) {
      XArray* ranges = options->used ? tg_page_use_ranges() : NULL;
      print_header(f, options, forked_from);
      print_maps(f, ranges);
      print_faults(f, options->stacks > 0);
      print_used(f, ranges);
      print_totals(f, ranges);
      if (ranges != NULL)
         VG_(deleteXA)(ranges);
      failure = tg_file_close(f);
   }
   if (failure != NULL) {
      tg_shown_unwritten("fault log", name, failure, "the page faults");
      return False;
   }
   return True;
}
