/* The options of tg_simulate. See simulate/options.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/close_option.h"
#include "command/load_machine.h"
#include "sim/base/text.h"
#include "simulate/options.h"
#include "simulate/trace_formats.h"

enum { MOST_JOBS = 256, MOST_SHARDS = 1000 };

static const char help[] =
   "usage: tg_simulate [options] RECORDING\n"
   "       tg_simulate [options] --input=FORMAT TRACE\n"
   "       tg_simulate [--map=COUNT] [--picture=FILE] --merge OUT-FILE...\n"
   "\n"
   "Simulates processors' TLBs from a recording "
   "that tlbgrind --record=RECORDING has made, without\n"
   "the program. Writes the out-files that a run with these machines would have written, for\n"
   "tg_annotate and all others that read them.\n"
   "\n"
   "  --machine=NAME|FILE[,...]  "
   "which machines: names of tlbgrind --list-machines, host, default,\n"
   "                             machine files; NAME:ARRAY.LINE=VALUE,... as tlbgrind takes them\n"
   "                             (default: host)\n"
   "  --input=champsim|drmemtrace|lackey\n"
   "                             "
   "simulate a trace of another program, plain or compressed by gzip,\n"
   "                             xz, zstd or zip; - reads the standard input; of drmemtrace a\n"
   "                             folder of threads' files, too\n"
   "  --v2p=FILE|none            of a trace: a v2p.textproto with the pages that back its memory\n"
   "                             (default: that beside a drmemtrace trace, if there is one)\n"
   "  --pages=WHAT:SIZE[,...]    which pages back which memory, as tlbgrind takes it\n"
   "                             "
   "(default: base pages, and what the program asks for); of a trace all:SIZE\n"
   "  --thp=never|madvise|always which memory has transparent huge pages\n"
   "                             (default: as in the run that was recorded)\n"
   "  --huge-pool=SIZE:PAGES[,...]\n"
   "                             so many pages of that size are there (default: enough)\n"
   "  --advice=yes|SIZE[,...]    simulate each machine again with each kind of memory in pages of\n"
   "                             64K and 2M, or of those sizes, as tlbgrind takes it; for\n"
   "                             tg_annotate --advice\n"
   "  --flush-policy=none|linux|ceiling:PAGES|shift:N|all\n"
   "                             what munmap and the like flush, if the recording tells of it\n"
   "                             (default: none)\n"
   "  --syscall-tlb=none|flush|kernel:PAGES\n"
   "                             "
   "what system calls drive out, if the recording tells where they are\n"
   "                             (default: none)\n"
   "  --switch-every=INSTRUCTIONS[:PAGES]\n"
   "                             "
   "context switches flush everything, or bring others' pages, if the\n"
   "                             recording has such (default: none)\n"
   "  --prefetch=ignore|weak|strong\n"
   "                             what prefetch instructions do, if the recording tells of them\n"
   "                             (default: ignore)\n"
   "  --from=MARK, --to=MARK     "
   "count only from where the phase of that mark begins, to where the other one\n"
   "                             then begins (default: from the start, to the end)\n"
   "  --thread=N                 count only that thread, of a run with --separate-threads=yes\n"
   "  --jobs=N                   spread them over so many processes; 1 to 256 (default: 1)\n"
   "  --shard=K/N                "
   "simulate machine K of the list, and each Nth behind it: a part of a\n"
   "                             sweep, on a computer of its own\n"
   "  --merge                    print the table of a simulation whose shards have written these\n"
   "                             out-files\n"
   "  --map=walks|misses|cycles|no\n"
   "                             of machines of which two values differ: which count the map of\n"
   "                             them shows (default: walks)\n"
   "  --picture=FILE             write these maps as a picture, too (SVG)\n"
   "  --nested=yes|no            in a virtual machine: walks of the host's tables, too\n"
   "                             (default: no)\n"
   "  --miss-cost=CYCLES         "
   "what a page walk costs on the machines (default: as their files say)\n"
   "  --cycles=NUMBER|MACHINE:NUMBER[,...]\n"
   "                             cycles of the program on the real machine (default: 1 to 2\n"
   "                             instructions per cycle are assumed)\n"
   "  --reach=yes|no             also write what TLBs of all sizes would miss (default: no)\n"
   "  --reach-out-file=FILE      to this file (default: RECORDING.reach); implies --reach=yes\n"
   "  --data=yes|no              also write costs by object of data, of a recording of a run with\n"
   "                             --data=yes (default: yes if it is one)\n"
   "  --data-out-file=FILE       to this file (default: RECORDING.data); implies --data=yes\n"
   "  -o FILE, --tlbgrind-out-file=FILE\n"
   "                             write costs to FILE; of several machines to FILE_MACHINE\n"
   "                             (default: RECORDING.out)\n"
   "  --quiet                    no progress bar\n"
   "  --help                     print this and end\n"
   "  --version                  print the version and end\n";

/* For the completion of shells: tlbgrind/completion/. */
static const char list_of_options[] =
   "--machine= machine\n--input= one champsim drmemtrace lackey\n--v2p= file none\n--pages= any\n"
   "--thp= one never madvise always\n--huge-pool= any\n--advice= any\n"
   "--flush-policy= one none linux all\n--syscall-tlb= one none flush kernel:64\n"
   "--switch-every= any\n--prefetch= one ignore weak strong\n--jobs= any\n--from= any\n--to= any\n"
   "--thread= any\n--shard= any\n--merge\n--map= one walks misses cycles no\n--picture= file\n"
   "--nested= one yes no\n--miss-cost= any\n--cycles= any\n--reach= one yes no\n"
   "--reach-out-file= file\n--data= one yes no\n--data-out-file= file\n--tlbgrind-out-file= file\n"
   "--quiet\n--help\n--version\n";

