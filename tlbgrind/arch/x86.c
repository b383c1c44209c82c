/* x86: 32-bit programs. See arch/arch.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_guest.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "arch/arch.h"

const TgArch tg_arch = {
   .registers = {
      .sp = TG_GUEST(ESP), .result = TG_GUEST(EAX), .request = TG_GUEST(EAX),
      .first = TG_GUEST(EAX),
      /* Bases of segments are in a table of the kernel's. */
      .syscall_number = TG_GUEST(EAX),
      .syscall_argument = { TG_GUEST(EBX), TG_GUEST(ECX), TG_GUEST(EDX), TG_GUEST(ESI),
                            TG_GUEST(EDI), TG_GUEST(EBP) },
   },
   .syscalls = {
      .mmap = __NR_mmap2, .ipc = __NR_ipc, .time = __NR_time, .vfork = __NR_vfork,
      .seccomp = __NR_seccomp,
      .getrlimit = __NR_ugetrlimit,
      .shmget = __NR_shmget, .shmat = __NR_shmat,
      .clone_child_number = 4,
      .bytes = 2, .code = { 0xcd, 0x80 }, /* int $0x80 */
      .map_32bit = 0x40, .map_locked = 0x2000, .mcl_current = 1,
   },
   /* arch/x86/mm/mmap.c, arch/x86/include/asm/elf.h */
   .layout = {
      .stack_top = 0xffffe000, .task_size = 0xffffe000,
      .pie_base = 0x56555000, .static_pie_break = 0x56555000,
   },
   /* No stand-in for the vDSO: the C library would enter the kernel through it. */
   .prefetches = TG_CODE_X86,
};

TgEntered tg_arch_entered(const VexGuestArchState* guest)
{
   const UInt* stack = (const UInt*)guest->guest_ESP;
   return (TgEntered){ guest->guest_ESP + 4, stack[0], { stack[1], stack[2], stack[3] } };
}

Addr tg_arch_global_entry(Addr a)
{
   return a;
}

Bool tg_arch_only_jumps(Addr a)
{
   (void)a;
   return False;
}

/* mmap() has its arguments in memory. */
Bool tg_arch_is_mmap(UInt number, const UWord* args, UWord* flags)
{
   const UWord* packed = (const UWord*)args[0];
   if (number != __NR_mmap) {
      *flags = args[3];
      return number == __NR_mmap2;
   }
   *flags = VG_(am_is_valid_for_client)(args[0], 6 * sizeof *packed, VKI_PROT_READ) ? packed[3] : 0;
   return True;
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
