/* The program starts and lies as natively. See faults/native.h. */

#include "pub_tool_basics.h"

#include "pub_tool_vki.h"

#include "faults/mmap_calls.h"
#include "faults/exec_image.h"
#include "faults/native.h"
#include "faults/native_mmap.h"
#include "faults/native_start.h"

static const TgOptions* options; /* NULL: nothing is kept account of */
static Bool started;

void tg_native_init(const TgOptions* o)
{
   /* Of the model only its mappings are used if no faults are recorded, and those are the
      host's, whatever base pages the machines have. */
   tlb_fault_settings mappings_only = { .page_shift = (UInt)__builtin_ctzl(VKI_PAGE_SIZE) };
   if (!o->native && !o->faults.on)
      return;
   options = o;
   tg_mmap_calls_init(o->faults.on ? &o->faults.settings : &mappings_only, o->faults.on);
}

void tg_native_started(ThreadId tid)
{
   if (options == NULL)
      return;
   tg_native_mmap_done(tid);
   if (started)
      return;
   tg_native_start(tid, options->native);
   tg_start_space(tid, options->native);
   started = True;
}

void tg_native_stopped(ThreadId tid)
{
   if (options != NULL && options->native)
      tg_native_mmap_stopped(tid);
}

void tg_native_pre_syscall(UInt number, const UWord* args)
{
   if (options != NULL)
      tg_mmap_calls_pre_syscall(number, args);
}

void tg_native_post_syscall(ThreadId tid, UInt number, const UWord* args, SysRes result)
{
   if (options == NULL)
      return;
   tg_mmap_calls_post_syscall(number, args, result);
   tg_native_mmap_done(tid);
}
