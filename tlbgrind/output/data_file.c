/* Writes the data file. See output/data_file.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"

#include "config.h"

#include "sim/machine/cost.h"

#include "attribution/lines.h"
#include "attribution/sites.h"
#include "base/file.h"
#include "base/shown.h"
#include "data/objects.h"
#include "data/strides.h"
#include "data/words.h"
#include "output/data_file.h"
#include "output/miss_cost.h"
#include "output/positions.h"
#include "output/recorded_lines.h"

static const HChar* const kind_names[TG_N_DATA_KINDS] = {
   [TG_DATA_UNKNOWN] = "unknown", [TG_DATA_HEAP] = "heap", [TG_DATA_ALLOCATOR] = "allocator",
   [TG_DATA_VARIABLE] = "variable", [TG_DATA_STACK] = "stack", [TG_DATA_FILE] = "file",
   [TG_DATA_MAPPING] = "mapping", [TG_DATA_SHM] = "sysv",
   [TG_DATA_NAMED] = "named",
};

static const HChar* const record_names[TG_N_RECORDS] = {
   [TG_RECORD_BLOCK] = "block", [TG_RECORD_CALLOC] = "calloc", [TG_RECORD_VARIABLE] = "variable",
   [TG_RECORD_NAMED] = "named", [TG_RECORD_GIVEN] = "given",
   [TG_RECORD_SEEN] = "seen",
};

static void print_text(TgFile* f, const HChar* key, const HChar* text)
{
   if (text == NULL || text[0] == '\0')
      return;
   tg_file_print(f, "%s: ", key);
   tg_file_text(f, text);
   tg_file_print(f, "\n");
}

/* One frame in four lines, because names may have any character but a line feed. */
static void print_frame(TgFile* f, TgSite* site)
{
   const TgLine* l = tg_site_line(site);
   tg_file_print(f, "frame: ");
   tg_file_text(f, l->function->name);
   tg_file_print(f, "\nat: %u ", l->number);
   tg_file_text(f, l->file);
   tg_file_print(f, "\nin: ");
   tg_file_text(f, l->function->object);
   tg_file_print(f, "\n");
}

static void print_objects(TgFile* f, UInt page_shift)
{
   const UInt n = tg_data_n_objects();
   ULong* pages = VG_(calloc)("tg.data.sums", n + 1, sizeof *pages);
   ULong* words = VG_(calloc)("tg.data.sums", n + 1, sizeof *words);
   tg_words_count(page_shift, pages, words);
   for (UInt i = 1; i <= n; i++) {
      const TgDataObject* o = tg_data_object_of(i);
      ULong touched = words[i] * TG_WORD_BYTES;
      if (o->size != 0 && touched > o->size)
         touched = o->size;
      tg_file_print(f, "\nobject: %u %s pages %llu touched %llu blocks %llu bytes %llu\n", i,
                    kind_names[o->kind], pages[i], touched, o->blocks,
                    o->kind == TG_DATA_VARIABLE ? (ULong)o->size : o->bytes);
      print_text(f, "name", o->name);
      print_text(f, "file", o->file);
      if (o->record_how != TG_NO_RECORDS)
         tg_file_print(f, "record: %llu %s\n", (ULong)o->record, record_names[o->record_how]);
      for (UInt j = 0; o->stack != NULL && j < o->stack->n; j++)
         print_frame(f, o->stack->site[j]);
   }
   VG_(free)(pages);
   VG_(free)(words);
}

static void print_costs(TgFile* f, const ULong* costs, const TgEvent** events, UInt n_events)
{
   for (UInt i = 0; i < n_events; i++)
      tg_file_number(f, costs[events[i]->cost], i + 1 < n_events ? ' ' : '\n');
}

/* Adds up the parts of line number *i for one object, which are those of several mappings, and
   moves on to the last of them. */
static const TgLine* add_up(XArray* lines, Word* i, UInt machine, ULong* cost)
{
   const TgLine* l = *(TgLine**)VG_(indexXA)(lines, *i);
   tg_lines_costs(l, machine, cost);
   for (; *i + 1 < VG_(sizeXA)(lines); (*i)++) {
      const TgLine* next = *(TgLine**)VG_(indexXA)(lines, *i + 1);
      ULong more[TG_N_COSTS];
      if (next->object != l->object || !tg_line_is_same(next, l))
         break;
      tg_lines_costs(next, machine, more);
      for (UInt j = 0; j < TG_N_COSTS; j++)
         cost[j] += more[j];
   }
   return l;
}

/* The line's number, and its object or cell. */
static void print_place(TgFile* f, const TgLine* l, HChar end)
{
   tg_file_number(f, l->number, ' ');
   if (tg_data_is_cell(l->object) && tg_data_offset(l->object) != TG_NO_OFFSET) {
      tg_file_number(f, tg_data_whole(l->object), '+');
      tg_file_number(f, tg_data_offset(l->object), end);
   } else {
      tg_file_number(f, l->object == 0 ? 0 : tg_data_whole(l->object), end);
   }
}

