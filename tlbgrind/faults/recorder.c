/* Records page faults of program and kernel. See faults/recorder.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "arch/arch.h"
#include "calls/call_stack.h"
#include "data/references.h"
#include "faults/flushes.h"
#include "faults/interruptions.h"
#include "faults/log.h"
#include "faults/payload.h"
#include "native/maps.h"
#include "faults/recorder.h"
#include "native/mmap_calls.h"
#include "native/exec_image.h"
#include "native/start.h"
#include "base/program.h"
#include "space/forks.h"
#include "trace/instrumentation.h"
#include "trace/segment_run.h"
#include "faults/page_use.h"
#include "faults/touches.h"

/* The page of the vDSO's data that its getrandom() reads, since Linux 6.15. */
enum { VVAR_RANDOM_PAGE = 2 };

static const TgOptions* options;
static UWord page_mask;

static Int* syscall_of; /* by thread: number of the current system call, or TG_BY_PROGRAM */
static Bool started;

/* --- Touches --- */

/* Counts a fault of the warm view at its line, or the part of it for the data there; without a
   site, at one without names. */
static void book(TgSite* site, TgLine* line, tlb_touch touch, Addr a)
{
   static const tlb_user kinds[] = { [TLB_TOUCH_READ] = TLB_LOAD,
                                   [TLB_TOUCH_WRITE] = TLB_STORE,
                                   [TLB_TOUCH_FETCH] = TLB_FETCH };
   static TgSite* nowhere;
   if (site == NULL && nowhere == NULL)
      nowhere = tg_site_use(0);
   if (line == NULL) {
      line = tg_site_line(site == NULL ? nowhere : site);
      if (tg_data_on && touch != TLB_TOUCH_FETCH)
         line = tg_data_line_at(line, a);
   }
   if (site != NULL)
      tg_line_fault(line, kinds[touch]);
   else if (tg_costs_are_kept)
      line->faults[kinds[touch]]++; /* no function's, so in no inclusive cost */
}

static void touch_page(TgSite* site, TgLine* line, Int by, ThreadId tid, tlb_touch touch,
                       Addr a, ULong instructions)
{
   UInt number;
   ULong native;
   static tlb_fault in[TLB_N_VIEWS];
   const TgMap* map = tg_maps_find(a, &number, &native);
   if (map == NULL
       || !tlb_fault_touch(tg_maps_model(), native, touch, in))
      return;
   if (in[TLB_VIEW_WARM].kind == TLB_FAULT_COPY)
      tg_flushes_copied(site, a, in[TLB_VIEW_WARM].breaks != 0);
   if (!tg_instrumented) {
      tg_page_use_fault(a, native, in);
      return;
   }
   if (map->hidden && !options->faults.lists_hidden) {
      tg_log_hide(in);
      return;
   }
   TgCallSite* callers[TG_MAX_FAULT_FRAMES];
   const TgFaultWhere where = {
      .page = a & ~page_mask, .map = number, .instructions = instructions,
      .thread = tid, .by = by, .site = site, .callers = callers,
      .n_callers = site == NULL || options->faults.stacks == 0
                      ? 0
                      : tg_call_stack_callers(tid, callers, (UInt)options->faults.stacks),
   };
   tg_log_add(&where, in);
   tg_log_trials(tg_maps_model());
   tg_page_use_fault(a, native, in);
   if (in[TLB_VIEW_WARM].kind != TLB_NO_FAULT)
      book(site, line, touch, a);
}

void tg_recorder_touch(TgSite* site, TgLine* line, tlb_touch touch, Addr a, ULong instructions)
{
   if (options != NULL) /* else only writes after a fork are watched */
      touch_page(site, line, TG_BY_PROGRAM, VG_(get_running_tid)(), touch, a, instructions);
}

static void kernel_touches(CorePart part, ThreadId tid, Addr a, SizeT len,
                           tlb_touch touch)
{
   if (!started || len == 0
       || (part != Vg_CoreSysCall && part != Vg_CoreSysCallArgInMem
           && part != Vg_CoreSignal))
      return;
   tg_interruptions_touch(a, len, touch == TLB_TOUCH_WRITE);
   TgSite* site = part == Vg_CoreSignal ? NULL : tg_site_of_syscall(tid);
   const Int by = part == Vg_CoreSignal ? TG_BY_SIGNAL : syscall_of[tid];
   tg_touches_bytes(site == NULL ? 0 : site->address, a, len, touch);
   Addr at = a;
   for (;;) {
      touch_page(site, NULL, by, tid, touch, at, tg_instructions());
      const Addr next = (at | page_mask) + 1;
      if (next - a >= len || next < a)
         break;
      at = next;
   }
   tg_page_use_bytes(a, len);
   if (site != NULL)
      tg_site_release(site);
}

