/* What arm64, ppc64le and riscv64 have in common: mmap() with its arguments in registers, an area
   of each thread that no system call sets, and no CPUID. See arch/arch.h. */

#include "pub_tool_basics.h"

#include "pub_tool_tooliface.h"
#include "pub_tool_vkiscnums.h"

#include "arch/arch.h"

Bool tg_arch_is_mmap(UInt number, const UWord* args, UWord* flags)
{
   *flags = args[3];
   return number == __NR_mmap;
}

Addr tg_arch_thread_area(UInt number, const UWord* args)
{
   (void)number;
   (void)args;
   return 0;
}

void tg_arch_show_native_cpuid(void)
{
}

void tg_arch_add_statement(IRSB* out, IRStmt* st)
{
   addStmtToIRSB(out, st);
}
