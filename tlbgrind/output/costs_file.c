/* Writes the out-file. See output/costs_file.h. */

#include "pub_tool_basics.h"

#include "pub_tool_clientstate.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"

#include "config.h"

#include "sim/machine/description.h"
#include "sim/pages/backing_report.h"

#include "space/aspace.h"
#include "space/merged_code.h"
#include "options/kernel_policy.h"
#include "options/exec.h"
#include "base/file.h"
#include "base/number_format.h"
#include "base/streams.h"
#include "trace/run_mmus.h"
#include "output/advice_same.h"
#include "output/code_use.h"
#include "output/copy_table.h"
#include "output/costs_file.h"
#include "output/mapping_rows.h"
#include "output/miss_cost.h"
#include "output/positions.h"
#include "output/recorded_lines.h"
#include "output/shares.h"
#include "output/threads.h"
#include "base/shown.h"
#include "attribution/out_words.h"
#include "attribution/sites.h"
#include "calls/arcs.h"

static void print_array(const HChar* description, void* opaque)
{
   tg_file_print(opaque, TG_OUT_ARRAY, description);
}

static void print_key(const HChar* text, void* opaque)
{
   tg_file_print(opaque, "desc: ");
   tg_file_text(opaque, text);
   tg_file_print(opaque, "\n");
}

static void print_head(TgFile* f, const TgResults* results)
{
   tg_file_print(f, "# callgrind format\nversion: 1\n"
                    "creator: tlbgrind-" TG_VERSION " (Valgrind " VERSION ")\n"
                    "pid: %d\n"
                    "cmd: ", VG_(getpid)());
   tg_file_command(f);
   tg_file_print(f, "\npart: %u\ndesc: Format: 1\n", results->part);
}

static void print_line(const HChar* line, void* opaque)
{
   tg_file_print(opaque, "desc: %s\n", line);
}

static void print_cost(TgFile* f, const TgResult* result)
{
   const tlb_machine* m = &result->machine->m;
   const tlb_run_cost run = { .least = result->least_cycles, .most = result->total[TG_ALL_CYCLES],
                              .instructions = result->total[tg_cost(TLB_FETCH, TG_REFS)],
                              .cycles = result->machine->cycles,
                              .nested = tg_miss_cost_is_nested(m) };
   tlb_describe_cost(m, &run, print_line, f);
}

static void print_switches(TgFile* f, const TgKernelOptions* k)
{
   HChar text[120];
   tlb_text t = tlb_text_in(text, sizeof text);
   tlb_switches_words(&k->switches, &t);
   tg_file_print(f, TG_OUT_SWITCHES "%s\n", text);
}

static void print_machine(TgFile* f, const TgResults* results, const TgResult* result)
{
   const TgMachine* m = result->machine;
   tg_file_print(f, TG_OUT_MACHINE "%s\n", m->name);
   if (results->options->n_machines > 1)
      tg_file_print(f, TG_OUT_MACHINE_NUMBER "%u of %u\n",
                    (UInt)(m - results->options->machine) + 1, results->options->n_machines);
   if (m->file != NULL) {
      tg_file_print(f, TG_OUT_MACHINE_FILE);
      tg_file_text(f, m->file);
      tg_file_print(f, "\n");
   }
   tg_file_print(f, TG_OUT_PAGE_SIZE,
                 1ULL << m->m.base_page_shift);
   tlb_describe_arrays(&m->m, print_array, f);
   for (Word i = 0; i < VG_(sizeXA)(m->assumptions); i++)
      tg_file_print(f, TG_OUT_ASSUMPTION,
                    *(HChar**)VG_(indexXA)(m->assumptions, i));
   print_cost(f, result);
   if (m->kernel.flush.how != TLB_FLUSH_NONE)
      tg_file_print(f, TG_OUT_FLUSHES "%s\n", tg_kernel_policy_flush_words(&m->kernel).text);
   if (m->kernel.syscalls.how != TLB_SYSCALLS_NONE)
      tg_file_print(f, TG_OUT_SYSCALLS "%s\n",
                    tg_kernel_policy_syscall_words(&m->kernel).text);
   if (results->options->kernel.switches.every > 0)
      print_switches(f, &results->options->kernel);
   if (m->kernel.prefetch != TLB_PREFETCH_IGNORE)
      tg_file_print(f, TG_OUT_PREFETCHES "%s\n", tlb_prefetch_policy_word(m->kernel.prefetch));
   const UInt view = tg_mmus.mmu[m - results->options->machine].view;
   tlb_backing_out_file(tg_aspace_map(), view, &m->m, &m->pages, print_key, f);
   if (results->shares == NULL)
      tg_advice_same_describe(results, (UInt)(m - results->options->machine), f);
   if (results->shares == NULL)
      tg_threads_describe(f, (UInt)(m - results->options->machine));
   tg_copies_describe(results, f, (UInt)(m - results->options->machine));
}

