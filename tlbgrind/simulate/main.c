/* tg_simulate -- simulates machines from a recording of tlbgrind, without Valgrind.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   Each of --jobs= processes reads the recording, and simulates its share of the machines. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/bar.h"
#include "command/load_machine.h"
#include "command/whole_file.h"
#include "simulate/advice.h"
#include "simulate/bytes.h"
#include "simulate/chosen_part.h"
#include "simulate/costs.h"
#include "simulate/data_file.h"
#include "simulate/heat_map.h"
#include "simulate/machines.h"
#include "simulate/merge.h"
#include "simulate/options.h"
#include "simulate/out_file.h"
#include "simulate/parts.h"
#include "simulate/phase_texts.h"
#include "simulate/progress.h"
#include "simulate/reach_curve.h"
#include "simulate/recording.h"
#include "simulate/replay.h"
#include "simulate/run.h"
#include "simulate/table.h"
#include "simulate/trace_files.h"
#include "simulate/trace_run.h"

/* How reading the recording ended, the worst last. */
typedef enum { WHOLE, CUT, DAMAGED, NO_PART } ending;

/* What a process has to say: this, and behind it the totals of each of its machines. */
typedef struct {
   ending ending;
   uint64_t instructions;
   char why[400]; /* may be empty */
   char about[800]; /* a trace; empty: a recording */
} result;

typedef uint64_t totals[TG_N_COSTS];

/* The run, its phases and threads. */
enum { MOST_SECTIONS = 2048 };

typedef struct {
   TgSimulateOptions options;
   TgSimulatedList list;
   const char *out_file;
   const char *reach_file; /* NULL: no curve */
   const char *data_file; /* NULL: none, and */
   TgDataFile *data;      /* then what it gets */
   unsigned page_shift; /* of a trace: that of its references, and */
   unsigned backing;    /* that of its pages; or */
   const char *v2p;     /* a file with these, and */
   TgPhysical *physical; /* what it has; NULL: there is none */
   TgAdvice *advice; /* with --advice=; else NULL */
   bool flushes; /* the recording tells of them */
} simulation;

/* --- The text at the end --- */

/* Once it has been checked, `n` is how much of it is not the data's. */
typedef struct {
   char *text;
   size_t n, room, n_data;
} end_text;

static void add_text(end_text *t, const char *text, size_t n)
{
   if (t->n + n + 1 > t->room) {
      t->room = 2 * (t->n + n + 1);
      t->text = realloc(t->text, t->room);
      if (t->text == NULL)
         tg_load_refuse("no memory");
   }
   memcpy(t->text + t->n, text, n);
   t->n += n;
   t->text[t->n] = '\0';
}

/* --- One process --- */

static result ended(ending how, const tlb_stream_reader *s, const char *why)
{
   result r = { .ending = how, .instructions = s->instructions };
   snprintf(r.why, sizeof r.why, "%s", why);
   return r;
}

/* Whether the run has told why the recording ends early: "@cut REASON". */
static bool is_cut(const end_text *t, const tlb_stream_reader *s, result *r)
{
   static const char cut[] = "@cut ";
   if (t->n < sizeof cut || memcmp(t->text, cut, sizeof cut - 1) != 0)
      return false;
   *r = ended(CUT, s, t->text + sizeof cut - 1);
   for (char *c = r->why; *c != '\0'; c++) {
      if ((unsigned char)*c < 0x20)
         *c = *(c + 1) == '\0' ? '\0' : '?';
   }
   return true;
}

/* Each section is a text like that of the run. */
static const char *check_text(end_text *t, unsigned n_lines, unsigned n_arcs, bool has_data)
{
   static TgSection section[MOST_SECTIONS];
   const char *why;
   const size_t data_at = tg_data_text_at(t->text, t->n);
   t->n_data = t->n - data_at;
   t->n = data_at;
   if (has_data != (t->n_data > 0))
      return "it has no text of data at the end, or one that is not said in its head";
   const unsigned n = tg_run_text_sections(t->text, t->n, section, MOST_SECTIONS, &why);
   for (unsigned i = 0; i < n && why == NULL; i++)
      why = tg_run_text_check(section[i].text, section[i].n, n_lines, n_arcs);
   return why != NULL || !has_data ? why : tg_data_text_check(t->text + t->n, t->n_data, n_lines);
}