static void print_and_end(const char *text)
{
   fputs(text, stdout);
   if (fflush(stdout) != 0)
      tg_load_refuse("the standard output cannot be written: %s", strerror(errno));
   exit(0);
}

/* The value if the argument is that option, or NULL. */
static const char *value_of(const char *argument, const char *option)
{
   const size_t n = strlen(option);
   if (strncmp(argument, option, n) != 0 || (argument[n] != '=' && argument[n] != '\0'))
      return NULL;
   if (argument[n] == '\0' || argument[n + 1] == '\0')
      tg_load_refuse("%s: a value is missing behind %s=", argument, option);
   return argument + n + 1;
}

static unsigned jobs_of(const char *text)
{
   char *end;
   const unsigned long n = strtoul(text, &end, 10);
   if (!isdigit((unsigned char)text[0]) || *end != '\0' || n == 0 || n > MOST_JOBS)
      tg_load_refuse("--jobs=%s: '%s' is no number of processes; allowed are 1 to %d", text, text,
                     MOST_JOBS);
   return (unsigned)n;
}

static bool yes_or_no(const char *option, const char *text)
{
   const bool yes = strcmp(text, "yes") == 0;
   if (!yes && strcmp(text, "no") != 0)
      tg_load_refuse("%s=%s: '%s' is neither yes nor no", option, text, text);
   return yes;
}

static const TgTraceFormat *input_of(const char *name)
{
   const TgTraceFormat *const format = tg_trace_format(name);
   if (format == NULL)
      tg_load_refuse("--input=%s: '%s' is no format; allowed are champsim, drmemtrace and lackey",
                     name, name);
   return format;
}

static void take_shard(const char *text, TgSimulateOptions *o)
{
   const char *at = text, *const end = text + strlen(text);
   uint64_t k, n;
   if (!tlb_text_number(&at, end, &k) || *at != '/' || (at++, !tlb_text_number(&at, end, &n))
       || at != end || k == 0 || k > n || n > MOST_SHARDS)
      tg_load_refuse("--shard=%s: '%s' is no shard; it is K/N, K from 1 to N, N up to %d", text,
                     text, MOST_SHARDS);
   o->shard = (unsigned)k - 1;
   o->shards = (unsigned)n;
}

static tlb_switches switches_of(const char *text)
{
   tlb_switches s;
   tlb_reason why;
   if (!tlb_switches_parse(text, &s, &why))
      tg_load_refuse("--switch-every=%s: %s", text, why.text);
   return s;
}

static TgMap map_of(const char *text)
{
   static const char *const names[] = { "no", "walks", "misses", "cycles" };
   for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
      if (strcmp(text, names[i]) == 0)
         return (TgMap)i;
   }
   tg_load_refuse("--map=%s: '%s' is no count; allowed are walks, misses, cycles and no", text,
                  text);
}

/* file "": --data= alone. */
static void take_data(bool on, const char *file, TgSimulateOptions *o)
{
   const bool is_named = file[0] != '\0' || o->data == NULL;
   o->no_data = !on;
   o->data = !on ? NULL : is_named ? file : o->data;
}

