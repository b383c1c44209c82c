/* Passes the core's events to the files of this folder. See native/native.h. */

#include "pub_tool_basics.h"

#include "pub_tool_vki.h"

#include "native/mmap_calls.h"
#include "native/exec_image.h"
#include "native/native.h"
#include "native/mmap_wishes.h"
#include "native/start.h"

static const TgOptions* options; /* NULL: --native-start=no and --faults=no */
static Bool started;

void tg_native_init(const TgOptions* o)
{
   /* If no faults are recorded, only the model's mappings are used. They consist of the host's
      pages, whatever base pages the machines have. */
   tlb_fault_settings mappings_only = { .page_shift = (UInt)__builtin_ctzl(VKI_PAGE_SIZE) };
   if (!o->native && !o->faults.simulated)
      return;
   options = o;
   tg_mmap_calls_init(o->faults.simulated ? &o->faults.settings : &mappings_only,
                      o->faults.simulated);
}

void tg_native_started(ThreadId tid)
{
   if (options == NULL)
      return;
   tg_mmap_wishes_done(tid);
   if (started)
      return;
   tg_start_set_right(tid, options->native);
   tg_exec_image_lay_out(tid, options->native);
   started = True;
}

void tg_native_stopped(ThreadId tid)
{
   if (options != NULL && options->native)
      tg_mmap_wishes_stopped(tid);
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
   tg_mmap_wishes_done(tid);
}
