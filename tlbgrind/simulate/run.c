/* The machines of a run that goes on. See simulate/run.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   This process reads what the tool writes. With several jobs it hands all of it to as many others,
   each with its share of the machines, and their answers to the tool. docs/internals/formats.md has
   both. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/load_machine.h"
#include "sim/machine/machine_file.h"
#include "simulate/bytes.h"
#include "simulate/machines.h"
#include "simulate/recording.h"
#include "simulate/replay.h"
#include "simulate/run.h"

enum { MOST_JOBS = 256 };

typedef struct {
   unsigned jobs;
   bool nested;
   TgSimulatedList list;
} run;

/* --- What the tool writes first --- */

/* Byte by byte, for what stands behind is read by others. */
static void read_line(char *text, size_t size)
{
   for (size_t n = 0; n < size; n++) {
      if (!tg_read_bytes(0, &text[n], 1))
         tg_load_refuse("the run has ended before it began");
      if (text[n] == '\n') {
         text[n] = '\0';
         return;
      }
   }
   tg_load_refuse("what the run writes is another tlbgrind's");
}

static unsigned number_behind(const char *key, unsigned least, unsigned most)
{
   char text[64];
   char *end;
   read_line(text, sizeof text);
   const size_t n = strlen(key);
   const unsigned long number = strncmp(text, key, n) == 0 ? strtoul(text + n, &end, 10) : 0;
   if (strncmp(text, key, n) != 0 || end == text + n || *end != '\0' || number < least
       || number > most)
      tg_load_refuse("what the run writes is another tlbgrind's: '%s'", text);
   return (unsigned)number;
}

static void read_machine(TgSimulated *s)
{
   static char text[TLB_MACHINE_TEXT_SIZE];
   tlb_reason why;
   const unsigned n = number_behind("", 1, sizeof text);
   if (!tg_read_bytes(0, text, n))
      tg_load_refuse("the run has ended before it began");
   if (!tlb_machine_parse_of_run(text, n, &s->m, &why)
       || !tlb_machine_holds(&s->m, s->m.base_page_shift, &why))
      tg_load_refuse("machine of the run: %s", why.text);
}

/* As the tool has it in memory, which is of the same version. */
static void read_memory(void *bytes, size_t n)
{
   if (!tg_read_bytes(0, bytes, n))
      tg_load_refuse("the run has ended before it began");
}

static void read_policy(tlb_page_policy *p)
{
   read_memory(p, sizeof *p);
   bool good = p->n_rules <= TLB_MAX_PAGE_RULES && p->n_pools <= TLB_MAX_PAGE_POOLS
               && p->thp_shift <= 2 * TLB_MAX_PAGE_SHIFT && p->code_shift <= TLB_MAX_PAGE_SHIFT;
   for (unsigned i = 0; good && i < p->n_rules; i++)
      good = p->rule[i].shift <= TLB_MAX_PAGE_SHIFT
             && memchr(p->rule[i].pattern, '\0', sizeof p->rule[i].pattern) != NULL;
   if (!good)
      tg_load_refuse("what the run writes is another tlbgrind's: its page sizes can not be");
}

static void read_syscalls(tlb_syscalls *s)
{
   read_memory(s, sizeof *s);
   if (s->how > TLB_SYSCALLS_KERNEL)
      tg_load_refuse("what the run writes is another tlbgrind's: its system calls can not be");
}

static void read_flush_policy(tlb_flush_policy *f)
{
   read_memory(f, sizeof *f);
   if (f->how > TLB_FLUSH_ALL)
      tg_load_refuse("what the run writes is another tlbgrind's: its flushes can not be");
}

static void read_prefetch_policy(tlb_prefetch_policy *p)
{
   read_memory(p, sizeof *p);
   if (*p > TLB_PREFETCH_STRONG)
      tg_load_refuse("what the run writes is another tlbgrind's: its prefetches can not be");
}