static bool take(const char *argument, TgSimulateOptions *o)
{
   const char *value;
   if ((value = value_of(argument, "--machine")) != NULL)
      o->machines = value;
   else if ((value = value_of(argument, "--tlbgrind-out-file")) != NULL)
      o->out_file = value;
   else if ((value = value_of(argument, "--jobs")) != NULL)
      o->jobs = jobs_of(value);
   else if ((value = value_of(argument, "--pages")) != NULL)
      o->pages[o->n_pages++] = value;
   else if ((value = value_of(argument, "--huge-pool")) != NULL)
      o->pools[o->n_pools++] = value;
   else if ((value = value_of(argument, "--thp")) != NULL)
      o->thp = value;
   else if ((value = value_of(argument, "--advice")) != NULL)
      o->advice = value;
   else if ((value = value_of(argument, "--flush-policy")) != NULL)
      o->flush = value;
   else if ((value = value_of(argument, "--syscall-tlb")) != NULL)
      o->syscalls = value;
   else if ((value = value_of(argument, "--switch-every")) != NULL)
      o->switches = switches_of(value);
   else if ((value = value_of(argument, "--prefetch")) != NULL)
      o->prefetch = value;
   else if ((value = value_of(argument, "--nested")) != NULL)
      o->nested = yes_or_no("--nested", value);
   else if ((value = value_of(argument, "--reach-out-file")) != NULL)
      o->reach = value;
   else if ((value = value_of(argument, "--reach")) != NULL)
      o->reach = !yes_or_no("--reach", value) ? NULL : o->reach == NULL ? "" : o->reach;
   else if ((value = value_of(argument, "--data-out-file")) != NULL)
      take_data(true, value, o);
   else if ((value = value_of(argument, "--data")) != NULL)
      take_data(yes_or_no("--data", value), "", o);
   else if ((value = value_of(argument, "--input")) != NULL)
      o->input = input_of(value);
   else if ((value = value_of(argument, "--v2p")) != NULL)
      o->v2p = value;
   else if ((value = value_of(argument, "--shard")) != NULL)
      take_shard(value, o);
   else if ((value = value_of(argument, "--map")) != NULL)
      o->map = map_of(value);
   else if ((value = value_of(argument, "--picture")) != NULL)
      o->picture = value;
   else if ((value = value_of(argument, "--from")) != NULL)
      o->part.from = value;
   else if ((value = value_of(argument, "--to")) != NULL)
      o->part.to = value;
   else if ((value = value_of(argument, "--cycles")) != NULL)
      o->cycles = value;
   else if ((value = value_of(argument, "--miss-cost")) != NULL)
      o->miss_cost = value;
   else if ((value = value_of(argument, "--thread")) != NULL)
      o->part.thread = value;
   return value != NULL;
}

static _Noreturn void refuse(const char *argument)
{
   char text[300];
   tg_no_such_option("tg_simulate", argument, list_of_options, text, sizeof text);
   tg_load_refuse("%s", text);
}

/* The variants of a machine are compared with it, over the whole run. */
static void check_advice(const TgSimulateOptions *o)
{
   if (o->input != NULL)
      tg_load_refuse("--advice=%s: a trace has no mappings; leave out --advice=, or --input=",
                     o->advice);
   if (tg_is_part(&o->part))
      tg_load_refuse("--advice=%s: it is about the whole run; leave it out, or --from=, --to= and "
                     "--thread=", o->advice);
   if (o->shards > 1)
      tg_load_refuse("--advice=%s: a machine and its variants are simulated together; leave it "
                     "out, or --shard=", o->advice);
   if (o->picture != NULL)
      tg_load_refuse("--picture=%s: the variants of --advice= make no map; leave out one of the "
                     "two", o->picture);
}

static void check_data(const TgSimulateOptions *o)
{
   if (o->input != NULL)
      tg_load_refuse("--data: a trace tells of no objects of data; leave it out, or --input=");
   if (tg_is_part(&o->part))
      tg_load_refuse("--data: costs by object of data are those of the whole run; leave it out, or "
                     "--from=, --to= and --thread=");
   if (o->shards > 1)
      tg_load_refuse("--data: all machines have one file, and a shard has not all of them; leave "
                     "it out, or --shard=");
}

