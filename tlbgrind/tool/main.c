/* tlbgrind, a Valgrind tool that shows what a program does to the machine's
   address translation.

   Copyright (C) 2026 The tlbgrind authors

   This program is free software; you can redistribute it and/or modify it
   under the terms of the GNU General Public License as published by the Free
   Software Foundation; either version 2 of the License, or (at your option)
   any later version. See COPYING.

   This file registers the tool with Valgrind's core and passes on the core's events. It has
   all outputs written (tool/outputs.c) when the process ends or execs another program. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_options.h"
#include "pub_tool_tooliface.h"

#include "valgrind.h"

#include "sim/mmu/mmu.h"

#include "attribution/made_code.h"
#include "attribution/sites.h"
#include "calls/call_stack.h"
#include "calls/collection.h"
#include "engine/batch.h"
#include "engine/copy_turns.h"
#include "engine/thread_cores.h"
#include "engine/interrupted.h"
#include "engine/recording.h"
#include "engine/replay.h"
#include "engine/setup.h"
#include "faults/touches.h"
#include "faults/flushes.h"
#include "faults/interruptions.h"
#include "faults/recorder.h"
#include "native/native.h"
#include "native/self_exec.h"
#include "data/records.h"
#include "data/references.h"
#include "options/exec.h"
#include "options/command_line.h"
#include "options/options.h"
#include "options/usage.h"
#include "order/code_entries.h"
#include "order/data_uses.h"
#include "output/summary.h"
#include "space/aspace.h"
#include "space/aspace_trace.h"
#include "space/forks.h"
#include "space/hugetlb.h"
#include "space/merged_code.h"
#include "tool/address_limit.h"
#include "tool/call_code.h"
#include "tool/exec_calls.h"
#include "tool/instrument.h"
#include "tool/monitor.h"
#include "tool/name_files.h"
#include "tool/outputs.h"
#include "tool/progress.h"
#include "tool/region.h"
#include "tool/sandbox.h"
#include "tool/unmatched.h"
#include "tool/valgrind_here.h"
#include "trace/run_mmus.h"
#include "trace/superblocks.h"

/* The core calls this when the process ends. */
static void fini(Int exit_code)
{
   (void)exit_code;
   tg_region_end();
   tg_merged_code_end();
   tg_records_end();
   tg_batch_look_up();
   tg_copies_end();
   tg_batch_look_up();
   tg_outputs_at_end();
}

/* --- Fork and exec --- */

static void forked(ThreadId tid)
{
   tg_outputs_forked(VG_(getppid)());
   tg_call_stacks_forked(tid);
   tg_region_forked();
   tg_exec_calls_forked();
   tg_made_code_begin();
   /* Last, because the kernel's work after a fork causes the child's first faults. */
   tg_aspace_forked(tid, True);
}

static void has_forked(ThreadId tid)
{
   tg_recording_has_forked();
   tg_aspace_forked(tid, False);
}

static void pre_exec(UInt syscall, const UWord* args)
{
   const TgExec how = tg_exec_calls_look(syscall, args);
   if (how == TG_EXEC_FAILS)
      return;
   const ULong instructions = tg_outputs_at_exec(how);
   if (how != TG_EXEC_LEAVES)
      tg_exec_calls_follow(how, instructions);
}

static void pre_syscall(ThreadId tid, UInt syscall, UWord* args, UInt n_args)
{
   (void)n_args;
   tg_interruptions_pre_syscall();
   tg_aspace_pre_syscall(tid, syscall, args);
   tg_forks_pre_syscall(tid, syscall, args);
   tg_native_pre_syscall(syscall, args);
   tg_recorder_pre_syscall(tid, syscall, args);
   tg_sandbox_pre_syscall(syscall, args);
   tg_address_limit_pre_syscall(syscall, args);
   tg_name_files_pre_syscall(syscall, args);
   if (tg_exec_calls_has(syscall))
      pre_exec(syscall, args);
}