/* What is so whatever the machine is. */
static void print_run(TgFile* f, const TgResults* results)
{
   if (results->forked_from != 0)
      tg_file_print(f, "desc: Forked: counts since the fork from pid %d\n",
                    results->forked_from);
   ULong instructions;
   const UInt before = tg_exec_n_before(&instructions);
   if (before > 0)
      tg_file_print(f, "desc: Exec: counts since the process became this program; "
                       "%u before it, of %llu instructions, are not counted\n",
                    before, instructions);
   const HChar* const* function = results->options->region.toggle_collect;
   for (; function != NULL && *function != NULL; function++) {
      tg_file_print(f, "desc: Collected: in ");
      tg_file_text(f, *function);
      tg_file_print(f, "\n");
   }
   for (UInt i = 0; i < tg_merged_code_count(); i++) {
      const TgMergedCode* piece = tg_merged_code_number(i);
      tg_file_print(f, "desc: Merged code: %#llx %llu %#lx ", piece->offset,
                    (ULong)(piece->end - piece->start), piece->to);
      tg_file_text(f, piece->name);
      tg_file_print(f, "\n");
   }
   if (results->trigger != NULL)
      tg_file_print(f, "desc: Trigger: %s\n", results->trigger);
   if (results->shares != NULL)
      tg_shares_describe_one(results->shares, f, results->share);
   tg_file_print(f, "desc: Straddles: instructions %llu, reads %llu, "
                    "writes %llu\n",
                 results->straddles[TLB_FETCH], results->straddles[TLB_LOAD],
                 results->straddles[TLB_STORE]);
}

/* Prints the misses beyond a reference's first in one level. A tool that counts at most one miss
   per reference differs by these, and by the accesses of guarded helpers that were not made. */
static void print_second_misses(TgFile* f, const TgResult* result, const TgEvent** events,
                                UInt n_events)
{
   tg_file_print(f, TG_OUT_SECOND_MISSES);
   for (UInt i = 0; i < n_events; i++) {
      if (events[i]->cost < TLB_N_USERS * TG_N_OF_A_KIND
          && events[i]->cost % TG_N_OF_A_KIND != TG_REFS)
         tg_file_print(f, " %s %llu", events[i]->name,
                       result->extra[events[i]->cost]);
   }
   tg_file_print(f, "\n");
}

static void print_unperformed(TgFile* f, const TgResults* results)
{
   tg_file_print(f, "desc: Unperformed helper accesses: reads %llu, "
                    "writes %llu\n",
                 results->unperformed[TLB_LOAD], results->unperformed[TLB_STORE]);
}

static void print_costs(TgFile* f, const ULong* costs, const TgEvent** events,
                        UInt n_events)
{
   for (UInt i = 0; i < n_events; i++)
      tg_file_number(f, costs[events[i]->cost], i + 1 < n_events ? ' ' : '\n');
}

/* Adds up the line number *i, its parts, and other code of the same names, and moves on to the last
   of them. */
static const TgLine* add_up(XArray* lines, Word* i, UInt machine, ULong* cost)
{
   const TgLine* l = *(TgLine**)VG_(indexXA)(lines, *i);
   tg_lines_costs(l, machine, cost);
   for (; *i + 1 < VG_(sizeXA)(lines); (*i)++) {
      const TgLine* part = *(TgLine**)VG_(indexXA)(lines, *i + 1);
      if (!tg_line_is_same(part, l))
         break;
      ULong more[TG_N_COSTS];
      tg_lines_costs(part, machine, more);
      for (UInt j = 0; j < TG_N_COSTS; j++)
         cost[j] += more[j];
   }
   return l;
}