/* Whether the program asks for huge pages as it has not before. */
static bool asks_for_more(const tlb_map_event *e, TgAsked *asked)
{
   const TgAsked before = *asked;
   asked->thp |= e->what == TLB_EVENT_ASK;
   if (e->mapping != NULL && (e->mapping->flags & TLB_MAP_HUGETLB) != 0)
      asked->sizes |= UINT64_C(1) << e->mapping->huge_shift;
   return asked->thp != before.thp || asked->sizes != before.sizes;
}

/* `curve`: NULL, or it gets all records, too. */
static result read_all(const simulation *sim, TgRecording *recording, TgReplay *replay,
                       TgParts *parts, TgReachCurve *curve, end_text *text)
{
   tlb_stream_reader *const s = tg_recording_stream(recording);
   TgAsked asked = { false, 0 };
   const char *wrong;
   result r;
   for (;;) {
      switch (tg_recording_read(recording)) {
      case TLB_READ_RECORDS:
         wrong = text->n > 0 ? "references stand behind the text at the end"
                             : tg_replay_block(replay, s);
         tg_progress_note(tg_recording_done(recording));
         if (wrong != NULL)
            return ended(DAMAGED, s, wrong);
         if (curve != NULL)
            tg_reach_curve_records(curve, s->record, s->n);
         break;
      case TLB_READ_EVENT:
         if (text->n > 0 || tg_recording_strength(recording)->large == 0)
            return ended(DAMAGED, s, "a change of mappings stands where there is none");
         if (asks_for_more(&s->event, &asked))
            tg_simulated_check(&sim->list, tg_recording_strength(recording), &asked,
                               sim->options.recording);
         tg_replay_event(replay, &s->event);
         break;
      case TLB_READ_TEXT:
         add_text(text, s->text, s->n);
         break;
      case TLB_READ_MARK:
         wrong = text->n > 0 ? "references stand behind the text at the end"
                             : tg_parts_mark(parts, replay, s->mark, s->text, s->n);
         if (wrong != NULL)
            return ended(DAMAGED, s, wrong);
         if (curve != NULL && s->mark == TLB_MARK_ZERO)
            tg_reach_curve_zero(curve);
         break;
      case TLB_READ_POINT:
         if (text->n > 0)
            return ended(DAMAGED, s, "references stand behind the text at the end");
         wrong = NULL;
         if (s->point == TLB_POINT_FLUSH)
            wrong = tg_replay_flush(replay, &s->flush);
         else
            tg_replay_point(replay, s->point, s->first, s->last);
         if (wrong != NULL)
            return ended(DAMAGED, s, wrong);
         break;
      case TLB_READ_END:
         if (is_cut(text, s, &r))
            return r;
         wrong = check_text(text, tg_replay_n_lines(replay), tg_replay_n_arcs(replay),
                            tg_recording_has_data(recording));
         return ended(wrong != NULL ? DAMAGED : WHOLE, s, wrong != NULL ? wrong : "");
      case TLB_READ_CUT:
         return ended(CUT, s, "the file is not complete");
      case TLB_READ_DAMAGED:
         return ended(DAMAGED, s, s->damage);
      }
   }
}

/* As the tool names them: several machines have one file each. To be freed. */
static char *file_name(const simulation *s, unsigned machine)
{
   const size_t room = strlen(s->out_file) + strlen(s->list.machine[machine].label) + 2;
   char *const name = malloc(room);
   if (name == NULL)
      tg_load_refuse("no memory");
   snprintf(name, room, "%s%s%s", s->out_file, s->list.n > 1 ? "_" : "",
            s->list.n > 1 ? s->list.machine[machine].label : "");
   return name;
}

/* A section's text with the lines that flushes give costs. To be freed; NULL: it has no other lines
   than the recording has for it. */
