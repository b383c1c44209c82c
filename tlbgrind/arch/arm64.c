/* arm64. See arch/arch.h. */

#include "pub_tool_basics.h"

#include "pub_tool_guest.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vkiscnums.h"

#include "arch/arch.h"

enum { EM_AARCH64_ = 183 };

/* Vex's arm64 back end stops at IRExpr_GSPTR() among a helper's arguments (3.19 to 3.27). It keeps
   the state's address in x21, and x9 is free in a called function. */
__asm__(".text\n"
        ".p2align 2\n"
        ".globl tg_arm64_pass_state\n"
        ".hidden tg_arm64_pass_state\n"
        ".type tg_arm64_pass_state, %function\n"
        "tg_arm64_pass_state:\n"
        "   mov x9, x0\n"
        "   mov x0, x21\n"
        "   br x9\n"
        ".size tg_arm64_pass_state, . - tg_arm64_pass_state\n"
        ".previous\n");

extern void tg_arm64_pass_state(void);

const TgArch tg_arch = {
   .isa = "aarch64",
   .registers = {
      .sp = TG_GUEST(XSP), .result = TG_GUEST(X0), .request = TG_GUEST(X4),
      .links = True,
      .first = TG_GUEST(X0),
      .syscall_number = TG_GUEST(X8),
      .syscall_argument = { TG_GUEST(X0), TG_GUEST(X1), TG_GUEST(X2), TG_GUEST(X3),
                            TG_GUEST(X4), TG_GUEST(X5) },
   },
   .syscalls = {
      .mmap = __NR_mmap, .ipc = TG_NO_SYSCALL, .time = TG_NO_SYSCALL, .vfork = TG_NO_SYSCALL,
      .seccomp = __NR_seccomp,
      .getrlimit = __NR_getrlimit,
      .shmget = __NR_shmget, .shmat = __NR_shmat,
      .clone_child_number = 4,
      .bytes = 4, .code = { 0x01, 0x00, 0x00, 0xd4 }, /* svc #0 */
      .arguments_change = True,
      .map_locked = 0x2000, .mcl_current = 1,
   },
   .layout = {
      .stack_top = 0x1000000000000, .task_size = 0x1000000000000,
      .pie_base = 0xaaaaaaaa0000, .static_pie_break = 0xaaaaaaaab000,
   },
   .code_folio_shift = 16,
   .places = {
      /* Valgrind's address range and its own memory there are those of amd64: arch/amd64.c. */
      .mask = (1ULL << 36) - 1,
      .room = 4ULL << 30, .low_break_up = 21ULL << 30,
   },
   .vdso = { .elf_machine = EM_AARCH64_, .large_from = { 6, 12 } },
   .prefetches = TG_CODE_ARM64,
   .state_passer = tg_arm64_pass_state,
};

TgEntered tg_arch_entered(const VexGuestArchState* guest)
{
   return (TgEntered){ guest->guest_XSP, guest->guest_X30,
                       { guest->guest_X0, guest->guest_X1, guest->guest_X2 } };
}

Addr tg_arch_global_entry(Addr a)
{
   return a;
}

/* Vex leaves B in the same way as BL. */
Bool tg_arch_only_jumps(Addr a)
{
   return *(const UInt*)a >> 26 == 5;
}