/* An exec that returns has failed. */
static void post_syscall(ThreadId tid, UInt syscall, UWord* args, UInt n_args,
                         SysRes result)
{
   (void)n_args;
   tg_address_limit_post_syscall(syscall, args, result);
   tg_outputs_thread(tid);
   tg_cores_started(tid);
   tg_collection_started(tid);
   tg_touches_started(tid);
   tg_aspace_post_syscall(tid, syscall, args, result);
   tg_forks_post_syscall(result);
   tg_self_exec_done(tid);
   tg_native_post_syscall(tid, syscall, args, result);
   tg_recorder_post_syscall(tid, syscall, result);
   tg_call_stack_post_syscall(tid);
   tg_hugetlb_done(tid);
   tg_interruptions_post_syscall();
   if (tg_exec_calls_has(syscall)) {
      tg_exec_calls_failed();
      tg_outputs_exec_failed();
   }
}

static void kernel_wrote(CorePart part, ThreadId tid, Addr a, SizeT len)
{
   if (tg_forks_is_false_write(a))
      return;
   tg_forks_kernel_wrote(a, len);
   tg_data_uses_kernel_wrote(a, len);
   tg_recorder_kernel_wrote(part, tid, a, len);
}

/* Valgrind's own look at what a client request or the stack of a debugger has is none. */
static void kernel_reads(CorePart part, ThreadId tid, const HChar* what, Addr a, SizeT len)
{
   (void)what;
   if (part == Vg_CoreSysCall || part == Vg_CoreSysCallArgInMem || part == Vg_CoreSignal)
      tg_data_uses_kernel_reads(a, len);
   tg_recorder_kernel_reads(part, tid, a, len);
}

/* A text up to its final zero, or up to the first unreadable byte. */
static void kernel_reads_text(CorePart part, ThreadId tid, const HChar* what, Addr a)
{
   Addr at = a;
   while (a != 0 && VG_(am_is_valid_for_client)(at, 1, VKI_PROT_READ)) {
      const Addr from = at;
      const Addr next = VG_PGROUNDDN(at) + VKI_PAGE_SIZE;
      while (at != next && *(const HChar*)at != '\0')
         at++;
      const Bool ends = at != next;
      kernel_reads(part, tid, what, from, at - from + ends);
      if (ends)
         return;
   }
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
   tg_data_uses_changed(a, len);
   tg_call_code_changed();
   tg_sites_unmapped(a, len);
   tg_merged_code_changed();
}

/* The new mapping may replace another one, for which the core has no event. The blocks of the old
   code were discarded before, while its debug information still existed. */
static void mapped(Addr a, SizeT len, Bool r, Bool w, Bool x, ULong di_handle)
{
   (void)di_handle;
   tg_aspace_mapped(a, len, r, w, x);
   tg_made_code_mapped(a, x);
   tg_code_entries_unmapped(a, len);
   tg_data_uses_changed(a, len);
   tg_call_code_changed();
   tg_sites_unmapped(a, len);
   tg_merged_code_changed();
}

static void moved(Addr from, Addr to, SizeT len)
{
   tg_aspace_moved(from, to, len);
   tg_code_entries_unmapped(to, len);
   tg_data_uses_changed(to, len);
   tg_call_code_changed();
   tg_sites_unmapped(to, len);
   tg_merged_code_changed();
}

/* --- Threads that stop and continue --- */

static void started(ThreadId tid, ULong blocks)
{
   (void)blocks;
   tg_progress_started();
   tg_outputs_thread(tid);
   tg_cores_started(tid);
   tg_native_started(tid);
   tg_recorder_started();
   tg_hugetlb_started(tid);
   tg_interrupted_start(tid);
   if (tg_data_objects_on)
      tg_data_started(tid);
   tg_collection_started(tid);
   tg_touches_started(tid);
   tg_call_stack_started(tid);
}