static char *text_with_flushes(const simulation *s, const TgOutFile *o, const TgSection *run,
                               const TgSection *section, size_t *n)
{
   if (!s->flushes || (section->text != run->text && !tg_out_file_has_flushes(o)))
      return NULL;
   char *const text = tg_phase_text_with(run, section, tg_out_file_has_flushes_at, o, n);
   if (text == NULL)
      tg_load_refuse("%s: the recording is damaged: the texts of its parts do not fit each other",
                     s->options.recording);
   return text;
}

/* `run`: the section of the whole run. */
static void write_out_file(const simulation *s, const TgOutFile *o, const TgSection *run,
                           const TgSection *section, const char *name)
{
   size_t n, behind_machine, n_text = section->n;
   char *const owned = text_with_flushes(s, o, run, section, &n_text);
   char *const whole = tg_out_file_make(o, owned != NULL ? owned : section->text, n_text, &n,
                                        &behind_machine);
   free(owned);
   if (s->advice != NULL)
      tg_advice_keep(s->advice, o->number - 1, name, whole, n,
                     section->kind == NULL ? behind_machine : 0);
   else if (!tg_write_whole(name, whole, n))
      tg_load_refuse("%s: the file cannot be written: %s", name, strerror(errno));
   free(whole);
}

/* The machine's out-file, of a part of the run. */
static void write_out_file_of_part(const simulation *s, const TgOutFile *of_part,
                                   const TgSection *run, const TgSection *section)
{
   char *const name = file_name(s, of_part->number - 1);
   write_out_file(s, of_part, run, section, name);
   free(name);
}

/* The machine's out-file, and those of phases and threads. */
static void write_out_files(const simulation *s, const TgOutFile *machine, const TgParts *parts,
                            const end_text *text)
{
   static TgSection section[MOST_SECTIONS];
   const char *why;
   char *const name = file_name(s, machine->number - 1);
   TgOutFile o = *machine;
   o.section = section;
   o.n_sections = tg_run_text_sections(text->text, text->n, section, MOST_SECTIONS, &why);
   o.file = name;
   write_out_file(s, &o, &section[0], &section[0], name);
   for (unsigned i = 1; i < o.n_sections; i++) {
      const TgSection *const of = &section[i];
      TgSelection selection = tg_parts_of(parts, of->kind[0] == 'p' ? TG_PHASE : TG_THREAD, of->label,
                                          of->label_length);
      char *const own_name = tg_section_file(of, name);
      TgOutFile own = *machine;
      own.parts = &selection;
      write_out_file(s, &own, &section[0], of, own_name);
      free(own_name);
      free(selection.has);
   }
   free(name);
}

/* What is counted: all of the run, or a part. Of a recording that was cut short there is no
   text. */
typedef struct {
   bool is_part;
   TgChosenPart part;
   TgSection run, section;
} counted;

static counted find_counted(const simulation *s, const TgParts *parts, const end_text *text, result *r)
{
   static TgSection section[MOST_SECTIONS];
   const char *why;
   counted c = { .is_part = tg_is_part(&s->options.part) };
   const unsigned n = r->ending == WHOLE
                         ? tg_run_text_sections(text->text, text->n, section, MOST_SECTIONS, &why) : 0;
   if (n > 0)
      c.run = c.section = section[0];
   if (!c.is_part || r->ending == DAMAGED)
      return c;
   if (!tg_choose_part(&s->options.part, parts, section, n, &c.part, r->why, sizeof r->why))
      r->ending = NO_PART;
   c.section = c.part.section;
   return c;
}

static result replay_recording(const simulation *s, unsigned first, unsigned step,
                               TgReplay **replay, TgParts *parts, TgReachCurve **curve,
                               end_text *text)
{
   TgRecording *const recording = tg_recording_open(s->options.recording);
   *replay = tg_replay_new(&s->list, first, step, tg_recording_strength(recording),
                           s->options.nested);
   if (tg_recording_has_calls(recording))
      tg_replay_count_calls(*replay);
   if (s->reach_file != NULL && first == 0)
      *curve = tg_reach_curve_new(tg_recording_strength(recording)->base_page_shift);
   const result r = read_all(s, recording, *replay, parts, *curve, text);
   tg_recording_close(recording);
   return r;
}