/* The line's calls, each with its inclusive costs. */
static void print_calls(TgFile* f, TgPositions* positions, XArray* arcs, Word first, Word n,
                        const TgLine* l, UInt machine, const TgEvent** events, UInt n_events)
{
   for (Word i = first; i < first + n; i++) {
      const TgLineArc* arc = VG_(indexXA)(arcs, i);
      ULong cost[TG_N_COSTS];
      tg_positions_print_called(positions, f, arc->to->function);
      tg_file_print(f, "calls=%llu ", arc->calls);
      tg_positions_print_number(positions, f, arc->to, '\n');
      tg_positions_print_number(positions, f, l, ' ');
      tg_arcs_costs(arc, machine, cost);
      print_costs(f, cost, events, n_events);
   }
}

static void print_lines(TgFile* f, XArray* lines, XArray* arcs, UInt machine,
                        const TgEvent** events, UInt n_events, Bool instr)
{
   TgPositions positions;
   tg_positions_begin(&positions, instr);
   for (Word i = 0; i < VG_(sizeXA)(lines); i++) {
      ULong cost[TG_N_COSTS];
      Bool any = False;
      const TgLine* l = add_up(lines, &i, machine, cost);
      Word n_arcs = 0;
      /* A share has copies of lines. */
      const Word first_arc
         = arcs == NULL ? 0 : tg_arcs_from(arcs, tg_line_named(tg_line_part(l, 0, 0)), &n_arcs);
      for (UInt j = 0; j < n_events; j++)
         any |= cost[events[j]->cost] != 0;
      if (!any && n_arcs == 0)
         continue;
      tg_positions_print(&positions, f, l);
      if (any) {
         tg_positions_print_number(&positions, f, l, ' ');
         print_costs(f, cost, events, n_events);
      }
      if (n_arcs > 0)
         print_calls(f, &positions, arcs, first_arc, n_arcs, l, machine, events, n_events);
   }
   tg_positions_end(&positions);
}

/* The calls of the run, or of a phase or thread; NULL: they are not counted. */
static XArray* arcs_of(const TgResults* results)
{
   return !results->options->calls    ? NULL
          : results->shares == NULL ? tg_arcs_sorted()
                                    : tg_shares_arcs(results->shares, results->share);
}

Bool tg_costs_file_write(const TgResults* results, const TgResult* result, XArray* lines,
                  const HChar* name)
{
   const TgEvent* events[TG_MAX_EVENTS];
   const UInt n_events = tg_events(&result->machine->m,
                                   results->options->faults.on,
                                   result->machine->kernel.flush.how != TLB_FLUSH_NONE,
                                   result->machine->kernel.prefetch, events);
   const HChar* failure;
   TgFile* f = tg_file_open(name, &failure);

   if (f != NULL) {
      print_head(f, results);
      print_machine(f, results, result);
      print_run(f, results);
      if (results->options->dump_instr)
         tg_code_use_print(f, lines, result->machine->m.base_page_shift);
      for (UInt i = 0; i < TG_N_SHARINGS && results->shares == NULL && !tg_streams_has(name); i++)
         tg_shares_describe(tg_shares((TgSharing)i), f, name);
      print_second_misses(f, result, events, n_events);
      print_unperformed(f, results);
      if (results->options->mappings)
         tg_mapping_rows_print(f, results, result, lines, events, n_events);
      tg_file_print(f, results->options->dump_instr ? "positions: instr line\n"
                                                    : "positions: line\n");
      for (UInt i = 0; i < n_events; i++)
         tg_file_print(f, TG_OUT_EVENT, events[i]->name,
                       events[i]->long_name);
      tg_file_print(f, TG_OUT_WALKS "events:");
      for (UInt i = 0; i < n_events; i++)
         tg_file_print(f, " %s", events[i]->name);
      tg_file_print(f, "\n");
      XArray* arcs = arcs_of(results);
      print_lines(f, lines, arcs, result->number, events, n_events,
                  results->options->dump_instr);
      if (arcs != NULL)
         tg_arcs_free(arcs);
      tg_file_print(f, "\nsummary: ");
      print_costs(f, result->total, events, n_events);
      tg_file_print(f, "totals: ");
      print_costs(f, result->total, events, n_events);
      failure = tg_file_close(f);
   }
   if (failure != NULL) {
      tg_shown_unwritten("output data file", name, failure, "detailed results");
      return False;
   }
   return True;
}

/* --- For a recording --- */

static void add_costs(ULong* sum, const TgLine* line)
{
   ULong cost[TG_N_COSTS];
   tg_lines_costs(line, 0, cost);
   for (UInt i = 0; i < TG_N_COSTS; i++)
      sum[i] += cost[i];
}