static void check_together(const TgSimulateOptions *o)
{
   const bool is_stdin = strcmp(o->recording, "-") == 0;
   if (o->advice != NULL)
      check_advice(o);
   if (o->data != NULL)
      check_data(o);
   if (o->input != NULL && o->n_pages > 1)
      tg_load_refuse("--pages=%s: all memory of a trace has pages of one size", o->pages[1]);
   if (o->input != NULL && (o->thp != NULL || o->n_pools > 0))
      tg_load_refuse("%s: a trace has no mappings; only --pages=all:SIZE goes with --input",
                     o->thp != NULL ? "--thp" : "--huge-pool");
   if (o->input != NULL && (o->flush != NULL || o->syscalls != NULL || o->switches.every > 0))
      tg_load_refuse("%s: a trace tells of no flushes, system calls and context switches; leave it "
                     "out, or --input=",
                     o->flush != NULL ? "--flush-policy"
                     : o->syscalls != NULL ? "--syscall-tlb" : "--switch-every");
   if (o->input != NULL && o->prefetch != NULL)
      tg_load_refuse("--prefetch=%s: of a trace no prefetches are simulated; leave it out, or "
                     "--input=", o->prefetch);
   if (o->input != NULL && tg_is_part(&o->part))
      tg_load_refuse("%s: a trace has neither marks nor threads", o->part.from != NULL ? "--from"
                                                        : o->part.to != NULL ? "--to" : "--thread");
   if (o->part.thread != NULL && (o->part.from != NULL || o->part.to != NULL))
      tg_load_refuse("--thread= goes without --from= and --to=: a recording has the references of "
                     "each thread, and of each phase, but not those of a thread in a phase");
   if (o->v2p != NULL && o->input == NULL)
      tg_load_refuse("--v2p=%s: a recording has the run's own mappings; --v2p goes with --input",
                     o->v2p);
   if (o->v2p != NULL && strcmp(o->v2p, "none") != 0 && o->n_pages > 0)
      tg_load_refuse("--v2p=%s: --pages=%s says which pages there are, too; leave out one of them",
                     o->v2p, o->pages[0]);
   if (tg_is_part(&o->part) && o->reach != NULL)
      tg_load_refuse("--reach: the curve is that of the whole run; leave it out, or --from=, --to= "
                     "and --thread=");
   if (o->input != NULL && o->reach != NULL)
      tg_load_refuse("--reach: the curve is that of a recording; leave it out, or --input=");
   if (is_stdin && o->input == NULL)
      tg_load_refuse("-: a recording is a file; only a trace (--input) comes from the standard "
                     "input");
   if (is_stdin && o->input == &tg_input_drmemtrace)
      tg_load_refuse("-: a drmemtrace trace is a file: its page size is read first");
   if (is_stdin && o->jobs > 1)
      tg_load_refuse("--jobs=%u: the standard input can be read by one process only", o->jobs);
   if (is_stdin && o->out_file == NULL)
      tg_load_refuse("-: the name of the out-file is missing; give -o FILE");
}

void tg_simulate_options(int argc, char **argv, TgSimulateOptions *o)
{
   *o = (TgSimulateOptions){ .machines = "host", .jobs = 1, .shards = 1, .map = TG_MAP_WALKS };
   bool merges = false;
   o->pages = calloc((size_t)argc, sizeof *o->pages);
   o->pools = calloc((size_t)argc, sizeof *o->pools);
   if (o->pages == NULL || o->pools == NULL)
      tg_load_refuse("no memory");
   for (int i = 1; i < argc; i++) {
      if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
         print_and_end(help);
      if (strcmp(argv[i], "--version") == 0)
         print_and_end("tg_simulate " TG_VERSION "\n");
      if (strcmp(argv[i], "--list-options") == 0)
         print_and_end(list_of_options);
      if (strcmp(argv[i], "--merge") == 0) {
         merges = true;
      } else if (strcmp(argv[i], "--quiet") == 0) {
         o->quiet = true;
      } else if (strcmp(argv[i], "-o") == 0) {
         if (++i == argc)
            tg_load_refuse("-o: the name of a file is missing behind it");
         o->out_file = argv[i];
      } else if (argv[i][0] == '-' && argv[i][1] != '\0') {
         if (!take(argv[i], o))
            refuse(argv[i]);
      } else if (merges) {
         argv[o->n_merged++] = argv[i];
         o->merged = argv;
      } else if (o->recording != NULL) {
         tg_load_refuse("%s: one recording at a time; the first is %s", argv[i], o->recording);
      } else {
         o->recording = argv[i];
      }
   }
   if (o->picture != NULL && o->map == TG_MAP_NONE)
      tg_load_refuse("--picture=%s: --map=no leaves out the maps that it shows", o->picture);
   if (merges && (o->n_merged == 0 || o->recording != NULL))
      tg_load_refuse("--merge: the names of out-files belong behind it");
   if (merges)
      return;
   if (o->recording == NULL)
      tg_load_refuse("the name of a recording is missing: tg_simulate [options] RECORDING");
   check_together(o);
}