static void keep_data(const simulation *s, const TgOutFile *o, const end_text *text, const totals total,
                      uint64_t least)
{
   const char *const why = tg_data_file_keep(s->data, o, text->text + text->n, text->n_data, s->flushes,
                                             total, least);
   if (why != NULL)
      tg_load_refuse("%s: the recording is damaged: %s", s->options.recording, why);
}

static void write_reach(const simulation *s, const TgReachCurve *curve, const TgSection *run,
                        const totals total)
{
   size_t n;
   char *const whole = tg_reach_curve_file(curve, run->text, run->n, total, &n);
   if (!tg_write_whole(s->reach_file, whole, n))
      tg_load_refuse("%s: the file cannot be written: %s", s->reach_file, strerror(errno));
   free(whole);
}

static void write_data(const simulation *s)
{
   size_t n;
   char *const whole = tg_data_file_make(s->data, &n);
   if (!tg_write_whole(s->data_file, whole, n))
      tg_load_refuse("%s: the file cannot be written: %s", s->data_file, strerror(errno));
   free(whole);
}

static result replay_trace(const simulation *s, unsigned first, unsigned step, TgReplay **replay,
                           end_text *text)
{
   *replay = tg_replay_new_backed(&s->list, first, step, s->page_shift, s->options.nested,
                                  s->backing, s->physical);
   const TgTraceRun t = tg_trace_run(s->options.recording, s->options.input, *replay,
                                     s->page_shift, s->v2p, s->physical);
   result r = { .instructions = t.instructions, .ending = t.how == TG_TRACE_END ? WHOLE
                                                          : t.how == TG_TRACE_CUT ? CUT : DAMAGED };
   memcpy(r.why, t.why, sizeof t.why);
   memcpy(r.about, t.about, sizeof r.about);
   *text = (end_text){ t.text, t.n_text, t.n_text, 0 };
   return r;
}

/* Simulates machine number `first`, from 0, and each `step` behind it, and writes their out-files;
   `total` has room for each machine of the list. */
static result simulate(const simulation *s, unsigned first, unsigned step, totals *total)
{
   TgReplay *replay;
   TgReachCurve *curve = NULL; /* made with the first machine of all */
   end_text text = { NULL, 0, 0, 0 };
   TgParts *const parts = tg_parts_new();
   result r = s->options.input != NULL
                 ? replay_trace(s, first, step, &replay, &text)
                 : replay_recording(s, first, step, &replay, parts, &curve, &text);
   tg_replay_settle(replay);
   counted c = find_counted(s, parts, &text, &r);
   uint64_t least;
   for (unsigned i = first, nth = 0; r.ending <= CUT && i < s->list.n; i += step, nth++) {
      const TgOutFile o = { .machine = &s->list.machine[i], .number = i + 1, .of = s->list.n,
                            .replay = replay, .nth = nth, .nested = s->options.nested,
                            .switches = s->list.switches,
                            .parts = c.is_part ? &c.part.parts : NULL };
      if (r.ending == WHOLE && c.is_part)
         write_out_file_of_part(s, &o, &c.run, &c.section);
      else if (r.ending == WHOLE)
         write_out_files(s, &o, parts, &text);
      tg_out_file_sums(&o, c.section.text, c.section.n, total[i], &least);
      if (s->advice != NULL)
         tg_advice_note(s->advice, &o, least);
      if (s->data != NULL && r.ending == WHOLE)
         keep_data(s, &o, &text, total[i], least);
   }
   if (curve != NULL && r.ending == WHOLE)
      write_reach(s, curve, &c.section, total[first]);
   if (curve != NULL)
      tg_reach_curve_free(curve);
   tg_chosen_part_free(&c.part);
   tg_replay_free(replay);
   tg_parts_free(parts);
   free(text.text);
   return r;
}

/* --- Several processes --- */

typedef struct {
   pid_t pid;
   int fd;
} job;

/* The first machine of a part of the shard. */
static unsigned first_of(const simulation *s, unsigned nth)
{
   return s->options.shard + s->options.shards * nth;
}

static unsigned machines_of_shard(const simulation *s)
{
   return (s->list.n - s->options.shard + s->options.shards - 1) / s->options.shards;
}

