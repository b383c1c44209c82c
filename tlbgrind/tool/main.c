/* tlbgrind, a Valgrind tool that shows what a program does to the machine's
   address translation.

   Copyright (C) 2026 The tlbgrind authors

   This program is free software; you can redistribute it and/or modify it
   under the terms of the GNU General Public License as published by the Free
   Software Foundation; either version 2 of the License, or (at your option)
   any later version. See COPYING.

   This file registers the tool with Valgrind's core and passes on the core's events. It writes all
   outputs when the process ends or execs another program; a table below lists them. */

#include "pub_tool_basics.h"

#include "pub_tool_clientstate.h"
#include "pub_tool_guest.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_xarray.h"

#include "attribution/sites.h"
#include "base/streams.h"
#include "engine/interrupted.h"
#include "engine/replay.h"
#include "engine/setup.h"
#include "faults/recorder.h"
#include "native/native.h"
#include "data/references.h"
#include "options/exec.h"
#include "options/options.h"
#include "options/output_names.h"
#include "order/code_entries.h"
#include "order/data_writes.h"
#include "output/costs_file.h"
#include "output/data_file.h"
#include "output/reach_file.h"
#include "output/results.h"
#include "output/summary.h"
#include "sim/mmu/miss_counts.h"
#include "sim/mmu/run_reach.h"
#include "space/aspace.h"
#include "space/aspace_trace.h"
#include "space/hugetlb.h"
#include "tool/exec_calls.h"
#include "tool/instrument.h"
#include "trace/run_mmus.h"
#include "trace/shadow_area.h"
#include "trace/superblocks.h"

static TgResults results;

/* --- Sums --- */

static void add_up(TgResult* result, XArray* lines)
{
   VG_(memset)(result->total, 0, sizeof result->total);
   for (Word i = 0; i < VG_(sizeXA)(lines); i++) {
      ULong cost[TG_N_COSTS];
      tg_lines_costs(*(TgLine**)VG_(indexXA)(lines, i), result->number, cost);
      for (UInt j = 0; j < TG_N_COSTS; j++)
         result->total[j] += cost[j];
   }
   for (UInt kind = 0; kind < TLB_N_USERS; kind++) {
      for (UInt i = 0; i < TG_N_OF_A_MISS; i++)
         result->extra[tg_cost(kind, TG_MISS_1 + i)]
            = tlb_missed_extra(&tg_mmus, result->number)[kind][i];
   }
}

/* Adds all counts so far to `results` and the lines; returns the lines in order of output. */
static XArray* settle(void)
{
   tg_superblocks_settle();
   tg_engine_settle();
   XArray* lines = tg_lines_sorted();
   for (UInt i = 0; i < results.options->n_machines; i++)
      add_up(&results.result[i], lines);
   const TgSuperblockTotals* b = tg_superblock_totals();
   VG_(memcpy)(results.straddles, tg_replay_straddles(), sizeof results.straddles);
   results.straddles[TLB_FETCH] = b->fetch_straddles;
   VG_(memcpy)(results.unperformed, b->unperformed, sizeof results.unperformed);
   return lines;
}

/* --- Outputs --- */

static Bool write_costs(UInt machine, XArray* lines, const HChar* name)
{
   return tg_costs_file_write(&results, &results.result[machine], lines, name);
}

