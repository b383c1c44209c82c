/* What tg_simulate is asked for, found and checked. See simulation.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "simulate/simulation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/load_machine.h"
#include "command/whole_file.h"
#include "simulate/recording.h"
#include "simulate/trace_files.h"
#include "simulate/trace_run.h"

/* --- Names --- */

char *tg_simulation_file(const TgSimulation *s, unsigned machine)
{
   const size_t room = strlen(s->out_file) + strlen(s->list.machine[machine].label) + 2;
   char *const name = malloc(room);
   if (name == NULL)
      tg_load_refuse("no memory");
   snprintf(name, room, "%s%s%s", s->out_file, s->list.n > 1 ? "_" : "",
            s->list.n > 1 ? s->list.machine[machine].label : "");
   return name;
}

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

static void check_names(const TgSimulation *s)
{
   const char *const beside[] = { s->reach_file, s->data_file };
   static const char *const option[] = { "--reach-out-file", "--data-out-file" };
   for (unsigned i = s->options.shard; i < s->list.n; i += s->options.shards) {
      char *const name = tg_simulation_file(s, i);
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

/* --- Recordings and traces --- */

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
static void check_points(const TgSimulation *s, const TgRecordedPoints *p)
{
   const char *const recording = s->options.recording;
   const uint64_t every = s->list.switches.every;
   if (every != 0 && p->switches == 0)
      tg_load_refuse("%s: the recording has no context switches; record the program with "
                     "--switch-every=%llu", recording, (unsigned long long)every);
   if (every != 0 && p->switches != every)
      tg_load_refuse("%s: the recording has context switches every %llu instructions; record the "
                     "program with --switch-every=%llu", recording, (unsigned long long)p->switches,
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
         tg_load_refuse("%s: the recording does not tell what the kernel refers to in system "
                        "calls; record the program with --syscall-tlb=kernel:%u", recording,
                        calls->pages);
      if (calls->how == TLB_SYSCALLS_FLUSH && !p->syscalls)
         tg_load_refuse("%s: the recording does not tell where system calls are; record the "
                        "program with --syscall-tlb=flush", recording);
   }
}

/* It is of the whole run, and of all machines:
   without a word it is written wherever that can be. */
static void find_data_file(TgSimulation *s, bool has_data)
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

static void load_for_recording(TgSimulation *s)
{
   const TgSimulateOptions *const o = &s->options;
   TgRecording *const recording = tg_recording_open(o->recording);
   const tlb_strength *const strength = tg_recording_strength(recording);
   TgSimulatedPages pages = tg_simulated_pages(o, strength->base_page_shift,
                                               tg_recording_thp(recording),
                                               tg_recording_code(recording));
   pages.base = *tg_recording_base_pages(recording);
   const TgSimulatedKernel kernel = { o->flush, syscalls_of(o->syscalls),
                                      prefetch_of(o->prefetch) };
   s->list = tg_simulated_load(o->machines, o->advice, &pages, &kernel);
   s->list.switches = o->switches;
   s->flushes = tg_recording_points(recording)->flushes;
   check_points(s, tg_recording_points(recording));
   if (o->advice != NULL && strength->large == 0)
      tg_load_refuse("%s: the recording has no mappings, which --advice= is about; record the "
                     "program without --record-pages=none", o->recording);
   tg_simulated_check(&s->list, strength, &(TgAsked){ false, 0 }, o->recording);
   if (s->reach_file != NULL && !tlb_strength_covers_reach(strength))
      tg_load_refuse("%s: the recording leaves out what the smallest TLBs of the reach curve may "
                     "miss; record the program with --record-for=reach and the names of machines",
                     o->recording);
   find_data_file(s, tg_recording_has_data(recording));
   tg_recording_close(recording);
}

/* The base pages are those of the trace, if it tells; else each machine's. */
static void load_for_trace(TgSimulation *s)
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

/* --- All of it --- */

static unsigned machines_of_shard(const TgSimulation *s)
{
   return (s->list.n - s->options.shard + s->options.shards - 1) / s->options.shards;
}

unsigned tg_simulation_parts(const TgSimulation *s)
{
   const unsigned n = machines_of_shard(s), least = (n + TLB_MAX_MMUS - 1) / TLB_MAX_MMUS;
   const unsigned jobs = s->options.jobs < n ? s->options.jobs : n;
   return jobs > least ? jobs : least;
}

static void check_shard(const TgSimulation *s)
{
   const TgSimulateOptions *const o = &s->options;
   if (o->shards > s->list.n)
      tg_load_refuse("--shard=%u/%u: there are %u machines, and no more shards than that",
                     o->shard + 1, o->shards, s->list.n);
   if (strcmp(o->recording, "-") == 0 && tg_simulation_parts(s) > 1)
      tg_load_refuse("-: the standard input is read once, for at most %d machines", TLB_MAX_MMUS);
}

void tg_simulation_load(TgSimulation *s)
{
   const TgSimulateOptions *const o = &s->options;
   s->out_file = o->out_file != NULL ? o->out_file : default_name(o->recording, ".out");
   if (o->reach != NULL)
      s->reach_file = o->reach[0] != '\0' ? o->reach : default_name(o->recording, ".reach");
   if (o->input != NULL)
      load_for_trace(s);
   else
      load_for_recording(s);
   tg_simulated_take_costs(&s->list, o);
   check_shard(s);
   check_names(s);
}
