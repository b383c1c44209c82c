/* Passes the program's own file to execve(). See native/self_exec.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "arch/arch.h"
#include "base/proc_file.h"
#include "base/registers.h"
#include "native/self_exec.h"

/* The core's, without a header for tools: the program's file. */
extern Int VG_(cl_exec_fd);

/* The core takes the name from the program's memory only. So it is put below the stack pointer,
   beyond the bytes that the program may use there, for the length of the call. */
enum { MOST = 1024 };

static ThreadId changed_thread; /* 0: none */
static UWord before;
static Addr put_at;
static HChar covered[MOST]; /* what was there */

static Bool is_itself(Addr name)
{
   HChar own[32];
   static const HChar* const names[] = { "/proc/self/exe", "/proc/thread-self/exe" };
   if (!VG_(am_is_valid_for_client)(name, sizeof own, VKI_PROT_READ))
      return False;
   VG_(sprintf)(own, "/proc/%d/exe", VG_(getpid)());
   return VG_(strcmp)((const HChar*)name, names[0]) == 0
          || VG_(strcmp)((const HChar*)name, names[1]) == 0
          || VG_(strcmp)((const HChar*)name, own) == 0;
}

/* Finds the name of the program's file, of up to MOST bytes with its end. False: it has none. */
static Bool own_file(HChar* name)
{
   struct vg_stat st;
   return tg_proc_descriptor(VG_(cl_exec_fd), name, MOST) > 0 && name[0] == '/'
          && !sr_isError(VG_(stat)(name, &st));
}

void tg_self_exec_stopped(ThreadId tid)
{
   HChar name[MOST];
   const Addr at = VG_(get_SP)(tid) - tg_arch.syscalls.red_zone - MOST;
   if (!tg_arch.syscalls.arguments_change || tg_syscall_number(tid) != __NR_execve
       || !tg_is_at_syscall(tid) || !is_itself(tg_syscall_argument(tid, 0)) || !own_file(name)
       || !VG_(am_is_valid_for_client)(at, MOST, VKI_PROT_READ | VKI_PROT_WRITE))
      return;
   changed_thread = tid;
   before = tg_syscall_argument(tid, 0);
   put_at = at;
   VG_(memcpy)(covered, (const HChar*)at, MOST);
   VG_(strcpy)((HChar*)at, name);
   tg_set_register(tid, tg_arch.registers.syscall_argument[0], at);
}

void tg_self_exec_done(ThreadId tid)
{
   if (changed_thread != tid || tid == 0)
      return;
   changed_thread = 0;
   VG_(memcpy)((HChar*)put_at, covered, MOST);
   /* On most architectures the result is in the register of the first argument. */
   if (tg_arch.registers.syscall_argument[0] != tg_arch.registers.result)
      tg_set_register(tid, tg_arch.registers.syscall_argument[0], before);
}
