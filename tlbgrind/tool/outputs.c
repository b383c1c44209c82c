/* Writes all outputs of a run. See tool/outputs.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_xarray.h"

#include "sim/mmu/mmu.h"
#include "sim/mmu/miss_counts.h"
#include "sim/mmu/run_reach.h"

#include "attribution/lines.h"
#include "attribution/made_code.h"
#include "base/file.h"
#include "base/shown.h"
#include "base/streams.h"
#include "calls/call_stack.h"
#include "calls/collection.h"
#include "data/references.h"
#include "engine/thread_cores.h"
#include "engine/batch.h"
#include "engine/jobs.h"
#include "engine/recorded.h"
#include "engine/recording.h"
#include "engine/replay.h"
#include "engine/setup.h"
#include "faults/interruptions.h"
#include "faults/recorder.h"
#include "options/output_names.h"
#include "order/code_entries.h"
#include "output/advice_same.h"
#include "output/answer.h"
#include "output/costs_file.h"
#include "output/data_file.h"
#include "output/phases.h"
#include "output/reach_file.h"
#include "output/shares.h"
#include "output/summary.h"
#include "output/sums.h"
#include "output/threads.h"
#include "output/timeline.h"
#include "space/aspace_trace.h"
#include "tool/outputs.h"
#include "trace/copy_counts.h"
#include "trace/run_mmus.h"
#include "trace/superblocks.h"

static TgResults results = { .part = 1 };

/* --- Sums --- */

/* Adds all counts so far to the lines and to `results`, but for the totals. */
static void settle_counts(void)
{
   tg_collection_settle();
   tg_superblocks_settle();
   tg_call_stacks_settle();
   tg_engine_settle();
   tg_recording_settle();
   tg_cores_add();
   const TgSuperblockTotals* b = tg_superblock_totals();
   VG_(memcpy)(results.straddles, tg_replay_straddles(), sizeof results.straddles);
   results.straddles[TLB_FETCH] = b->fetch_straddles;
   VG_(memcpy)(results.unperformed, b->unperformed, sizeof results.unperformed);
   for (UInt i = 0; i < results.options->n_machines; i++) {
      TgResult* result = &results.result[i];
      for (UInt kind = 0; kind < TLB_N_USERS; kind++) {
         for (UInt j = 0; j < TG_N_OF_A_MISS; j++)
            result->extra[tg_cost(kind, TG_MISS_1 + j)]
               = tlb_missed_extra(&tg_mmus, result->number)[kind][j];
      }
   }
}

/* Settles all counts; returns the lines in order of output. */
static XArray* settle(void)
{
   settle_counts();
   for (UInt i = 0; i < TG_N_SHARINGS; i++)
      tg_shares_settle(tg_shares((TgSharing)i), &results);
   tg_made_code_name();
   XArray* lines = tg_lines_sorted();
   for (UInt i = 0; i < results.options->n_machines; i++)
      tg_sums_add_up(&results.result[i], lines);
   tg_advice_same_find(&results);
   return lines;
}

/* --- Outputs --- */

/* Writes the costs of a phase or thread to a file beside `name`. */
static Bool write_share(const TgShares* shares, UInt number, UInt machine, const HChar* name)
{
   TgResult result = results.result[machine];
   TgResults whole = results;
   XArray* own = tg_shares_result(shares, number, machine, &whole, &result);
   HChar* file = tg_shares_file_name(shares, number, name);
   tg_sums_add_up(&result, own);
   const Bool is_written = tg_costs_file_write(&whole, &result, own, file);
   VG_(free)(file);
   VG_(deleteXA)(own);
   return is_written;
}

static Bool write_costs(UInt machine, XArray* lines, const HChar* name)
{
   Bool is_written = tg_costs_file_write(&results, &results.result[machine], lines, name);
   for (UInt kind = 0; kind < TG_N_SHARINGS && !tg_streams_has(name); kind++) {
      const TgShares* shares = tg_shares((TgSharing)kind);
      for (UInt i = 0; i < tg_shares_count(shares); i++)
         is_written &= write_share(shares, i, machine, name);
   }
   return is_written;
}

static Bool write_reach(UInt machine, XArray* lines, const HChar* name)
{
   (void)machine;
   (void)lines;
   return tg_reach_file_write(&results, name);
}

