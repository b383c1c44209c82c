/* Functions of riscv64 whose references are known. See refs.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   - Compressed instructions are instructions like others.
   - A load-reserved is one read. Vex has a store-conditional as a read, and a compare and swap,
     which is another; so it has other atomic instructions. A compare and swap is a modify: its
     write is not counted. */

#define COMMON ""
#define END "ret\n"
#define CLOBBERED "memory"
enum { COMMON_IR = 0 };

#define LIST \
   FUNCTION(nothing, 0, 0, 0, "") \
   FUNCTION(loads, 7, 7, 0, \
            "lb a2, 0(a0)\n lbu a3, 1(a0)\n lh a4, 2(a0)\n lhu a5, 4(a0)\n lw a2, 8(a0)\n" \
            "lwu a3, 12(a0)\n ld a4, 16(a0)\n") \
   FUNCTION(stores, 4, 0, 4, \
            "sb a2, 0(a0)\n sh a2, 2(a0)\n sw a2, 4(a0)\n sd a2, 8(a0)\n") \
   FUNCTION(compressed, 6, 2, 2, \
            ".option push\n .option rvc\n c.lw a2, 0(a0)\n c.ld a3, 8(a0)\n c.sw a2, 0(a1)\n" \
            "c.sd a3, 8(a1)\n c.li a2, 1\n c.mv a3, a2\n .option pop\n") \
   FUNCTION(literal, 3, 1, 0, "1: auipc a2, %pcrel_hi(2f)\n ld a3, %pcrel_lo(1b)(a2)\n j 3f\n" \
            ".balign 8\n 2: .quad 5\n 3:\n") \
   FUNCTION(page_end, 5, 1, 1, \
            "li a2, 4094\n add a2, a0, a2\n ld a3, 0(a2)\n sd a3, 1(a2)\n") \
   FUNCTION(floats, 4, 2, 2, \
            "fld fa0, 0(a0)\n fsd fa0, 0(a1)\n flw fa1, 8(a0)\n fsw fa1, 8(a1)\n") \
   FUNCTION(reserved, 5, 3, 0, \
            "1: lr.d a2, (a0)\n addi a2, a2, 1\n sc.d a3, a2, (a0)\n bnez a3, 1b\n nop\n") \
   FUNCTION(reserved_loop, 1 + 6 * 6, 18, 0, "li a4, 6\n 1: lr.w.aq a2, (a0)\n addi a2, a2, 1\n" \
            "sc.w.rl a3, a2, (a0)\n bnez a3, 1b\n addi a4, a4, -1\n bnez a4, 1b\n") \
   FUNCTION(atomics, 3, 6, 0, \
            "amoadd.d a2, a3, (a0)\n amoswap.w.aqrl a2, a3, (a0)\n amomaxu.d a2, a3, (a0)\n") \
   FUNCTION(prefetches, 2, 0, 0, \
            ".word 0x00156013\n .word 0x04356013\n" /* prefetch.r 0(a0), prefetch.w 64(a0) */) \
   FUNCTION(many_pages_apart, 2 + 9 * 5, 9, 9, "li a4, 9\n li a5, 409\n 1: ld a2, 0(a0)\n" \
            "sd a2, 0(a1)\n add a1, a1, a5\n addi a4, a4, -1\n bnez a4, 1b\n")

#include "refs.h"