static void read_run(run *r)
{
   char text[200];
   read_line(text, sizeof text);
   if (strcmp(text, "# tlbgrind run of " TG_VERSION) != 0)
      tg_load_refuse("the run is not one of tlbgrind " TG_VERSION);
   r->jobs = number_behind("jobs: ", 1, MOST_JOBS);
   r->nested = number_behind("nested: ", 0, 1) != 0;
   r->list.n = number_behind("machines: ", 1, TLB_MAX_MMUS);
   r->list.machine = calloc(r->list.n, sizeof *r->list.machine);
   if (r->list.machine == NULL)
      tg_load_refuse("no memory");
   for (unsigned i = 0; i < r->list.n; i++)
      read_machine(&r->list.machine[i]);
   for (unsigned i = 0; i < r->list.n; i++) {
      read_policy(&r->list.machine[i].pages);
      read_syscalls(&r->list.machine[i].syscalls);
      read_flush_policy(&r->list.machine[i].flush);
      read_prefetch_policy(&r->list.machine[i].prefetch);
   }
   read_memory(&r->list.switches, sizeof r->list.switches);
   r->jobs = r->jobs < r->list.n ? r->jobs : r->list.n;
}

/* --- Answers --- */

/* How the counts of some machines begin. */
typedef struct {
   uint64_t first, step, n, n_entries, n_arcs;
} answer_head;

/* The run no longer waits for them where it has ended. */
static void answer(const void *bytes, size_t n, FILE *to)
{
   if (fwrite(bytes, 1, n, to) != n)
      exit(0);
}

static void report(TgReplay *replay, unsigned first, unsigned step, FILE *to)
{
   tg_replay_settle(replay); /* which changes arcs */
   const answer_head h = { first, step, tg_replay_n_machines(replay), tg_replay_n_changed(replay),
                           tg_replay_n_changed_arcs(replay) };
   answer(&h, sizeof h, to);
   for (unsigned nth = 0; nth < h.n; nth++) {
      uint64_t extra[TLB_N_USERS][TLB_N_COSTS] = { { 0 } };
      tg_replay_extra(replay, nth, NULL, extra);
      answer(extra, sizeof extra, to);
   }
   for (unsigned i = 0; i < h.n_entries; i++) {
      unsigned line;
      TgCounted what;
      tg_replay_changed(replay, i, &line, &what);
      const uint64_t place = (uint64_t)line * TG_N_COUNTED + what;
      answer(&place, sizeof place, to);
      for (unsigned nth = 0; nth < h.n; nth++)
         answer(tg_replay_costs(replay, nth, line, what), tg_counted_costs(what) * sizeof(uint64_t),
                to);
   }
   for (unsigned i = 0; i < h.n_arcs; i++) {
      const uint64_t arc = tg_replay_changed_arc(replay, i);
      answer(&arc, sizeof arc, to);
      for (unsigned nth = 0; nth < h.n; nth++) {
         uint64_t cost[TLB_N_USERS][TLB_N_COSTS] = { { 0 } };
         tg_replay_add_arc(replay, nth, (unsigned)arc, NULL, cost);
         answer(cost, sizeof cost, to);
      }
   }
   tg_replay_forget_changes(replay);
   tg_replay_forget_changed_arcs(replay);
   if (fflush(to) != 0)
      exit(0);
}

/* --- One share of the machines --- */

/* Reads to the end of the run, which is where there is no more to read. */
static void serve(const run *r, int from, FILE *to, unsigned first)
{
   TgRecording *const recording = tg_recording_of_run(from, NULL, NULL);
   tlb_stream_reader *const s = tg_recording_stream(recording);
   TgReplay *const replay
      = tg_replay_new(&r->list, first, r->jobs, tg_recording_strength(recording), r->nested);
   if (tg_recording_has_calls(recording))
      tg_replay_count_calls(replay);
   const char *wrong = NULL;
   for (;;) {
      switch (tg_recording_read(recording)) {
      case TLB_READ_RECORDS:
         wrong = tg_replay_block(replay, s);
         break;
      case TLB_READ_MARK:
         if (s->mark == TLB_MARK_ZERO)
            tg_replay_zero(replay);
         else if (s->mark == TLB_MARK_REPORT)
            report(replay, first, r->jobs, to);
         break;
      case TLB_READ_POINT:
         if (s->point == TLB_POINT_FLUSH)
            wrong = tg_replay_flush(replay, &s->flush);
         else
            tg_replay_point(replay, s->point, s->first, s->last);
         break;
      case TLB_READ_TEXT:
         wrong = "it has a text";
         break;
      case TLB_READ_EVENT:
         if (tg_recording_strength(recording)->large == 0)
            wrong = "a change of mappings stands where there is none";
         else
            tg_replay_event(replay, &s->event);
         break;
      case TLB_READ_DAMAGED:
         wrong = s->damage;
         break;
      case TLB_READ_END: case TLB_READ_CUT:
         return;
      }
      if (wrong != NULL)
         tg_load_refuse("what the run writes is damaged: %s", wrong);
   }
}

/* --- Several processes --- */