static void stopped(ThreadId tid, ULong blocks)
{
   (void)blocks;
   tg_interrupted_stop(tid);
   tg_call_stack_stopped(tid);
   tg_superblocks_bury();
   tg_hugetlb_stopped(tid);
   tg_native_stopped(tid);
   tg_self_exec_stopped(tid);
}

/* A fault's signal is delivered before the core says that the thread has stopped. */
static void signal_delivered(ThreadId tid, Int signal, Bool alternate_stack)
{
   tg_interrupted_signal(tid, signal, alternate_stack);
   tg_call_stack_signal(tid, alternate_stack);
}

static void signal_returned(ThreadId tid, Int signal)
{
   (void)signal;
   tg_call_stack_sigreturn(tid);
}

static void thread_ends(ThreadId tid)
{
   tg_call_stack_ends(tid);
   tg_cores_thread_ends(tid);
   tg_collection_ends(tid);
   tg_touches_thread_ends(tid);
}

/* --- Start --- */

static void post_clo_init(void)
{
   tg_valgrind_here_check();
   const TgOptions* o = tg_options_finish();
   tg_aspace_init();
   tg_merged_code_init(o->merge_code);
   if (o->trace_aspace)
      tg_aspace_trace_begin();
   tg_hugetlb_init(o->pages.fake_hugetlb);
   tg_sites_init(o->dump_instr);
   tg_made_code_begin();
   tg_superblocks_init();
   tg_data_init(o);
   if (tg_data_objects_on)
      VG_(track_pre_thread_first_insn)(tg_data_thread_begins);
   tg_engine_init(o);
   tg_instrument_init(o);
   tg_exec_calls_init();
   tg_outputs_init(o);
   tg_cores_init(o);
   tg_region_init(o);
   tg_progress_init(o);
   tg_summary_machines(tg_outputs_results());
   tg_exec_print();
   if (o->entries)
      tg_code_entries_init();
   if (o->entries_data)
      tg_data_uses_init();
   tg_interruptions_init(o, tg_batch_look_up);
   if (o->kernel.flushes)
      tg_flushes_init(o->page_shift);
   tg_native_init(o);
   tg_unmatched_init(o);
   if (o->faults.simulated)
      tg_recorder_init(o);
   if (o->faults.simulated || o->entries_data) {
      VG_(track_pre_mem_read)(kernel_reads);
      VG_(track_pre_mem_read_asciiz)(kernel_reads_text);
   }
}

static Bool requested(ThreadId tid, UWord* args, UWord* result)
{
   (void)tid;
   if (args[0] == VG_USERREQ__GDB_MONITOR_COMMAND) {
      const Bool is_taken = tg_monitor_take((const HChar*)args[1]);
      *result = is_taken;
      return is_taken;
   }
   if (!tg_region_take_request(args))
      return False;
   *result = 0;
   return True;
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
   tg_options_begin();
   VG_(needs_command_line_options)(tg_options_take, tg_usage_print, tg_usage_print_debug);
   VG_(needs_print_stats)(tg_replay_print_stats);
   VG_(needs_client_requests)(requested);
   VG_(needs_syscall_wrapper)(pre_syscall, post_syscall);
   VG_(track_post_mem_write)(kernel_wrote);
   VG_(track_new_mem_startup)(tg_aspace_startup);
   VG_(track_new_mem_brk)(tg_aspace_break_up);
   VG_(track_die_mem_brk)(tg_aspace_break_down);
   VG_(track_change_mem_mprotect)(tg_aspace_protected);
   VG_(track_die_mem_munmap)(unmapped);
   VG_(track_new_mem_mmap)(mapped);
   VG_(track_copy_mem_remap)(moved);
   VG_(track_start_client_code)(started);
   VG_(track_stop_client_code)(stopped);
   VG_(track_pre_deliver_signal)(signal_delivered);
   VG_(track_post_deliver_signal)(signal_returned);
   VG_(track_pre_thread_ll_exit)(thread_ends);
   VG_(atfork)(NULL, has_forked, forked);
}

VG_DETERMINE_INTERFACE_VERSION(pre_clo_init)
