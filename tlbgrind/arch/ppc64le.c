/* ppc64le. See arch/arch.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_guest.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "arch/arch.h"

enum { EM_PPC64_ = 21 };

const TgArch tg_arch = {
   .isa = "ppc64",
   .registers = {
      .sp = TG_GUEST(GPR1), .result = TG_GUEST(GPR3), .request = TG_GUEST(GPR4),
      .links = True,
      .first = TG_GUEST(GPR0),
      .syscall_number = TG_GUEST(GPR0),
      .syscall_argument = { TG_GUEST(GPR3), TG_GUEST(GPR4), TG_GUEST(GPR5), TG_GUEST(GPR6),
                            TG_GUEST(GPR7), TG_GUEST(GPR8) },
   },
   .syscalls = {
      .mmap = __NR_mmap, .ipc = __NR_ipc, .time = __NR_time, .vfork = __NR_vfork,
      .seccomp = __NR_seccomp,
      .getrlimit = __NR_ugetrlimit,
      .shmget = 395, .shmat = 397, /* which Valgrind 3.19 does not name */
      .clone_child_number = 4,
      .bytes = 4, .code = { 0x02, 0x00, 0x00, 0x44 }, /* sc */
      .other_code = { 0x01, 0x00, 0x00, 0x44 }, /* scv 0 */
      .red_zone = 288,
      .arguments_change = True,
      .map_locked = 0x80, .mcl_current = 0x2000,
   },
   /* With pages of 64K: arch/powerpc/include/asm/task_size_64.h, elf.h */
   .layout = {
      .stack_top = 0x800000000000, .task_size = 0x800000000000,
      .pie_base = 0x100000000, .static_pie_break = 0x100000000,
   },
   .places = {
      /* Valgrind's address range and its own memory there are those of amd64: arch/amd64.c. */
      .mask = (1ULL << 36) - 1,
      .room = 4ULL << 30, .low_break_up = 21ULL << 30,
   },
   .vdso = { .elf_machine = EM_PPC64_ },
   .prefetches = TG_CODE_PPC64LE,
};

TgEntered tg_arch_entered(const VexGuestArchState* guest)
{
   return (TgEntered){ guest->guest_GPR1, guest->guest_LR,
                       { guest->guest_GPR3, guest->guest_GPR4, guest->guest_GPR5 } };
}

/* A caller with the same r2 enters behind the two instructions that compute it from r12, or, in
   programs with fixed addresses, load it (ELFv2 ABI, 2.3.2.1). */
Addr tg_arch_global_entry(Addr a)
{
   enum { ADDIS_R2_R12 = 0x3c4c, LIS_R2 = 0x3c40, ADDI_R2_R2 = 0x3842, BYTES = 8 };
   const Addr begin = a - BYTES;
   if (!VG_(am_is_valid_for_client)(begin, BYTES, VKI_PROT_READ))
      return a;
   const UInt first = *(const UInt*)begin >> 16, second = *(const UInt*)(begin + 4) >> 16;
   return (first == ADDIS_R2_R12 || first == LIS_R2) && second == ADDI_R2_R2 ? begin : a;
}

Bool tg_arch_only_jumps(Addr a)
{
   (void)a;
   return False;
}