static Bool write_reach(UInt machine, XArray* lines, const HChar* name)
{
   (void)machine;
   (void)lines;
   return tg_reach_file_write(&results, name);
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

typedef struct {
   Bool of_each_machine;
   Bool (*write)(UInt machine, XArray* lines, const HChar* name);
   void (*report)(const TgResults* r, const HChar* file); /* on stderr; NULL: nothing */
} Output;

static const Output outputs[TG_N_OUTPUTS] = {
   [TG_COSTS_OUT]   = { True, write_costs, tg_summary_results },
   [TG_REACH_OUT]   = { False, write_reach, tg_reach_file_summary },
   [TG_ENTRIES_OUT] = { False, write_entries, NULL },
   [TG_DATA_OUT]    = { False, write_data, NULL },
   [TG_FAULTS_OUT]  = { False, write_faults, tg_summary_faults },
};

static UInt n_files(TgOutput which)
{
   return outputs[which].of_each_machine ? results.options->n_machines : 1;
}

/* The name of one file of an output whose name is `base`; to be freed. */
static HChar* file_name(TgOutput which, const HChar* base, UInt machine)
{
   return outputs[which].of_each_machine
             ? tg_output_name_of(base, results.result[machine].machine, results.options->n_machines)
             : VG_(strdup)("tg.main.name", base);
}

static void write_output(TgOutput which, XArray* lines)
{
   HChar* base = tg_output_name(which);
   Bool written = True;
   for (UInt i = 0; i < n_files(which); i++) {
      HChar* name = file_name(which, base, i);
      written &= outputs[which].write(i, lines, name);
      VG_(free)(name);
   }
   if (outputs[which].report != NULL)
      outputs[which].report(&results, written && !tg_streams_has(base) ? base : NULL);
   VG_(free)(base);
}

static void write_outputs(TgOutput first, TgOutput last, XArray* lines)
{
   for (TgOutput which = first; which <= last; which++) {
      if (results.options->is_written[which])
         write_output(which, lines);
   }
}

/* The core calls this when the process ends. The summary of page faults is last on stderr. */
static void fini(Int exit_code)
{
   (void)exit_code;
   XArray* lines = settle();
   write_outputs(TG_COSTS_OUT, TG_REACH_OUT, lines);
   /* At the end of the process the core does not print a tool's statistics. */
   if (VG_(clo_stats))
      tg_replay_print_stats();
   tg_aspace_trace_end();
   write_outputs(TG_ENTRIES_OUT, TG_FAULTS_OUT, lines);
   VG_(deleteXA)(lines);
}

/* --- Fork and exec --- */

/* A child's costs begin at zero: those before the fork are in the parent's output. The simulated
   TLBs keep their entries, because the child continues where the parent was. */
static void forked(ThreadId tid)
{
   tg_superblocks_settle();
   tg_lines_zero();
   VG_(memset)(tg_superblock_totals(), 0, sizeof(TgSuperblockTotals));
   VG_(memset)(tg_replay_straddles(), 0, TLB_N_USERS * sizeof(ULong));
   tlb_missed_zero_extra(&tg_mmus);
   if (tg_data_on)
      tg_data_forked();
   if (results.options->reach)
      tlb_run_reach_zero(&tg_mmus);
   results.forked_from = VG_(getppid)();
   tg_exec_calls_forked();
   /* Last, because the kernel's work after a fork causes the child's first faults. */
   tg_aspace_forked(tid, True);
}

static void has_forked(ThreadId tid)
{
   tg_aspace_forked(tid, False);
}

/* Writes all outputs before the process becomes another program. */
static void write_at_exec(TgExec how, XArray* lines)
{
   Bool costs_written = True;
   for (TgOutput which = 0; which < TG_N_OUTPUTS; which++) {
      if (!results.options->is_written[which])
         continue;
      HChar* base = tg_output_name(which);
      for (UInt i = 0; i < n_files(which); i++) {
         HChar* name = tg_exec_calls_file_name(how, file_name(which, base, i));
         const Bool is_there = outputs[which].write(i, lines, name);
         costs_written &= is_there || which != TG_COSTS_OUT;
         tg_exec_calls_note_file(name, is_there);
      }
      if (which == TG_COSTS_OUT && how == TG_EXEC_LEAVES && results.forked_from == 0
          && costs_written && !tg_streams_has(base))
         tg_summary_details(&results, base);
      VG_(free)(base);
   }
}

static void pre_exec(UInt syscall, const UWord* args)
{
   const TgExec how = tg_exec_calls_look(syscall, args);
   if (how == TG_EXEC_FAILS)
      return;
   XArray* lines = settle();
   if (how != TG_EXEC_FOLLOWED)
      write_at_exec(how, lines);
   if (how != TG_EXEC_LEAVES)
      tg_exec_calls_follow(how, results.result[0].total[tg_cost(TLB_FETCH, TG_REFS)]);
   VG_(deleteXA)(lines);
}

static void pre_syscall(ThreadId tid, UInt syscall, UWord* args, UInt n_args)
{
   (void)n_args;
   tg_aspace_pre_syscall(tid, syscall, args);
   tg_native_pre_syscall(syscall, args);
   tg_recorder_pre_syscall(tid, syscall, args);
   if (tg_exec_calls_has(syscall))
      pre_exec(syscall, args);
}

/* An exec that returns has failed. */
static void post_syscall(ThreadId tid, UInt syscall, UWord* args, UInt n_args,
                         SysRes result)
{
   (void)n_args;
   tg_aspace_post_syscall(tid, syscall, args, result);
   tg_native_post_syscall(tid, syscall, args, result);
   tg_recorder_post_syscall(tid, syscall);
   tg_hugetlb_done(tid);
   if (tg_exec_calls_has(syscall))
      tg_exec_calls_failed();
}

/* --- Changes of the address space --- */

static void discard(Addr entry, VexGuestExtents extents)
{
   tg_code_entries_discard(entry);
   tg_superblock_discard(extents.base[0], entry);
}

static void unmapped(Addr a, SizeT len)
{
   tg_aspace_unmapped(a, len);
   tg_code_entries_unmapped(a, len);
   tg_data_writes_changed(a, len);
   tg_sites_unmapped(a, len);
}

/* The new mapping may replace another one, for which the core has no event. The blocks of the old
   code were discarded before, while its debug information still existed. */
static void mapped(Addr a, SizeT len, Bool r, Bool w, Bool x, ULong di_handle)
{
   (void)di_handle;
   tg_aspace_mapped(a, len, r, w, x);
   tg_code_entries_unmapped(a, len);
   tg_data_writes_changed(a, len);
   tg_sites_unmapped(a, len);
}

static void moved(Addr from, Addr to, SizeT len)
{
   tg_aspace_moved(from, to, len);
   tg_code_entries_unmapped(to, len);
   tg_data_writes_changed(to, len);
   tg_sites_unmapped(to, len);
}

/* --- Threads that stop and continue --- */

static void started(ThreadId tid, ULong blocks)
{
   (void)blocks;
   tg_native_started(tid);
   tg_recorder_started();
   tg_hugetlb_started(tid);
   tg_interrupted_start(tid);
   if (tg_data_on)
      tg_data_started(tid);
}

static void stopped(ThreadId tid, ULong blocks)
{
   (void)blocks;
   tg_interrupted_stop(tid);
   tg_hugetlb_stopped(tid);
   tg_native_stopped(tid);
}

/* --- Start --- */

static void init_results(const TgOptions* o)
{
   results.result = VG_(calloc)("tg.main.results", o->n_machines,
                                sizeof *results.result);
   for (UInt i = 0; i < o->n_machines; i++) {
      results.result[i].machine = &o->machine[i];
      results.result[i].number = tg_mmus.mmu[i].counts;
      results.result[i].levels = tg_mmus.mmu[i].h.levels;
   }
}

static void post_clo_init(void)
{
   const TgOptions* o = tg_options_finish();
   tl_assert(sizeof(TgShadowArea) <= sizeof(VexGuestArchState));
   results.options = o;
   tg_aspace_init();
   if (o->trace_aspace)
      tg_aspace_trace_begin();
   tg_hugetlb_init(o->pages.fake_hugetlb);
   tg_sites_init();
   tg_superblocks_init();
   tg_data_init(o);
   if (tg_data_on)
      VG_(track_pre_thread_first_insn)(tg_data_thread_begins);
   tg_engine_init(o);
   tg_instrument_init(o);
   tg_exec_calls_init();
   init_results(o);
   tg_summary_machines(&results);
   tg_exec_print();
   if (o->entries)
      tg_code_entries_init();
   if (o->entries_data)
      tg_data_writes_init();
   tg_native_init(o);
   if (o->faults.on)
      tg_recorder_init(o);
}

static void pre_clo_init(void)
{
   VG_(details_name)("tlbgrind");
   VG_(details_version)(TG_VERSION);
   VG_(details_description)("a TLB and page-fault profiler");
   VG_(details_copyright_author)(
      "Copyright (C) 2026, and GNU GPL'd, by the tlbgrind authors.");
   VG_(details_bug_reports_to)("the tlbgrind authors");
   VG_(details_avg_translation_sizeB)(500);

   /* If Vex followed jumps, "a && b" would be one block, which executes and counts the instructions
      of b in any case; and an unrolled loop would contain the same address several times, so that
      a fault could not be attributed. */
   VG_(clo_vex_control).guest_chase = False;
   VG_(clo_vex_control).iropt_unroll_thresh = 0;

   VG_(basic_tool_funcs)(post_clo_init, tg_instrument, fini);
   VG_(needs_superblock_discards)(discard);
   VG_(needs_command_line_options)(tg_options_take, tg_options_print_usage,
                                   tg_options_print_debug_usage);
   VG_(needs_print_stats)(tg_replay_print_stats);
   VG_(needs_syscall_wrapper)(pre_syscall, post_syscall);
   VG_(track_new_mem_startup)(tg_aspace_startup);
   VG_(track_new_mem_brk)(tg_aspace_break_up);
   VG_(track_die_mem_brk)(tg_aspace_break_down);
   VG_(track_change_mem_mprotect)(tg_aspace_protected);
   VG_(track_die_mem_munmap)(unmapped);
   VG_(track_new_mem_mmap)(mapped);
   VG_(track_copy_mem_remap)(moved);
   VG_(track_start_client_code)(started);
   VG_(track_stop_client_code)(stopped);
   VG_(track_pre_deliver_signal)(tg_interrupted_signal);
   VG_(atfork)(NULL, has_forked, forked);
}

VG_DETERMINE_INTERFACE_VERSION(pre_clo_init)