static Bool write_timeline(UInt machine, XArray* lines, const HChar* name)
{
   (void)machine;
   (void)lines;
   return tg_timeline_write(&results, name);
}

static Bool write_entries(UInt machine, XArray* lines, const HChar* name)
{
   (void)machine;
   (void)lines;
   return tg_code_entries_write(results.forked_from, name);
}

static Bool write_data(UInt machine, XArray* lines, const HChar* name)
{
   (void)machine;
   return tg_data_file_write(&results, lines, name);
}

static Bool write_faults(UInt machine, XArray* lines, const HChar* name)
{
   (void)machine;
   (void)lines;
   return tg_recorder_write(results.forked_from, name);
}

/* A part's lines, behind those of the run: only what differs from machine to machine is left
   out. */
static void record_share(const TgShares* shares, UInt number, TgFile* f)
{
   TgResult result = results.result[0];
   TgResults whole = results;
   XArray* own = tg_shares_result(shares, number, 0, &whole, &result);
   tg_shares_record(shares, number, f);
   tg_costs_file_record(&whole, own, f);
   VG_(deleteXA)(own);
}

/* What stands behind the references of the recording, which has been written so far. */
static Bool end_recording(UInt machine, XArray* lines, const HChar* name)
{
   (void)machine;
   if (!tg_recording_on)
      return True;
   TgFile* f = tg_file_to(tg_recorded_text, NULL);
   tg_costs_file_record(&results, lines, f);
   for (UInt kind = 0; kind < TG_N_SHARINGS; kind++) {
      const TgShares* shares = tg_shares((TgSharing)kind);
      for (UInt i = 0; i < tg_shares_count(shares); i++)
         record_share(shares, i, f);
   }
   if (results.options->data)
      tg_data_file_record(&results, lines, f);
   tg_file_close(f);
   const HChar* failure = tg_recording_end();
   if (failure != NULL)
      tg_shown_unwritten("recording", name, failure, "what is recorded");
   return failure == NULL;
}

typedef struct {
   Bool of_each_machine;
   Bool (*write)(UInt machine, XArray* lines, const HChar* name);
   void (*report)(const TgResults* r, const HChar* file); /* on stderr; NULL: nothing */
} Output;

static const Output outputs[TG_N_OUTPUTS] = {
   [TG_COSTS_OUT]   = { True, write_costs, tg_summary_results },
   [TG_REACH_OUT]   = { False, write_reach, tg_reach_file_summary },
   [TG_TIMELINE_OUT] = { False, write_timeline, NULL },
   [TG_ENTRIES_OUT] = { False, write_entries, NULL },
   [TG_DATA_OUT]    = { False, write_data, NULL },
   [TG_FAULTS_OUT]  = { False, write_faults, tg_summary_faults },
   [TG_RECORDING_OUT] = { False, end_recording, NULL },
};

/* Whether the run has nothing to write there: the misses are not known. */
static Bool is_lost(TgOutput which)
{
   if (tg_jobs_lost() == NULL || (which != TG_COSTS_OUT && which != TG_TIMELINE_OUT))
      return False;
   if (which == TG_COSTS_OUT)
      VG_(umsg)("error: no out-file of this process, and no counts of TLBs: %s\n", tg_jobs_lost());
   return True;
}

static UInt n_files(TgOutput which)
{
   return outputs[which].of_each_machine ? results.options->n_machines : 1;
}

/* Whether the output has such a file: not of a variant that changes nothing. */
static Bool has_file(TgOutput which, UInt machine)
{
   return !(outputs[which].of_each_machine && results.result[machine].is_same);
}

/* The name of one file of an output whose name is `base`; to be freed. */
static HChar* file_name(TgOutput which, const HChar* base, UInt machine)
{
   return outputs[which].of_each_machine
             ? tg_output_name_of(base, results.result[machine].machine, results.options->n_machines)
             : VG_(strdup)("tg.outputs.name", base);
}

static HChar* costs_name; /* of the out-file, once it is written; NULL: it is not, or is a stream */

