/* The processes of --jobs=. See processes.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "simulate/processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/load_machine.h"
#include "simulate/bytes.h"
#include "simulate/progress.h"

typedef struct {
   pid_t pid;
   int fd;
} job;

/* The first machine of a part of the shard. */
static unsigned first_of(const TgSimulation *s, unsigned nth)
{
   return s->options.shard + s->options.shards * nth;
}

/* Part number `nth` of n_parts of the shard. */
static job start_job(const TgSimulation *s, unsigned nth, unsigned n_parts, TgTotals *total)
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
      TgShareResult r = tg_share_simulate(s, first, step, total);
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
static bool await_job(const TgSimulation *s, unsigned nth, unsigned n_parts, job j, TgTotals *total,
                      TgShareResult *r)
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

TgShareResult tg_processes_simulate(const TgSimulation *s, TgTotals *total)
{
   const unsigned n_parts = tg_simulation_parts(s), n_jobs = s->options.jobs;
   job *const jobs = calloc(n_parts, sizeof *jobs);
   TgShareResult r = { .ending = TG_WHOLE };
   bool good = true;
   if (jobs == NULL)
      tg_load_refuse("no memory");
   tg_progress_begin(n_parts);
   if (n_parts == 1) {
      free(jobs);
      return tg_share_simulate(s, s->options.shard, s->options.shards, total);
   }
   for (unsigned i = 0; i < n_parts && i < n_jobs; i++)
      jobs[i] = start_job(s, i, n_parts, total);
   for (unsigned i = 0; i < n_parts; i++) {
      TgShareResult one = { .ending = TG_WHOLE };
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
