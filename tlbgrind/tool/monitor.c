/* Executes monitor commands. See tool/monitor.h. */

#include "pub_tool_basics.h"

#include "pub_tool_gdbserver.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

#include "base/number_format.h"
#include "base/shown.h"
#include "output/shares.h"
#include "tool/monitor.h"
#include "tool/outputs.h"
#include "tool/region.h"
#include "trace/instrumentation.h"

enum { DUMP = 6 };          /* its place in the list of commands */
enum { MAX_TRIGGER = 220 }; /* bytes; what is longer is cut off */

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
"               the files have NAME as what triggered them\n");
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
   for (UInt i = 0; i < results->options->n_machines; i++) {
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

static void dump(const HChar* name)
{
   HChar trigger[MAX_TRIGGER] = "monitor command";
   if (name[0] != '\0')
      VG_(snprintf)(trigger, sizeof trigger, "monitor command: %s", tg_shown(name));
   tg_outputs_dump(trigger, print_file);
}

Bool tg_monitor_take(const HChar* command)
{
   HChar* copy = VG_(strdup)("tg.monitor", command);
   HChar* rest;
   const HChar* word = VG_(strtok_r)(copy, " \t", &rest);
   const Int number = word == NULL ? -1
      : VG_(keyword_id)("help status machines start stop zero dump", word,
                        kwd_report_duplicated_matches);
   /* What is behind the word, in the command itself. */
   const HChar* more = command + (word == NULL ? 0 : word + VG_(strlen)(word) - copy);
   more += VG_(strspn)(more, " \t");
   VG_(free)(copy);
   if (number >= 0 && number != DUMP && *more != '\0') {
      VG_(gdb_printf)("only dump takes a word more, not '%s'\n", tg_shown(more));
      return True;
   }
   if (number >= 3 && tg_region_is_whole()) {
      VG_(gdb_printf)("--calls=yes counts the whole run: no effect\n");
      return True;
   }
   switch (number) {
   case -2: return True; /* the beginning of several commands, which has been said */
   case 0: help(); return False; /* the core has more to say */
   case 1: status(); return True;
   case 2: machines(); return True;
   case 3:
      VG_(gdb_printf)("instrumentation %s\n", tg_region_start() ? "starts" : "is on already");
      return True;
   case 4:
      VG_(gdb_printf)("instrumentation %s\n", tg_region_stop() ? "stops" : "is off already");
      return True;
   case 5:
      tg_outputs_zero();
      VG_(gdb_printf)("all counts are zero\n");
      return True;
   case DUMP: dump(more); return True;
   default: return False;
   }
}