void tg_recorder_kernel_reads(CorePart part, ThreadId tid, Addr a, SizeT len)
{
   if (options == NULL)
      return;
   if (part != Vg_CoreSysCall || !tg_payload_keeps(tid, a, len))
      kernel_touches(part, tid, a, len, TLB_TOUCH_READ);
}

static void payload_read(ThreadId tid, Addr a, SizeT len)
{
   kernel_touches(Vg_CoreSysCall, tid, a, len, TLB_TOUCH_READ);
}

void tg_recorder_kernel_wrote(CorePart part, ThreadId tid, Addr a, SizeT len)
{
   if (options != NULL)
      kernel_touches(part, tid, a, len, TLB_TOUCH_WRITE);
}

/* --- The core's events --- */

static void exec_touch(Addr a, tlb_touch touch)
{
   tg_touches_bytes(0, a, 1, touch);
   touch_page(NULL, NULL, TG_BY_EXEC, 1, touch, a, tg_instructions());
}

/* The kernel clears the rest of the page after a segment's bytes from the file, and stores the
   arguments. */
static void exec_uses(void)
{
   const TgImage* image = tg_start_image();
   const TgCleared cleared = tg_program_cleared(image->interpreter);
   for (UInt i = 0; i < cleared.n; i++)
      tg_page_use_bytes(cleared.at[i], -cleared.at[i] & page_mask);
   tg_page_use_bytes(image->sp, image->stack_end - image->sp);
}

void tg_recorder_started(void)
{
   if (options == NULL || started)
      return;
   started = True;
   tg_exec_image_touches(exec_touch);
   exec_uses();
}

void tg_recorder_pre_syscall(ThreadId tid, UInt number, const UWord* args)
{
   if (options == NULL)
      return;
   syscall_of[tid] = (Int)number;
   tg_payload_begin(tid, number, args);
}

void tg_recorder_post_syscall(ThreadId tid, UInt number, SysRes result)
{
   if (options == NULL)
      return;
   tg_payload_end(tid, result, payload_read);
   syscall_of[tid] = TG_BY_PROGRAM;
   if (tg_exec_image_vvar() == 0)
      return;
   /* Natively these are functions of the vDSO, which read the kernel's data page. */
   if (number == __NR_clock_gettime || number == __NR_gettimeofday
       || number == tg_arch.syscalls.time)
      touch_page(NULL, NULL, TG_BY_PROGRAM, tid, TLB_TOUCH_READ, tg_exec_image_vvar(),
                 tg_instructions());
   else if (number == __NR_getrandom && tg_start_in_vdso(VG_(get_IP)(tid)))
      touch_page(NULL, NULL, TG_BY_PROGRAM, tid, TLB_TOUCH_READ,
                 tg_exec_image_vvar() + VVAR_RANDOM_PAGE * VKI_PAGE_SIZE, tg_instructions());
}

/* A child has a log of its own. */
static void forked(Bool is_child)
{
   const ThreadId tid = VG_(get_running_tid)();
   if (is_child)
      tg_recorder_zero();
   TgKernelWrite write[TG_MAX_FORK_WRITES];
   const UInt n = tg_forks_kernel_writes(is_child, write);
   for (UInt i = 0; i < n; i++) {
      tg_page_use_bytes(write[i].at, write[i].bytes);
      touch_page(NULL, NULL, syscall_of[tid], tid, TLB_TOUCH_WRITE, write[i].at,
                 tg_instructions());
   }
}

void tg_recorder_init(const TgOptions* o)
{
   options = o;
   page_mask = (1UL << o->page_shift) - 1;
   tg_log_init();
   tg_mmap_calls_on_fork(forked);
   if (o->faults.used)
      tg_page_use_init(o->page_shift, o->faults.lists_hidden);
   syscall_of = VG_(malloc)("tg.faults.threads",
                            VG_N_THREADS * sizeof *syscall_of);
   for (UInt i = 0; i < VG_N_THREADS; i++)
      syscall_of[i] = TG_BY_PROGRAM;
   if (o->faults.touches)
      tg_touches_init(o->page_shift);
   tg_payload_init();
}

void tg_recorder_zero(void)
{
   tg_log_clear();
   tg_page_use_clear();
   tg_touches_clear();
}

void tg_recorder_mark(const HChar* phase)
{
   tg_log_mark(phase, tg_instructions());
}

Bool tg_recorder_write(Int forked_from, const HChar* name)
{
   return tg_log_write(name, &options->faults, forked_from);
}