/* As many parts as there are processes, or more, as one simulates so many machines at most. */
static unsigned parts_of(const simulation *s)
{
   const unsigned n = machines_of_shard(s), least = (n + TLB_MAX_MMUS - 1) / TLB_MAX_MMUS;
   const unsigned jobs = s->options.jobs < n ? s->options.jobs : n;
   return jobs > least ? jobs : least;
}

/* Part number `nth` of n_parts of the shard. */
static job start_job(const simulation *s, unsigned nth, unsigned n_parts, totals *total)
{
   const unsigned first = first_of(s, nth), step = s->options.shards * n_parts;
   int pipes[2];
   if (pipe(pipes) != 0)
      tg_load_refuse("no pipe: %s", strerror(errno));
   const pid_t pid = fork();
   if (pid < 0)
      tg_load_refuse("no process: %s", strerror(errno));
   if (pid == 0) {
      tg_progress_of(nth);
      close(pipes[0]);
      result r = simulate(s, first, step, total);
      bool told = tg_write_bytes(pipes[1], &r, sizeof r);
      for (unsigned i = first; told && i < s->list.n; i += step)
         told = tg_write_bytes(pipes[1], total[i], sizeof total[i])
                && (s->advice == NULL || tg_advice_send(s->advice, i, pipes[1]))
                && (s->data == NULL || tg_data_file_send(s->data, i, pipes[1]));
      _exit(told ? 0 : 1);
   }
   close(pipes[1]);
   return (job){ pid, pipes[0] };
}