typedef struct {
   int answers;
   FILE *to;
} job;

typedef struct {
   unsigned n;
   job job[MOST_JOBS];
} all_jobs;

static void start_job(const run *r, all_jobs *all, unsigned nth)
{
   int data[2], answers[2];
   if (pipe(data) != 0 || pipe(answers) != 0)
      tg_load_refuse("no pipe: %s", strerror(errno));
   const pid_t pid = fork();
   if (pid < 0)
      tg_load_refuse("no process: %s", strerror(errno));
   if (pid == 0) {
      FILE *const to = fdopen(answers[1], "w");
      close(0);
      close(1);
      close(data[1]);
      close(answers[0]);
      for (unsigned i = 0; i < all->n; i++) {
         close(all->job[i].answers);
         close(fileno(all->job[i].to));
      }
      if (to == NULL)
         tg_load_refuse("no memory");
      serve(r, data[0], to, nth);
      _exit(0);
   }
   close(data[0]);
   close(answers[1]);
   all->job[nth] = (job){ answers[0], fdopen(data[1], "w") };
   if (all->job[nth].to == NULL)
      tg_load_refuse("no memory");
   all->n = nth + 1;
}

/* If one of them has ended, so does this process: then the tool says so. */
static void hand_on(void *opaque, const uint8_t *bytes, size_t n)
{
   all_jobs *const all = opaque;
   for (unsigned i = 0; i < all->n; i++) {
      if (fwrite(bytes, 1, n, all->job[i].to) != n)
         tg_load_refuse("a process of --jobs= has ended");
   }
}

static void flush(all_jobs *all)
{
   for (unsigned i = 0; i < all->n; i++) {
      if (fflush(all->job[i].to) != 0)
         tg_load_refuse("a process of --jobs= has ended");
   }
}

static void pass(const job *j, char *bytes, uint64_t n)
{
   if (!tg_read_bytes(j->answers, bytes, n))
      tg_load_refuse("a process of --jobs= has ended");
   answer(bytes, n, stdout);
}

static void pass_answer(const run *r, const job *j)
{
   static char bytes[sizeof(uint64_t)
                     + TLB_MAX_MMUS * TLB_N_USERS * TLB_N_COSTS * sizeof(uint64_t)];
   answer_head h;
   if (!tg_read_bytes(j->answers, &h, sizeof h) || h.n > r->list.n)
      tg_load_refuse("a process of --jobs= has ended");
   answer(&h, sizeof h, stdout);
   const uint64_t of_arc = TLB_N_USERS * TLB_N_COSTS * sizeof(uint64_t);
   pass(j, bytes, h.n * of_arc);
   for (uint64_t i = 0; i < h.n_entries; i++) {
      uint64_t place;
      pass(j, bytes, sizeof place);
      memcpy(&place, bytes, sizeof place);
      pass(j, bytes, h.n * tg_counted_costs((TgCounted)(place % TG_N_COUNTED)) * sizeof(uint64_t));
   }
   for (uint64_t i = 0; i < h.n_arcs; i++)
      pass(j, bytes, sizeof(uint64_t) + h.n * of_arc);
}

static void pass_answers(const run *r, all_jobs *all)
{
   for (unsigned i = 0; i < all->n; i++)
      pass_answer(r, &all->job[i]);
   if (fflush(stdout) != 0)
      exit(0);
}

static void distribute(const run *r)
{
   static all_jobs all;
   for (unsigned i = 0; i < r->jobs; i++)
      start_job(r, &all, i);
   TgRecording *const recording = tg_recording_of_run(0, hand_on, &all);
   tlb_stream_reader *const s = tg_recording_stream(recording);
   for (;;) {
      const tlb_stream_found found = tg_recording_read(recording);
      if (found == TLB_READ_END || found == TLB_READ_CUT || found == TLB_READ_DAMAGED)
         break;
      flush(&all);
      if (found == TLB_READ_MARK && s->mark == TLB_MARK_REPORT)
         pass_answers(r, &all);
   }
   exit(0); /* and with it what the others read from ends */
}

int tg_simulate_run(void)
{
   static const char ready[] = "ready\n\n";
   static run r;
   static char buffer[1 << 16];
   setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
   signal(SIGPIPE, SIG_IGN);
   read_run(&r);
   if (!tg_write_bytes(1, ready, sizeof ready))
      return 1;
   if (r.jobs > 1)
      distribute(&r);
   serve(&r, 0, stdout, 0);
   return 0;
}
