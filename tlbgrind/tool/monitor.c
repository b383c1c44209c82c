/* Executes monitor commands. See tool/monitor.h. */

#include "pub_tool_basics.h"

#include "pub_tool_gdbserver.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

#include "base/number_format.h"
#include "base/shown.h"
#include "engine/jobs.h"
#include "output/shares.h"
#include "tool/monitor.h"
#include "tool/outputs.h"
#include "tool/region.h"
#include "trace/instrumentation.h"

/* Their order is that of the words; those from START on change what is counted. */
typedef enum { HELP, STATUS, MACHINES, START, STOP, ZERO, DUMP, MARK } Command;
static const HChar words[] = "help status machines start stop zero dump mark";

enum { MAX_NAME = 200 }; /* bytes; as of TLBGRIND_MARK */

static void help(void)
{
   VG_(gdb_printf)(
"tlbgrind monitor commands:\n"
"  status       instrumentation on or off, and the counts so far\n"
"  machines     the machines of the run\n"
"  start        start instrumentation\n"
"  stop         stop it: nothing is simulated or counted\n"
"  zero         set all counts to zero\n"
"  dump [NAME]  write all counts to numbered files, and set them to zero;\n"
"               the files have NAME as what triggered them\n"
"  mark NAME    begin a phase, which gets an out-file of its own\n"
"A word may be shortened as long as it is the beginning of one command.\n");
}

static void status(void)
{
   const TgResults* results = tg_outputs_so_far();
   const TgResult* first = &results->result[0];
   VG_(gdb_printf)("instrumentation: %s\npart: %u\n", tg_instrumented ? "on" : "off",
                   results->part);
   const TgShares* phases = tg_shares(TG_BY_PHASE);
   if (tg_shares_count(phases) > 0)
      VG_(gdb_printf)("phase: %s\n", tg_shown(tg_shares_at_hand(phases)));
   VG_(gdb_printf)("instructions: %llu\nreads: %llu\nwrites: %llu\n",
                   first->total[tg_cost(TLB_FETCH, TG_REFS)],
                   first->total[tg_cost(TLB_LOAD, TG_REFS)],
                   first->total[tg_cost(TLB_STORE, TG_REFS)]);
   if (tg_jobs_lost() != NULL)
      VG_(gdb_printf)("no counts of TLBs: %s\n", tg_jobs_lost());
   for (UInt i = 0; i < results->options->n_machines && tg_jobs_lost() == NULL; i++) {
      const TgResult* r = &results->result[i];
      VG_(gdb_printf)("%s: first-level misses %llu, page walks %llu\n",
                      tg_shown(r->machine->name), tg_result_all(r, TG_MISS_1),
                      tg_result_all(r, TG_WALKS));
   }
}

static void machines(void)
{
   const TgResults* results = tg_outputs_results();
   for (UInt i = 0; i < results->options->n_machines; i++) {
      const TgMachine* m = results->result[i].machine;
      VG_(gdb_printf)("%s: base page %s\n", tg_shown(m->name),
                      tg_page_size(m->m.base_page_shift).text);
   }
}

static void print_file(const HChar* name)
{
   VG_(gdb_printf)("written: %s\n", tg_shown(name));
}

/* The name in printable form; to be freed. What is too long is cut off, which is said. */
static HChar* name_of(const HChar* rest)
{
   HChar* name = VG_(strdup)("tg.monitor.name", tg_shown(rest));
   SizeT length = VG_(strlen)(name);
   while (length > 0 && VG_(isspace)(name[length - 1]))
      name[--length] = '\0';
   if (length > MAX_NAME) {
      name[MAX_NAME] = '\0';
      VG_(gdb_printf)("the name is cut off behind %d bytes\n", MAX_NAME);
   }
   return name;
}

static void dump(const HChar* rest)
{
   HChar trigger[MAX_NAME + 20] = "monitor command";
   HChar* name = name_of(rest);
   if (name[0] != '\0')
      VG_(snprintf)(trigger, sizeof trigger, "monitor command: %s", name);
   VG_(free)(name);
   tg_outputs_dump(trigger, print_file);
}

static void mark(const HChar* rest)
{
   HChar* name = name_of(rest);
   if (name[0] == '\0') {
      VG_(gdb_printf)("mark takes the name of a phase: mark NAME\n");
   } else {
      tg_outputs_mark(name);
      const HChar* phase = tg_shares_at_hand(tg_shares(TG_BY_PHASE));
      VG_(gdb_printf)("phase: %s%s\n", tg_shown(phase),
                      VG_(strcmp)(phase, name) == 0 ? "" : "  (there are no more phases)");
   }
   VG_(free)(name);
}

/* Says what is wrong with the words behind a command, if something is. */
static Bool is_right(Command command, const HChar* rest)
{
   if (rest[0] == '\0' || command == DUMP || command == MARK
       || (command == HELP && VG_(strcmp)(rest, "debug") == 0)) /* which is the core's */
      return True;
   VG_(gdb_printf)("only dump and mark take a word more, not '%s'\n", tg_shown(rest));
   return False;
}

static void execute(Command command, const HChar* rest)
{
   switch (command) {
   case HELP: help(); break;
   case STATUS: status(); break;
   case MACHINES: machines(); break;
   case START:
      VG_(gdb_printf)("instrumentation %s\n", tg_region_start() ? "starts" : "is on already");
      break;
   case STOP:
      VG_(gdb_printf)("instrumentation %s\n", tg_region_stop() ? "stops" : "is off already");
      break;
   case ZERO:
      tg_outputs_zero();
      VG_(gdb_printf)("all counts are zero\n");
      break;
   case DUMP: dump(rest); break;
   case MARK: mark(rest); break;
   }
}

Bool tg_monitor_take(const HChar* line)
{
   HChar* copy = VG_(strdup)("tg.monitor", line);
   HChar* tail;
   const HChar* word = VG_(strtok_r)(copy, " \t", &tail);
   const Int number
      = word == NULL ? -1 : VG_(keyword_id)(words, word, kwd_report_duplicated_matches);
   /* What is behind the word, in the line itself. */
   const HChar* rest = line + (word == NULL ? 0 : word + VG_(strlen)(word) - copy);
   rest += VG_(strspn)(rest, " \t");
   /* Commands with a dot are the core's. */
   const Bool is_unknown = number == -1 && word != NULL && VG_(strchr)(word, '.') == NULL;
   if (is_unknown)
      VG_(gdb_printf)("tlbgrind has no command '%s'; it has %s\n", tg_shown(word), words);
   VG_(free)(copy);
   if (number < 0)
      return is_unknown || number == -2; /* the beginning of several, which has been said */
   if (is_right((Command)number, rest)) {
      if (number >= START && tg_region_is_whole())
         VG_(gdb_printf)("--calls=yes counts the whole run: no effect\n");
      else
         execute((Command)number, rest);
   }
   return number != HELP; /* to which the core has more to say */
}
