/* Tells of filters for system calls. See tool/sandbox.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcprint.h"
#include "pub_tool_options.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "arch/arch.h"
#include "tool/sandbox.h"

/* linux/prctl.h, linux/seccomp.h */
enum { LINUX_PR_SET_SECCOMP = 22, LINUX_SECCOMP_SET_MODE_STRICT = 0,
       LINUX_SECCOMP_SET_MODE_FILTER = 1 };

static Bool sets_filter(UInt number, const UWord* args)
{
   if (number == __NR_prctl)
      return args[0] == LINUX_PR_SET_SECCOMP;
   return number == tg_arch.syscalls.seccomp
          && (args[0] == LINUX_SECCOMP_SET_MODE_STRICT
              || args[0] == LINUX_SECCOMP_SET_MODE_FILTER);
}

void tg_sandbox_pre_syscall(UInt number, const UWord* args)
{
   static Bool said;
   if (said || VG_(clo_verbosity) == 0 || !sets_filter(number, args))
      return;
   said = True;
   VG_(umsg)("The program restricts its system calls (seccomp), and so Valgrind's: if it is "
             "killed\n");
   VG_(umsg)("now, or there is no out-file, switch that off; docs/troubleshooting.md has more.\n");
}