/* Whether the process has done all that it was to do. */
static bool await_job(const simulation *s, unsigned nth, unsigned n_parts, job j, totals *total,
                      result *r)
{
   const unsigned first = first_of(s, nth), step = s->options.shards * n_parts;
   int status;
   tg_progress_await(j.fd);
   bool told = tg_read_bytes(j.fd, r, sizeof *r);
   for (unsigned i = first; told && i < s->list.n; i += step)
      told = tg_read_bytes(j.fd, total[i], sizeof total[i])
             && (s->advice == NULL || tg_advice_receive(s->advice, i, j.fd))
             && (s->data == NULL || tg_data_file_receive(s->data, i, j.fd));
   close(j.fd);
   while (waitpid(j.pid, &status, 0) < 0 && errno == EINTR)
      ;
   if (WIFSIGNALED(status))
      tg_load_refuse("a process of --jobs= was ended by signal %d", WTERMSIG(status));
   return told && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* At most --jobs= parts are under way. */
static result simulate_all(const simulation *s, totals *total)
{
   const unsigned n_parts = parts_of(s), n_jobs = s->options.jobs;
   job *const jobs = calloc(n_parts, sizeof *jobs);
   result r = { .ending = WHOLE };
   bool good = true;
   if (jobs == NULL)
      tg_load_refuse("no memory");
   tg_progress_begin(n_parts);
   if (n_parts == 1) {
      free(jobs);
      return simulate(s, s->options.shard, s->options.shards, total);
   }
   for (unsigned i = 0; i < n_parts && i < n_jobs; i++)
      jobs[i] = start_job(s, i, n_parts, total);
   for (unsigned i = 0; i < n_parts; i++) {
      result one = { .ending = WHOLE };
      good &= await_job(s, i, n_parts, jobs[i], total, &one);
      if (i + n_jobs < n_parts)
         jobs[i + n_jobs] = start_job(s, i + n_jobs, n_parts, total);
      /* Some damage shows in some machines only. */
      if (i == 0 || one.ending > r.ending)
         r = one;
   }
   free(jobs);
   if (!good) /* which the process itself has said */
      exit(1);
   return r;
}

/* --- The table --- */

static void write_picture(const TgSimulateOptions *o, const TgRow *row, unsigned n)
{
   size_t length;
   char *const text = tg_heat_map(row, n, o->map, &length);
   if (text == NULL)
      tg_load_refuse("no memory");
   if (!tg_write_whole(o->picture, text, length))
      tg_load_refuse("--picture=%s: the file cannot be written: %s", o->picture, strerror(errno));
   free(text);
}

static void print_rows(const TgSimulateOptions *o, const TgRow *row, unsigned n)
{
   tg_table_print(row, n, o->map);
   if (o->picture != NULL)
      write_picture(o, row, n);
}

/* Before a long simulation. */
static void check_picture(const TgSimulateOptions *o, const TgRow *row, unsigned n)
{
   if (tg_maps_each(row, n, NULL, NULL) == 0)
      tg_load_refuse("--picture=%s: there is no map: two values of a machine have to differ, as in "
                     "skylake:stlb.entries=512..4096,stlb.ways=4..16", o->picture);
   if (!tg_can_write(o->picture))
      tg_load_refuse("--picture=%s: the file cannot be written: %s", o->picture, strerror(errno));
}

static TgRow *new_rows(const simulation *s)
{
   TgRow *const row = calloc(s->list.n, sizeof *row);
   if (row == NULL)
      tg_load_refuse("no memory");
   for (unsigned i = 0; i < s->list.n; i++)
      row[i].name = s->list.machine[i].name;
   return row;
}

static void check_picture_of(const simulation *s)
{
   TgRow *const row = new_rows(s);
   if (s->options.shards > 1)
      tg_load_refuse("--picture=%s: a shard has not all of a map; tg_simulate --picture= --merge draws it",
                     s->options.picture);
   check_picture(&s->options, row, s->list.n);
   free(row);
}

/* Of the shard. */
static void print_table(const simulation *s, totals *total)
{
   unsigned n = 0;
   TgRow *const row = new_rows(s);
   for (unsigned i = s->options.shard; i < s->list.n; i += s->options.shards) {
      if (s->advice != NULL && tg_advice_is_same(s->advice, i))
         continue;
      row[n].name = s->list.machine[i].name;
      memcpy(row[n++].cost, total[i], sizeof total[i]);
   }
   print_rows(&s->options, row, n);
   free(row);
}

/* --- All of it --- */

static char *default_name(const char *recording, const char *behind)
{
   const size_t room = strlen(recording) + strlen(behind) + 1;
   char *const name = malloc(room);
   if (name == NULL)
      tg_load_refuse("no memory");
   snprintf(name, room, "%s%s", recording, behind);
   return name;
}

/* A file beside the out-files; NULL: there is none. */
static void check_name_beside(const char *name, const char *option, const char *out_file)
{
   if (name != NULL && strcmp(name, out_file) == 0)
      tg_load_refuse("%s: that is an out-file, too; %s= names another file", name, option);
}

static void check_names(const simulation *s)
{
   const char *const beside[] = { s->reach_file, s->data_file };
   static const char *const option[] = { "--reach-out-file", "--data-out-file" };
   for (unsigned i = s->options.shard; i < s->list.n; i += s->options.shards) {
      char *const name = file_name(s, i);
      if (!tg_can_write(name))
         tg_load_refuse("%s: the file cannot be written: %s", name, strerror(errno));
      for (unsigned j = 0; j < sizeof beside / sizeof *beside; j++)
         check_name_beside(beside[j], option[j], name);
      free(name);
   }
   for (unsigned j = 0; j < sizeof beside / sizeof *beside; j++) {
      if (beside[j] != NULL && !tg_can_write(beside[j]))
         tg_load_refuse("%s: the file cannot be written: %s", beside[j], strerror(errno));
   }
   if (s->reach_file != NULL && s->data_file != NULL && strcmp(s->reach_file, s->data_file) == 0)
      tg_load_refuse("%s: that is the file of the reach curve, too; --data-out-file= names another",
                     s->data_file);
}

static tlb_syscalls syscalls_of(const char *text)
{
   tlb_syscalls s = { TLB_SYSCALLS_NONE, 0 };
   tlb_reason why;
   if (text != NULL && !tlb_syscalls_parse(text, &s, &why))
      tg_load_refuse("--syscall-tlb=%s: %s", text, why.text);
   return s;
}

static tlb_prefetch_policy prefetch_of(const char *text)
{
   tlb_prefetch_policy p = TLB_PREFETCH_IGNORE;
   tlb_reason why;
   if (text != NULL && !tlb_prefetch_policy_parse(text, &p, &why))
      tg_load_refuse("--prefetch=%s: %s", text, why.text);
   return p;
}

/* Whether the recording tells of what others, and prefetches, are to do. */
static void check_points(const simulation *s, const TgRecordedPoints *p)
{
   const char *const recording = s->options.recording;
   const uint64_t every = s->list.switches.every;
   if (every != 0 && p->switches == 0)
      tg_load_refuse("%s: the recording has no context switches; record the program with "
                     "--switch-every=%llu", recording, (unsigned long long)every);
   if (every != 0 && p->switches != every)
      tg_load_refuse("%s: the recording has context switches every %llu instructions; record the program "
                     "with --switch-every=%llu", recording, (unsigned long long)p->switches,
                     (unsigned long long)every);
   for (unsigned i = 0; i < s->list.n; i++) {
      const tlb_syscalls *const calls = &s->list.machine[i].syscalls;
      if (s->list.machine[i].flush.how != TLB_FLUSH_NONE && !p->flushes)
         tg_load_refuse("%s: the recording does not tell what is flushed; record the program with "
                        "--flush-policy=linux", recording);
      if (s->list.machine[i].prefetch != TLB_PREFETCH_IGNORE && !p->prefetches)
         tg_load_refuse("%s: the recording does not tell of prefetches; record the program with "
                        "--prefetch=%s", recording,
                        tlb_prefetch_policy_word(s->list.machine[i].prefetch));
      if (calls->how == TLB_SYSCALLS_KERNEL && !p->touches)
         tg_load_refuse("%s: the recording does not tell what the kernel refers to in system calls; record "
                        "the program with --syscall-tlb=kernel:%u", recording, calls->pages);
      if (calls->how == TLB_SYSCALLS_FLUSH && !p->syscalls)
         tg_load_refuse("%s: the recording does not tell where system calls are; record the program with "
                        "--syscall-tlb=flush", recording);
   }
}

/* It is of the whole run, and of all machines: without a word it is written wherever that can be. */
static void find_data_file(simulation *s, bool has_data)
{
   const TgSimulateOptions *const o = &s->options;
   if (o->data != NULL && !has_data)
      tg_load_refuse("%s: the recording has no objects of data; record the program with --data=yes",
                     o->recording);
   if (!has_data || o->no_data || tg_is_part(&o->part) || o->shards > 1)
      return;
   s->data_file = o->data != NULL && o->data[0] != '\0' ? o->data
                                                        : default_name(o->recording, ".data");
   s->data = tg_data_file_new(s->list.n);
}

static void load_for_recording(simulation *s)
{
   const TgSimulateOptions *const o = &s->options;
   TgRecording *const recording = tg_recording_open(o->recording);
   const tlb_strength *const strength = tg_recording_strength(recording);
   TgSimulatedPages pages = tg_simulated_pages(o, strength->base_page_shift,
                                               tg_recording_thp(recording),
                                               tg_recording_code(recording));
   pages.base = *tg_recording_base_pages(recording);
   const TgSimulatedKernel kernel = { o->flush, syscalls_of(o->syscalls), prefetch_of(o->prefetch) };
   s->list = tg_simulated_load(o->machines, o->advice, &pages, &kernel);
   s->list.switches = o->switches;
   s->flushes = tg_recording_points(recording)->flushes;
   check_points(s, tg_recording_points(recording));
   if (o->advice != NULL && strength->large == 0)
      tg_load_refuse("%s: the recording has no mappings, which --advice= is about; record the program "
                     "without --record-pages=none", o->recording);
   tg_simulated_check(&s->list, strength, &(TgAsked){ false, 0 }, o->recording);
   if (s->reach_file != NULL && !tlb_strength_covers_reach(strength))
      tg_load_refuse("%s: the recording leaves out what the smallest TLBs of the reach curve may miss; "
                     "record the program with --record-for=reach and the names of machines",
                     o->recording);
   find_data_file(s, tg_recording_has_data(recording));
   tg_recording_close(recording);
}

/* The base pages are those of the trace, if it tells; else each machine's. */
static void load_for_trace(simulation *s)
{
   const TgSimulateOptions *const o = &s->options;
   const TgSimulatedPages base_pages = { .policy = { .thp = TLB_THP_NEVER } };
   const unsigned told = o->input == &tg_input_drmemtrace
                            ? tg_trace_page_shift(o->recording, o->input) : 0;
   const TgSimulatedKernel none = { NULL, { TLB_SYSCALLS_NONE, 0 }, TLB_PREFETCH_IGNORE };
   s->list = tg_simulated_load(o->machines, NULL, &base_pages, &none);
   if (o->v2p != NULL)
      s->v2p = strcmp(o->v2p, "none") == 0 ? NULL : o->v2p;
   else if (o->input == &tg_input_drmemtrace && o->n_pages == 0)
      s->v2p = tg_trace_v2p(o->recording);
   tg_simulated_take_pages(&s->list, told, o->n_pages > 0 ? o->pages[0] : NULL, s->v2p != NULL,
                           &s->page_shift, &s->backing);
   if (s->v2p != NULL)
      s->physical = tg_trace_read_v2p(s->v2p, s->page_shift);
}

static void load(simulation *s)
{
   if (s->options.input != NULL)
      load_for_trace(s);
   else
      load_for_recording(s);
   tg_simulated_take_costs(&s->list, &s->options);
}

static void check_shard(const simulation *s)
{
   const TgSimulateOptions *const o = &s->options;
   if (o->shards > s->list.n)
      tg_load_refuse("--shard=%u/%u: there are %u machines, and no more shards than that",
                     o->shard + 1, o->shards, s->list.n);
   if (strcmp(o->recording, "-") == 0 && parts_of(s) > 1)
      tg_load_refuse("-: the standard input is read once, for at most %d machines", TLB_MAX_MMUS);
}

static int merge(const TgSimulateOptions *o)
{
   unsigned n;
   TgRow *const row = tg_merge(o->merged, o->n_merged, &n);
   if (o->picture != NULL)
      check_picture(o, row, n);
   print_rows(o, row, n);
   free(row);
   return 0;
}

int main(int argc, char **argv)
{
   simulation s = { .list = { .n = 0 } };
   tg_load_for("tg_simulate", "--machine");
   if (argc == 2 && strcmp(argv[1], "--of-a-run") == 0)
      return tg_simulate_run();
   tg_simulate_options(argc, argv, &s.options);
   if (s.options.quiet)
      tg_bar_quiet();
   if (s.options.n_merged > 0)
      return merge(&s.options);
   s.out_file = s.options.out_file != NULL ? s.options.out_file
                                           : default_name(s.options.recording, ".out");
   if (s.options.reach != NULL)
      s.reach_file = s.options.reach[0] != '\0' ? s.options.reach
                                               : default_name(s.options.recording, ".reach");
   load(&s);
   check_shard(&s);
   check_names(&s);
   if (s.options.picture != NULL)
      check_picture_of(&s);
   totals *const total = calloc(s.list.n, sizeof *total);
   if (total == NULL)
      tg_load_refuse("no memory");
   if (s.list.group > 0) {
      s.advice = tg_advice_new(&s.list);
      s.options.map = TG_MAP_NONE; /* rows of variants are no map */
   }
   const result r = simulate_all(&s, total);
   tg_bar_clear();
   if (r.ending == DAMAGED)
      tg_load_refuse("%s: %s%s", s.options.recording,
                     s.options.input != NULL ? "" : "the recording is damaged: ", r.why);
   if (r.ending == NO_PART)
      tg_load_refuse("%s: %s", s.options.recording, r.why);
   if (s.advice != NULL && r.ending == WHOLE) {
      tg_advice_find(s.advice, total);
      tg_advice_write(s.advice);
   }
   if (s.data != NULL && r.ending == WHOLE)
      write_data(&s);
   print_table(&s, total);
   if (s.advice != NULL && r.ending == WHOLE)
      tg_advice_print(s.advice);
   if (r.about[0] != '\0')
      printf("trace: %s\n", r.about);
   free(total);
   if (s.advice != NULL)
      tg_advice_free(s.advice);
   if (s.data != NULL)
      tg_data_file_free(s.data);
   if (r.ending == CUT)
      tg_load_refuse("%s: the %s ends after %llu instructions: %s; these are the misses up to "
                     "there, and there are no out-files", s.options.recording,
                     s.options.input != NULL ? "trace" : "recording",
                     (unsigned long long)r.instructions, r.why);
   return 0;
}
