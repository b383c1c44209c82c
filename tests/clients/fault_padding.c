/* A program that touches none of its data: whatever faults there, the kernel did it.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   Its linker script gives it two segments whose last page the kernel clears. */

__attribute__((section(".padded"))) volatile int padded = 1;
__attribute__((section(".padding,\"aw\",@nobits#"))) volatile int padding;
__attribute__((section(".written"))) volatile int written = 1;
__attribute__((section(".zeros,\"aw\",@nobits#"))) volatile char zeros[3 * 4096];

__attribute__((noreturn)) void begin(void)
{
   __asm__ volatile("syscall" : : "a"(60), "D"(0)); /* exit */
   __builtin_unreachable();
}
