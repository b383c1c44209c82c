/* tg_simulate -- simulates machines from a recording of tlbgrind, without Valgrind.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   Each of --jobs= processes reads the recording, and simulates its share of the machines. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/load_machine.h"
#include "measure/whole_file.h"
#include "simulate/machines.h"
#include "simulate/options.h"
#include "simulate/out_file.h"
#include "simulate/recording.h"
#include "simulate/replay.h"

/* How reading the recording ended, the worst last. */
typedef enum { WHOLE, CUT, DAMAGED } ending;

/* What a process has to say: this, and behind it the totals of each of its machines. */
typedef struct {
   ending ending;
   uint64_t instructions;
   char why[200]; /* may be empty */
} result;

typedef uint64_t totals[TG_N_COSTS];

typedef struct {
   TgSimulateOptions options;
   TgSimulatedList list;
   const char *out_file;
} simulation;

/* --- The text at the end --- */

typedef struct {
   char *text;
   size_t n, room;
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

static result read_all(const simulation *sim, TgRecording *recording, TgReplay *replay, end_text *text)
{
   tlb_stream_reader *const s = tg_recording_stream(recording);
   const char *wrong;
   result r;
   for (;;) {
      switch (tlb_stream_read(s)) {
      case TLB_READ_RECORDS:
         wrong = text->n > 0 ? "references stand behind the text at the end"
                             : tg_replay_records(replay, s->record, s->n);
         if (wrong != NULL)
            return ended(DAMAGED, s, wrong);
         break;
      case TLB_READ_EVENT:
         if (text->n > 0 || tg_recording_strength(recording)->large == 0)
            return ended(DAMAGED, s, "a change of mappings stands where there is none");
         if (s->event.what == TLB_EVENT_ASK)
            tg_simulated_check(&sim->list, tg_recording_strength(recording),
                               tg_recording_strength(recording)->large, sim->options.recording);
         tg_replay_event(replay, &s->event);
         break;
      case TLB_READ_TEXT:
         add_text(text, s->text, s->n);
         break;
      case TLB_READ_END:
         if (is_cut(text, s, &r))
            return r;
         wrong = tg_run_text_check(text->text, text->n, tg_replay_n_lines(replay));
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

static void write_out_file(const simulation *s, const TgOutFile *o, const end_text *text)
{
   size_t n;
   char *const whole = tg_out_file_make(o, text->text, text->n, &n);
   char *const name = file_name(s, o->number - 1);
   if (!tg_write_whole(name, whole, n))
      tg_load_refuse("%s: the file cannot be written: %s", name, strerror(errno));
   free(name);
   free(whole);
}

/* Simulates machine number `first`, from 0, and each `step` behind it, and writes their out-files;
   `total` has room for each machine of the list. */
static result simulate(const simulation *s, unsigned first, unsigned step, totals *total)
{
   TgRecording *const recording = tg_recording_open(s->options.recording);
   TgReplay *const replay = tg_replay_new(&s->list, first, step, tg_recording_strength(recording),
                                          s->options.nested);
   end_text text = { NULL, 0, 0 };
   const result r = read_all(s, recording, replay, &text);
   tg_recording_close(recording);
   tg_replay_settle(replay);
   for (unsigned i = first, nth = 0; r.ending != DAMAGED && i < s->list.n; i += step, nth++) {
      const TgOutFile o = { .machine = &s->list.machine[i], .number = i + 1, .of = s->list.n,
                            .replay = replay, .nth = nth, .nested = s->options.nested };
      if (r.ending == WHOLE)
         write_out_file(s, &o, &text);
      tg_out_file_sums(&o, text.text, r.ending == WHOLE ? text.n : 0, total[i]);
   }
   tg_replay_free(replay);
   free(text.text);
   return r;
}

/* --- Several processes --- */

static bool all_bytes(ssize_t (*move)(int, void *, size_t), int fd, void *bytes, size_t n)
{
   while (n > 0) {
      const ssize_t done = move(fd, bytes, n);
      if (done < 0 && errno == EINTR)
         continue;
      if (done <= 0)
         return false;
      bytes = (char *)bytes + done;
      n -= (size_t)done;
   }
   return true;
}

static ssize_t write_bytes(int fd, void *bytes, size_t n)
{
   return write(fd, bytes, n);
}

typedef struct {
   pid_t pid;
   int fd;
} job;

static job start_job(const simulation *s, unsigned nth, unsigned n_jobs, totals *total)
{
   int pipes[2];
   if (pipe(pipes) != 0)
      tg_load_refuse("no pipe: %s", strerror(errno));
   const pid_t pid = fork();
   if (pid < 0)
      tg_load_refuse("no process: %s", strerror(errno));
   if (pid == 0) {
      close(pipes[0]);
      result r = simulate(s, nth, n_jobs, total);
      bool told = all_bytes(write_bytes, pipes[1], &r, sizeof r);
      for (unsigned i = nth; told && i < s->list.n; i += n_jobs)
         told = all_bytes(write_bytes, pipes[1], total[i], sizeof total[i]);
      _exit(told ? 0 : 1);
   }
   close(pipes[1]);
   return (job){ pid, pipes[0] };
}

/* Whether the process has done all that it was to do. */
static bool await_job(const simulation *s, unsigned nth, unsigned n_jobs, job j, totals *total,
                      result *r)
{
   int status;
   bool told = all_bytes(read, j.fd, r, sizeof *r);
   for (unsigned i = nth; told && i < s->list.n; i += n_jobs)
      told = all_bytes(read, j.fd, total[i], sizeof total[i]);
   close(j.fd);
   while (waitpid(j.pid, &status, 0) < 0 && errno == EINTR)
      ;
   if (WIFSIGNALED(status))
      tg_load_refuse("a process of --jobs= was ended by signal %d", WTERMSIG(status));
   return told && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static result simulate_all(const simulation *s, totals *total)
{
   const unsigned n_jobs = s->options.jobs < s->list.n ? s->options.jobs : s->list.n;
   job *const jobs = calloc(n_jobs, sizeof *jobs);
   result r = { .ending = WHOLE };
   bool good = true;
   if (jobs == NULL)
      tg_load_refuse("no memory");
   if (n_jobs == 1) {
      free(jobs);
      return simulate(s, 0, 1, total);
   }
   for (unsigned i = 0; i < n_jobs; i++)
      jobs[i] = start_job(s, i, n_jobs, total);
   for (unsigned i = 0; i < n_jobs; i++) {
      result one = { .ending = WHOLE };
      good &= await_job(s, i, n_jobs, jobs[i], total, &one);
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

static char *with_commas(uint64_t n, char text[32])
{
   char digits[32];
   const int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
   unsigned at = 0;
   for (int i = 0; i < length; i++) {
      if (i > 0 && (length - i) % 3 == 0)
         text[at++] = ',';
      text[at++] = digits[i];
   }
   text[at] = '\0';
   return text;
}

static void print_table(const simulation *s, totals *total)
{
   int width = 7;
   char text[4][32];
   for (unsigned i = 0; i < s->list.n; i++)
      width = (int)strlen(s->list.machine[i].name) > width ? (int)strlen(s->list.machine[i].name)
                                                            : width;
   printf("%-*s %15s %13s %15s %13s\n", width, "machine", "I1 misses", "I walks", "D1 misses",
          "D walks");
   for (unsigned i = 0; i < s->list.n; i++) {
      const uint64_t *const t = total[i];
      printf("%-*s %15s %13s %15s %13s\n", width, s->list.machine[i].name,
             with_commas(t[tg_cost(TLB_FETCH, TG_MISS_1)], text[0]),
             with_commas(t[tg_cost(TLB_FETCH, TG_WALKS)], text[1]),
             with_commas(t[tg_cost(TLB_LOAD, TG_MISS_1)] + t[tg_cost(TLB_STORE, TG_MISS_1)],
                         text[2]),
             with_commas(t[tg_cost(TLB_LOAD, TG_WALKS)] + t[tg_cost(TLB_STORE, TG_WALKS)],
                         text[3]));
   }
   if (fflush(stdout) != 0)
      tg_load_refuse("the standard output cannot be written: %s", strerror(errno));
}

/* --- All of it --- */

static char *default_name(const char *recording)
{
   const size_t room = strlen(recording) + sizeof ".out";
   char *const name = malloc(room);
   if (name == NULL)
      tg_load_refuse("no memory");
   snprintf(name, room, "%s.out", recording);
   return name;
}

static void check_names(const simulation *s)
{
   for (unsigned i = 0; i < s->list.n; i++) {
      char *const name = file_name(s, i);
      if (!tg_can_write(name))
         tg_load_refuse("%s: the file cannot be written: %s", name, strerror(errno));
      free(name);
   }
}

int main(int argc, char **argv)
{
   simulation s;
   tg_load_for("tg_simulate", "--machine");
   tg_simulate_options(argc, argv, &s.options);
   s.out_file = s.options.out_file != NULL ? s.options.out_file
                                           : default_name(s.options.recording);
   TgRecording *const recording = tg_recording_open(s.options.recording);
   const tlb_strength *const strength = tg_recording_strength(recording);
   const TgSimulatedPages pages = tg_simulated_pages(&s.options, strength->base_page_shift,
                                                     tg_recording_thp(recording));
   s.list = tg_simulated_load(s.options.machines, &pages);
   tg_simulated_check(&s.list, strength, 0, s.options.recording);
   tg_recording_close(recording);
   check_names(&s);
   totals *const total = calloc(s.list.n, sizeof *total);
   if (total == NULL)
      tg_load_refuse("no memory");
   const result r = simulate_all(&s, total);
   if (r.ending == DAMAGED)
      tg_load_refuse("%s: the recording is damaged: %s", s.options.recording, r.why);
   print_table(&s, total);
   free(total);
   if (r.ending == CUT)
      tg_load_refuse("%s: the recording ends after %llu instructions: %s; these are the misses up to "
                     "there, and there are no out-files", s.options.recording,
                     (unsigned long long)r.instructions, r.why);
   return 0;
}
