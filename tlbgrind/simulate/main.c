/* tg_simulate -- simulates machines from a recording of tlbgrind, without Valgrind.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   What is asked for is found in simulation.c; processes.c starts the processes of --jobs=, each of
   which simulates a share of the machines (share.c). The table of all is printed here. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/bar.h"
#include "command/load_machine.h"
#include "command/whole_file.h"
#include "simulate/heat_map.h"
#include "simulate/merge.h"
#include "simulate/processes.h"
#include "simulate/run.h"
#include "simulate/table.h"

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

static TgRow *new_rows(const TgSimulation *s)
{
   TgRow *const row = calloc(s->list.n, sizeof *row);
   if (row == NULL)
      tg_load_refuse("no memory");
   for (unsigned i = 0; i < s->list.n; i++)
      row[i].name = s->list.machine[i].name;
   return row;
}

static void check_picture_of(const TgSimulation *s)
{
   TgRow *const row = new_rows(s);
   if (s->options.shards > 1)
      tg_load_refuse("--picture=%s: a shard has not all of a map; tg_simulate --picture= --merge "
                     "draws it", s->options.picture);
   check_picture(&s->options, row, s->list.n);
   free(row);
}

/* Of the shard. */
static void print_table(const TgSimulation *s, TgTotals *total)
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

/* --- All of it --- */

static void write_data(const TgSimulation *s)
{
   size_t n;
   char *const whole = tg_data_file_make(s->data, &n);
   if (!tg_write_whole(s->data_file, whole, n))
      tg_load_refuse("%s: the file cannot be written: %s", s->data_file, strerror(errno));
   free(whole);
}

int main(int argc, char **argv)
{
   TgSimulation s = { .list = { .n = 0 } };
   tg_load_for("tg_simulate", "--machine");
   if (argc == 2 && strcmp(argv[1], "--of-a-run") == 0)
      return tg_simulate_run();
   tg_simulate_options(argc, argv, &s.options);
   if (s.options.quiet)
      tg_bar_quiet();
   if (s.options.n_merged > 0)
      return merge(&s.options);
   tg_simulation_load(&s);
   if (s.options.picture != NULL)
      check_picture_of(&s);
   TgTotals *const total = calloc(s.list.n, sizeof *total);
   if (total == NULL)
      tg_load_refuse("no memory");
   if (s.list.group > 0) {
      s.advice = tg_advice_new(&s.list);
      s.options.map = TG_MAP_NONE; /* rows of variants are no map */
   }
   const TgShareResult r = tg_processes_simulate(&s, total);
   tg_bar_clear();
   if (r.ending == TG_DAMAGED)
      tg_load_refuse("%s: %s%s", s.options.recording,
                     s.options.input != NULL ? "" : "the recording is damaged: ", r.why);
   if (r.ending == TG_NO_PART)
      tg_load_refuse("%s: %s", s.options.recording, r.why);
   if (s.advice != NULL && r.ending == TG_WHOLE) {
      tg_advice_find(s.advice, total);
      tg_advice_write(s.advice);
   }
   if (s.data != NULL && r.ending == TG_WHOLE)
      write_data(&s);
   print_table(&s, total);
   if (s.advice != NULL && r.ending == TG_WHOLE)
      tg_advice_print(s.advice);
   if (r.about[0] != '\0')
      printf("trace: %s\n", r.about);
   free(total);
   if (s.advice != NULL)
      tg_advice_free(s.advice);
   if (s.data != NULL)
      tg_data_file_free(s.data);
   if (r.ending == TG_CUT)
      tg_load_refuse("%s: the %s ends after %llu instructions: %s; these are the misses up to "
                     "there, and there are no out-files", s.options.recording,
                     s.options.input != NULL ? "trace" : "recording",
                     (unsigned long long)r.instructions, r.why);
   return 0;
}
