/* Passes the program's own file to execve(). See native/self_exec.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_guest.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "base/registers.h"
#include "native/self_exec.h"

#if defined(VGA_amd64)

/* The core's, without a header for tools: the program's file. */
extern Int VG_(cl_exec_fd);

#define GUEST(field) ((PtrdiffT)offsetof(VexGuestAMD64State, guest_##field))

/* The longest name that is passed on, and how far below the stack pointer it is put: behind what the
   program may use there, and a signal's frame is no matter in an exec. */
enum { MOST = 1024, BELOW = 4096 };

static ThreadId changed; /* 0: none */
static UWord before;

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

/* Copies the name of the program's file. False: it has none. */
static Bool own_file(HChar* name)
{
   HChar link[32];
   struct vg_stat st;
   VG_(sprintf)(link, "/proc/self/fd/%d", VG_(cl_exec_fd));
   const SSizeT n = VG_(readlink)(link, name, MOST - 1);
   if (n <= 0 || name[0] != '/')
      return False;
   name[n] = '\0';
   return !sr_isError(VG_(stat)(name, &st));
}

void tg_self_exec_stopped(ThreadId tid)
{
   const Addr at = (VG_(get_SP)(tid) - BELOW) & ~(Addr)15;
   if (tg_register(tid, GUEST(RAX)) != __NR_execve || !tg_is_at_syscall(tid)
       || !is_itself(tg_register(tid, GUEST(RDI)))
       || !VG_(am_is_valid_for_client)(at, MOST, VKI_PROT_READ | VKI_PROT_WRITE)
       || !own_file((HChar*)at))
      return;
   changed = tid;
   before = tg_register(tid, GUEST(RDI));
   tg_set_register(tid, GUEST(RDI), at);
}

void tg_self_exec_done(ThreadId tid)
{
   if (changed != tid || tid == 0)
      return;
   changed = 0;
   tg_set_register(tid, GUEST(RDI), before);
}

#else

void tg_self_exec_stopped(ThreadId tid)
{
   (void)tid;
}

void tg_self_exec_done(ThreadId tid)
{
   (void)tid;
}

#endif