static void write_output(TgOutput which, XArray* lines)
{
   HChar* base = tg_output_name(which);
   Bool written = True;
   for (UInt i = 0; i < n_files(which); i++) {
      if (!has_file(which, i))
         continue;
      HChar* name = file_name(which, base, i);
      written &= outputs[which].write(i, lines, name);
      VG_(free)(name);
   }
   const HChar* shown = written && !tg_streams_has(base) ? base : NULL;
   if (outputs[which].report != NULL)
      outputs[which].report(&results, shown);
   if (which == TG_COSTS_OUT && shown != NULL)
      costs_name = base;
   else
      VG_(free)(base);
}

static void write_outputs(TgOutput first, TgOutput last, XArray* lines)
{
   for (TgOutput which = first; which <= last; which++) {
      if (results.options->is_written[which] && !is_lost(which))
         write_output(which, lines);
   }
}

void tg_outputs_at_end(void)
{
   XArray* lines = settle();
   write_outputs(TG_COSTS_OUT, TG_REACH_OUT, lines);
   /* At the end of the process the core does not print a tool's statistics. */
   if (VG_(clo_stats))
      tg_replay_print_stats();
   tg_aspace_trace_end();
   write_outputs(TG_TIMELINE_OUT, TG_RECORDING_OUT, lines);
   if (results.options->is_written[TG_COSTS_OUT] && tg_jobs_lost() == NULL)
      tg_answer_print(&results, costs_name);
   VG_(deleteXA)(lines);
}

/* Writes all outputs before the process becomes another program. */
static void write_at_exec(TgExec how, XArray* lines)
{
   Bool costs_written = True;
   for (TgOutput which = 0; which < TG_N_OUTPUTS; which++) {
      if (!results.options->is_written[which] || which == TG_RECORDING_OUT || is_lost(which))
         continue;
      HChar* base = tg_output_name(which);
      for (UInt i = 0; i < n_files(which); i++) {
         if (!has_file(which, i))
            continue;
         HChar* name = tg_exec_calls_file_name(how, file_name(which, base, i));
         const Bool is_there = outputs[which].write(i, lines, name);
         costs_written &= is_there || which != TG_COSTS_OUT;
         tg_exec_calls_note_file(name, is_there);
      }
      if (which == TG_COSTS_OUT && how == TG_EXEC_LEAVES && results.forked_from == 0
          && costs_written && !tg_streams_has(base))
         tg_answer_print_commands(&results, base);
      VG_(free)(base);
   }
}

static Bool recording_ended_at_exec;

/* The recording is complete before the exec, under the name that other outputs have then; if the
   exec fails, the rest of the run is not recorded. */
static void end_recording_at_exec(TgExec how, XArray* lines)
{
   if (!results.options->is_written[TG_RECORDING_OUT] || !tg_recording_on)
      return;
   HChar* name = tg_output_name(TG_RECORDING_OUT);
   HChar* last = tg_exec_calls_file_name(how, VG_(strdup)("tg.outputs", name));
   if (end_recording(0, lines, name) && VG_(strcmp)(name, last) != 0)
      VG_(rename)(name, last);
   recording_ended_at_exec = True;
   VG_(free)(last);
   VG_(free)(name);
}

void tg_outputs_exec_failed(void)
{
   if (!recording_ended_at_exec)
      return;
   recording_ended_at_exec = False;
   VG_(umsg)("warning: the recording has what came before an exec, which failed: the rest of the "
             "run is not recorded\n");
}

ULong tg_outputs_at_exec(TgExec how)
{
   XArray* lines = settle();
   if (how != TG_EXEC_FOLLOWED) {
      write_at_exec(how, lines);
      end_recording_at_exec(how, lines);
   }
   VG_(deleteXA)(lines);
   return results.result[0].total[tg_cost(TLB_FETCH, TG_REFS)];
}

/* --- Parts of a run --- */

static void zero(void)
{
   tg_collection_settle();
   tg_superblocks_settle();
   tg_lines_zero();
   VG_(memset)(tg_superblock_totals(), 0, sizeof(TgSuperblockTotals));
   VG_(memset)(tg_replay_straddles(), 0, TLB_N_USERS * sizeof(ULong));
   tlb_missed_zero_extra(&tg_mmus);
   tg_collection_zero();
   tg_interruptions_zero();
   tg_threads_zero();
   tg_copy_counts_zero();
   for (UInt i = 0; i < TG_N_SHARINGS; i++)
      tg_shares_zero(tg_shares((TgSharing)i), &results);
   if (tg_data_objects_on)
      tg_data_zero();
   if (results.options->reach)
      tlb_run_reach_zero(&tg_mmus);
   if (results.options->timeline)
      tg_timeline_zero();
   tg_recording_zero();
}

