/* Processes of the tool's own. See base/own_process.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcproc.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "base/own_process.h"

/* The core's, without a header for tools. */
extern SysRes VG_(do_syscall)(UWord number, UWord a1, UWord a2, UWord a3, UWord a4, UWord a5,
                              UWord a6, UWord a7, UWord a8);

/* Linux's: also for processes that send another signal than SIGCHLD, or none. */
enum { ALL_CHILDREN = 0x40000000 };

Int tg_own_fork(void)
{
   /* Without flags: a copy, which sends signal number 0. On POWER the core takes the seventh
      argument for the instruction: 1 is sc, which each kernel has, else it is scv.
      clone() has no seventh. */
   const SysRes r = VG_(do_syscall)(__NR_clone, 0, 0, 0, 0, 0, 0, 1, 0);
   return sr_isError(r) ? -1 : (Int)sr_Res(r);
}

void tg_own_wait(Int pid)
{
   Int status;
   VG_(waitpid)(pid, &status, ALL_CHILDREN);
}
