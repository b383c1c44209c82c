/* Sees when the program removes files with names of code. See tool/name_files.h. */

#include "pub_tool_basics.h"

#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "attribution/made_code.h"
#include "base/proc_file.h"
#include "base/program_text.h"
#include "tool/name_files.h"

/* Which argument is the path of a file that is lost; -1: none. */
static Int path_argument(UInt number, const UWord* args)
{
   switch (number) {
#if defined(__NR_unlink)
   case __NR_unlink: return 0;
#endif
#if defined(__NR_rename)
   case __NR_rename: return 0;
#endif
#if defined(__NR_open)
   case __NR_open: return (args[1] & VKI_O_TRUNC) != 0 ? 0 : -1;
#endif
#if defined(__NR_creat)
   case __NR_creat: return 0;
#endif
   case __NR_openat: return (args[2] & VKI_O_TRUNC) != 0 ? 1 : -1;
   case __NR_unlinkat: return 1;
#if defined(__NR_renameat)
   case __NR_renameat: return 1;
#endif
   case __NR_renameat2: return 1;
   case __NR_truncate: return 0;
   default: return -1;
   }
}

void tg_name_files_pre_syscall(UInt number, const UWord* args)
{
   HChar target[512];
   const HChar* path = NULL;
   if (!tg_has_made_code)
      return;
   const Int argument = path_argument(number, args);
   if (argument >= 0)
      path = tg_program_text(args[argument]);
   else if (number == __NR_ftruncate && tg_proc_descriptor((Int)args[0], target, sizeof target) > 0)
      path = target;
   if (path != NULL)
      tg_made_code_file_goes(path);
}