void tg_outputs_forked(Int parent)
{
   tg_cores_forked();
   tg_recording_forked();
   zero();
   results.forked_from = parent;
   results.part = 1;
   results.trigger = NULL;
}

void tg_outputs_zero(void)
{
   tg_batch_look_up();
   zero();
   if (results.options->faults.on)
      tg_recorder_zero();
}

void tg_outputs_mark(const HChar* phase)
{
   tg_batch_look_up();
   settle_counts();
   tg_phases_begin(&results, phase);
   tg_recording_part(TLB_MARK_PHASE, tg_shares_label(tg_shares(TG_BY_PHASE)));
   if (results.options->timeline)
      tg_timeline_mark(phase);
   if (results.options->faults.on)
      tg_recorder_mark(phase);
}

void tg_outputs_thread(ThreadId tid)
{
   static ThreadId at_hand;
   HChar name[16];
   if (!results.options->separate_threads || tid == at_hand)
      return;
   TgShares* threads = tg_shares(TG_BY_THREAD);
   if (at_hand != 0) {
      tg_batch_look_up();
      settle_counts();
      tg_shares_settle(threads, &results);
   }
   VG_(sprintf)(name, "%u", tid);
   tg_shares_go_to(threads, tg_shares_number(threads, name, &results));
   tg_recording_part(TLB_MARK_THREAD, tg_shares_label(threads));
   /* Otherwise tg_cores_started() settles all of it once more. */
   tg_cores_go_to(tid);
   at_hand = tid;
}

/* The name of a part's file, NAME.N; frees `name`. A stream has all parts. */
static HChar* part_name(HChar* name)
{
   if (tg_streams_has(name))
      return name;
   const Int room = (Int)VG_(strlen)(name) + 16;
   HChar* numbered = VG_(malloc)("tg.outputs.part", (SizeT)room);
   VG_(snprintf)(numbered, room, "%s.%u", name, results.part);
   VG_(free)(name);
   return numbered;
}

void tg_outputs_dump(const HChar* trigger, void (*each)(const HChar* name))
{
   tg_batch_look_up();
   XArray* lines = settle();
   results.trigger = trigger;
   for (TgOutput which = 0; which < TG_N_OUTPUTS; which++) {
      /* The order of first use is one list for the whole run. */
      if (!results.options->is_written[which] || which == TG_ENTRIES_OUT
          || which == TG_RECORDING_OUT || is_lost(which))
         continue;
      HChar* base = tg_output_name(which);
      for (UInt i = 0; i < n_files(which); i++) {
         if (!has_file(which, i))
            continue;
         HChar* name = part_name(file_name(which, base, i));
         if (outputs[which].write(i, lines, name) && each != NULL)
            each(name);
         VG_(free)(name);
      }
      VG_(free)(base);
   }
   VG_(deleteXA)(lines);
   tg_outputs_zero();
   results.part++;
   results.trigger = "end of the program";
}

const TgResults* tg_outputs_so_far(void)
{
   tg_batch_look_up();
   VG_(deleteXA)(settle());
   return &results;
}

/* --- Start --- */

static void sample(void)
{
   tg_batch_look_up();
   tg_engine_settle();
   tg_recording_settle();
   tg_timeline_add();
}

TgResults* tg_outputs_results(void)
{
   return &results;
}

void tg_outputs_init(const TgOptions* o)
{
   results.options = o;
   results.result = VG_(calloc)("tg.outputs.results", o->n_machines,
                                sizeof *results.result);
   for (UInt i = 0; i < o->n_machines; i++) {
      results.result[i].machine = &o->machine[i];
      results.result[i].number = tg_mmus.mmu[i].counts;
      results.result[i].levels = tg_mmus.mmu[i].h.levels;
   }
   if (o->kernel.cores != TG_CORES_SHARED)
      tg_threads_init(&results);
   if (o->timeline)
      tg_timeline_init(&results, sample);
}