static void print_machine(TgFile* f, const TgResults* results, const TgResult* result,
                          XArray* lines)
{
   const TgEvent* events[TG_MAX_EVENTS];
   const UInt n_events = tg_events(&result->machine->m, results->options->faults.on,
                                   result->machine->kernel.flush.how != TLB_FLUSH_NONE,
                                   result->machine->kernel.prefetch, events);
   TgPositions positions;
   tg_file_print(f, "\nmachine: %s\nevents:", result->machine->label);
   for (UInt i = 0; i < n_events; i++)
      tg_file_print(f, " %s", events[i]->name);
   tg_file_print(f, "\n");
   tg_positions_begin(&positions, False);
   for (Word i = 0; i < VG_(sizeXA)(lines); i++) {
      ULong cost[TG_N_COSTS];
      Bool any = False;
      const TgLine* l = add_up(lines, &i, result->number, cost);
      for (UInt j = 0; j < n_events; j++)
         any |= cost[events[j]->cost] != 0;
      if (!any)
         continue;
      tg_positions_print(&positions, f, l);
      print_place(f, l, ' ');
      print_costs(f, cost, events, n_events);
   }
   tg_positions_end(&positions);
   tg_file_print(f, "\ntotals: ");
   print_costs(f, result->total, events, n_events);
}

/* What the misses of each machine cost, and what the run's time is, in order. */
static void print_miss_cycles(TgFile* f, const TgResults* results)
{
   tg_file_print(f, "miss-cycles:");
   for (UInt i = 0; i < results->options->n_machines; i++) {
      const TgMissCost c = tg_miss_cost(&results->result[i]);
      const ULong cycles = results->result[i].machine->cycles;
      tg_file_print(f, i == 0 ? " " : ", ");
      if (!c.is_known)
         tg_file_print(f, "unknown");
      else if (cycles != 0)
         tg_file_print(f, "%llu..%llu of %llu cycles", c.least, c.most, cycles);
      else
         tg_file_print(f, "%llu..%llu assumed: %d..%d instructions a cycle", c.least, c.most,
                       TLB_LEAST_PER_CYCLE, TLB_MOST_PER_CYCLE);
   }
   tg_file_print(f, "\n");
}

static void print_head(TgFile* f, const TgResults* results)
{
   tg_file_print(f, "# tlbgrind data\nversion: 1\ncreator: tlbgrind-" TG_VERSION
                    " (Valgrind " VERSION ")\npid: %d\ncmd: ", VG_(getpid)());
   tg_file_command(f);
   tg_file_print(f, "\n");
   if (results->forked_from != 0)
      tg_file_print(f, "forked: %d\n", results->forked_from);
   tg_file_print(f, "page-size: %llu\nword-size: %u\n", 1ULL << results->options->page_shift,
                 (UInt)TG_WORD_BYTES);
}

static void print_all_objects(TgFile* f, const TgResults* results)
{
   if (results->options->data_offsets)
      tg_file_print(f, "offsets: %u\n", (UInt)TG_WORD_BYTES);
   print_objects(f, results->options->page_shift);
}

Bool tg_data_file_write(const TgResults* results, XArray* lines, const HChar* name)
{
   const HChar* failure;
   TgFile* f = tg_file_open(name, &failure);
   tg_strides_end();
   if (f != NULL) {
      print_head(f, results);
      tg_file_print(f, "machines: %u\n", results->options->n_machines);
      print_miss_cycles(f, results);
      print_all_objects(f, results);
      for (UInt i = 0; i < results->options->n_machines; i++)
         print_machine(f, results, &results->result[i], lines);
      tg_file_print(f, "\nend\n");
      failure = tg_file_close(f);
   }
   if (failure != NULL) {
      tg_shown_unwritten("data file", name, failure, "costs by data");
      return False;
   }
   return True;
}

/* --- For a recording --- */

/* Whether a flush has thrown out what one of these parts has referred to: it can be walked for
   again when the part has no costs any more. */
static Bool is_any_flushed(XArray* lines, Word first, Word last)
{
   Bool any = False;
   for (Word i = first; i <= last; i++)
      any |= (*(TgLine**)VG_(indexXA)(lines, i))->is_flushed;
   return any;
}

static void print_recorded_lines(TgFile* f, XArray* lines, Bool faults)
{
   TgPositions positions;
   tg_positions_begin(&positions, False);
   for (Word i = 0; i < VG_(sizeXA)(lines); i++) {
      const Word first = i;
      ULong cost[TG_N_COSTS];
      const TgLine* l = add_up(lines, &i, 0, cost);
      if (!is_any_flushed(lines, first, i) && !tg_recorded_line_any(cost, faults))
         continue;
      tg_positions_print(&positions, f, l);
      tg_recorded_line_print(f, lines, first, i, cost);
      print_place(f, l, '\n');
   }
   tg_positions_end(&positions);
}

void tg_data_file_record(const TgResults* results, XArray* lines, TgFile* f)
{
   const Bool faults = results->options->faults.on;
   tg_strides_end();
   tg_file_print(f, "@data\n");
   print_head(f, results);
   tg_file_print(f, "@machines\n");
   print_all_objects(f, results);
   tg_file_print(f, "@events%s\n", faults ? " faults" : "");
   print_recorded_lines(f, lines, faults);
   tg_file_print(f, "@totals\n\nend\n");
}