/* The calls of the line at hand, behind it: counts, numbers in the recording, and where the costs
   stand. */
static void print_recorded_calls(TgFile* f, TgPositions* positions, XArray* arcs, XArray* numbers,
                                 const TgLine* l)
{
   Word n = 0;
   const Word first = tg_arcs_from(arcs, tg_line_named(tg_line_part(l, 0, 0)), &n);
   for (Word i = first; i < first + n; i++) {
      const TgLineArc* arc = VG_(indexXA)(arcs, i);
      Word n_numbers;
      const TgArcNumber* number = tg_arcs_numbers_of(numbers, arc, &n_numbers);
      tg_positions_print_called(positions, f, arc->to->function);
      tg_file_print(f, ">");
      tg_file_number(f, arc->calls, ' ');
      for (UInt kind = 0; kind < TLB_N_USERS; kind++)
         tg_file_number(f, arc->inclusive.refs[kind], ' ');
      for (UInt kind = 0; kind < TLB_N_USERS; kind++)
         tg_file_number(f, arc->inclusive.faults[kind], ' ');
      for (Word j = 0; j < n_numbers; j++)
         tg_file_number(f, number[j].number, ' ');
      tg_file_print(f, ";");
      tg_positions_print_number(positions, f, arc->to, ';');
      tg_positions_print_number(positions, f, l, '\n');
   }
}

/* Whether the line has calls. */
static Bool has_calls(XArray* arcs, const TgLine* l)
{
   Word n = 0;
   if (arcs != NULL)
      tg_arcs_from(arcs, tg_line_named(tg_line_part(l, 0, 0)), &n);
   return n > 0;
}

/* `arcs`: NULL, or of calls. `faults`: page faults are among the events. What a flush has thrown
   out can be walked for again when its line has no costs any more, so that is printed, too. */
static void print_recorded_lines(TgFile* f, XArray* lines, XArray* arcs, XArray* numbers,
                                 Bool instr, Bool faults)
{
   TgPositions positions;
   tg_positions_begin(&positions, instr);
   for (Word i = 0; i < VG_(sizeXA)(lines); i++) {
      const Word first = i;
      const TgLine* l = *(TgLine**)VG_(indexXA)(lines, i);
      ULong cost[TG_N_COSTS] = { 0 };
      Bool any = l->is_flushed;
      add_costs(cost, l);
      for (; i + 1 < VG_(sizeXA)(lines); i++) {
         const TgLine* other = *(TgLine**)VG_(indexXA)(lines, i + 1);
         if (!tg_line_is_same(other, l))
            break;
         any |= other->is_flushed;
         add_costs(cost, other);
      }
      any |= tg_recorded_line_any(cost, faults);
      if (!any && !has_calls(arcs, l))
         continue;
      tg_positions_print(&positions, f, l);
      if (any) {
         tg_recorded_line_print(f, lines, first, i, cost);
         tg_positions_print_number(&positions, f, l, '\n');
      }
      if (arcs != NULL)
         print_recorded_calls(f, &positions, arcs, numbers, l);
   }
   tg_positions_end(&positions);
}

void tg_costs_file_record(const TgResults* results, XArray* lines, TgFile* f)
{
   const TgOptions* o = results->options;
   print_head(f, results);
   tg_file_print(f, "@machine\n");
   print_run(f, results);
   if (o->dump_instr)
      tg_code_use_print(f, lines, o->page_shift);
   if (results->shares == NULL && (tg_shares_count(tg_shares(TG_BY_PHASE)) > 0
                                   || tg_shares_count(tg_shares(TG_BY_THREAD)) > 0))
      tg_file_print(f, "@shares\n");
   tg_file_print(f, "@second misses\n");
   print_unperformed(f, results);
   tg_file_print(f, "positions: %s\n@events%s\n", o->dump_instr ? "instr line" : "line",
                 o->faults.on ? " faults" : "");
   XArray* arcs = arcs_of(results);
   XArray* numbers = arcs == NULL ? NULL : tg_arcs_numbers();
   print_recorded_lines(f, lines, arcs, numbers, o->dump_instr, o->faults.on);
   if (arcs != NULL) {
      VG_(deleteXA)(numbers);
      tg_arcs_free(arcs);
   }
   tg_file_print(f, "@totals\n");
}
