/* riscv64. See arch/arch.h. */

#include "pub_tool_basics.h"

#include "pub_tool_guest.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vkiscnums.h"

#include "arch/arch.h"

enum { EM_RISCV_ = 243 };

/* Vex's riscv64 back end passes s0 for IRExpr_GSPTR(), which is 2048 bytes above the state's begin
   (3.27; dispatch-riscv64-linux.S). t0 is free in a called function. */
__asm__(".text\n"
        ".p2align 2\n"
        ".globl tg_riscv64_pass_state\n"
        ".hidden tg_riscv64_pass_state\n"
        ".type tg_riscv64_pass_state, %function\n"
        "tg_riscv64_pass_state:\n"
        "   mv t0, a0\n"
        "   addi a0, s0, -2048\n"
        "   jr t0\n"
        ".size tg_riscv64_pass_state, . - tg_riscv64_pass_state\n"
        ".previous\n");

extern void tg_riscv64_pass_state(void);

const TgArch tg_arch = {
   .isa = "riscv64",
   .registers = {
      .sp = TG_GUEST(x2), .result = TG_GUEST(x10), .request = TG_GUEST(x14),
      .links = True,
      .first = TG_GUEST(x0),
      .syscall_number = TG_GUEST(x17),
      .syscall_argument = { TG_GUEST(x10), TG_GUEST(x11), TG_GUEST(x12), TG_GUEST(x13),
                            TG_GUEST(x14), TG_GUEST(x15) },
   },
   .syscalls = {
      .mmap = __NR_mmap, .ipc = TG_NO_SYSCALL, .time = TG_NO_SYSCALL, .vfork = TG_NO_SYSCALL,
      .seccomp = 277, /* which Valgrind 3.27 does not name */
      .getrlimit = __NR_getrlimit,
      .shmget = __NR_shmget, .shmat = __NR_shmat,
      .clone_child_number = 4,
      .bytes = 4, .code = { 0x73, 0x00, 0x00, 0x00 }, /* ecall */
      .arguments_change = True,
      .map_locked = 0x2000, .mcl_current = 1,
   },
   /* Of processors with three levels of tables (Sv39): arch/riscv/include/asm/processor.h, elf.h */
   .layout = {
      .stack_top = 0x4000000000, .task_size = 0x4000000000,
      .pie_base = 0x2aaaaaa000, .static_pie_break = 0x2aaaaab000,
   },
   /* Four levels (Sv48), and five, of which programs get as much without asking. */
   .large_layout = {
      .stack_top = 0x800000000000, .task_size = 0x800000000000,
      .pie_base = 0x555555555000, .static_pie_break = 0x555555556000,
   },
   .places = {
      /* Valgrind's own memory begins at the half of its range, 128 GiB: arch/amd64.c. */
      .mask = (1ULL << 36) - 1,
      .room = 4ULL << 30, .low_break_up = 21ULL << 30,
   },
   .vdso = { .elf_machine = EM_RISCV_, .large_from = { 6, 16 } },
   .prefetches = TG_CODE_RISCV64,
   .state_passer = tg_riscv64_pass_state,
};

TgEntered tg_arch_entered(const VexGuestArchState* guest)
{
   return (TgEntered){ guest->guest_x2, guest->guest_x1,
                       { guest->guest_x10, guest->guest_x11, guest->guest_x12 } };
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
