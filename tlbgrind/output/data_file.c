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

/* The objects of the file. */
typedef struct {
   UInt n;         /* of the run */
   ULong* pages;   /* by their numbers in the run, from 1; likewise the others */
   ULong* words;
   UInt* number;   /* in the file; 0: it is not there */
} Objects;

static Bool is_in_use(const Objects* all, UInt number)
{
   const TgDataObject* o = tg_data_object_of(number);
   return all->pages[number] != 0 || all->words[number] != 0 || o->blocks != 0
          || (o->kind != TG_DATA_VARIABLE && o->bytes != 0);
}

static Bool has_costs(const TgResults* results, const TgLine* l)
{
   ULong cost[TG_N_COSTS];
   Bool any = l->is_flushed;
   for (UInt machine = 0; !any && machine < results->options->n_machines; machine++) {
      tg_lines_costs(l, results->result[machine].number, cost);
      for (UInt i = 0; i < TG_N_COSTS; i++)
         any |= cost[i] != 0;
   }
   return any;
}

/* A forked child has all objects of its parent, most of which it does not use: those are left out.
   Otherwise the file of a child that only becomes another program would be as long as the
   parent's. */
static void choose_objects(Objects* all, const TgResults* results, XArray* lines)
{
   const Bool every = results->forked_from == 0;
   UInt n = 0;
   for (Word i = 0; !every && i < VG_(sizeXA)(lines); i++) {
      const TgLine* l = *(TgLine**)VG_(indexXA)(lines, i);
      if (l->object != 0 && has_costs(results, l))
         all->number[tg_data_whole(l->object)] = 1;
   }
   for (UInt i = 1; i <= all->n; i++)
      all->number[i] = every || all->number[i] != 0 || is_in_use(all, i) ? ++n : 0;
}

static void objects_begin(Objects* all, const TgResults* results, XArray* lines)
{
   all->n = tg_data_n_objects();
   all->pages = VG_(calloc)("tg.data.sums", all->n + 1, sizeof *all->pages);
   all->words = VG_(calloc)("tg.data.sums", all->n + 1, sizeof *all->words);
   all->number = VG_(calloc)("tg.data.numbers", all->n + 1, sizeof *all->number);
   tg_words_count(results->options->page_shift, all->pages, all->words);
   choose_objects(all, results, lines);
}

static void objects_end(Objects* all)
{
   VG_(free)(all->pages);
   VG_(free)(all->words);
   VG_(free)(all->number);
}

static void print_object(TgFile* f, const Objects* all, UInt i)
{
   const TgDataObject* o = tg_data_object_of(i);
   ULong touched = all->words[i] * TG_WORD_BYTES;
   if (o->size != 0 && touched > o->size)
      touched = o->size;
   tg_file_print(f, "\nobject: %u %s pages %llu touched %llu blocks %llu bytes %llu\n",
                 all->number[i], kind_names[o->kind], all->pages[i], touched, o->blocks,
                 o->kind == TG_DATA_VARIABLE ? (ULong)o->size : o->bytes);
   print_text(f, "name", o->name);
   print_text(f, "file", o->file);
   if (o->record_how != TG_NO_RECORDS)
      tg_file_print(f, "record: %llu %s\n", (ULong)o->record, record_names[o->record_how]);
   for (UInt j = 0; o->stack != NULL && j < o->stack->n; j++)
      print_frame(f, o->stack->site[j]);
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
static void print_place(TgFile* f, const Objects* all, const TgLine* l, HChar end)
{
   const UInt number = l->object == 0 ? 0 : all->number[tg_data_whole(l->object)];
   tg_file_number(f, l->number, ' ');
   if (tg_data_is_cell(l->object) && tg_data_offset(l->object) != TG_NO_OFFSET) {
      tg_file_number(f, number, '+');
      tg_file_number(f, tg_data_offset(l->object), end);
   } else {
      tg_file_number(f, number, end);
   }
}

static void print_machine(TgFile* f, const TgResults* results, const TgResult* result,
                          const Objects* all, XArray* lines)
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
      print_place(f, all, l, ' ');
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

static void print_objects(TgFile* f, const TgResults* results, const Objects* all)
{
   if (results->options->data_offsets)
      tg_file_print(f, "offsets: %u\n", (UInt)TG_WORD_BYTES);
   for (UInt i = 1; i <= all->n; i++) {
      if (all->number[i] != 0)
         print_object(f, all, i);
   }
}

Bool tg_data_file_write(const TgResults* results, XArray* lines, const HChar* name)
{
   const HChar* failure;
   TgFile* f = tg_file_open(name, &failure);
   tg_strides_end();
   if (f != NULL) {
      Objects all;
      objects_begin(&all, results, lines);
      print_head(f, results);
      tg_file_print(f, "machines: %u\n", results->options->n_machines);
      print_miss_cycles(f, results);
      print_objects(f, results, &all);
      for (UInt i = 0; i < results->options->n_machines; i++)
         print_machine(f, results, &results->result[i], &all, lines);
      objects_end(&all);
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

static void print_recorded_lines(TgFile* f, const Objects* all, XArray* lines, Bool faults)
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
      print_place(f, all, l, '\n');
   }
   tg_positions_end(&positions);
}

void tg_data_file_record(const TgResults* results, XArray* lines, TgFile* f)
{
   const Bool faults = results->options->faults.on;
   Objects all;
   tg_strides_end();
   objects_begin(&all, results, lines);
   tg_file_print(f, "@data\n");
   print_head(f, results);
   tg_file_print(f, "@machines\n");
   print_objects(f, results, &all);
   tg_file_print(f, "@events%s\n", faults ? " faults" : "");
   print_recorded_lines(f, &all, lines, faults);
   objects_end(&all);
   tg_file_print(f, "@totals\n\nend\n");
}
