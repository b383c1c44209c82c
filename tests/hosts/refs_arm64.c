/* Functions of arm64 whose references are known. See refs.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   - A pair is two references, and each register of a structure load is one.
   - A load-exclusive is one read, a store-exclusive one write, whether it stores or not.
   - CAS reads; other atomic instructions read, and then compare and swap, which is a second read. A
     compare and swap is a modify: its write is not counted.
   - DC ZVA is left out: Valgrind 3.19 does not know it. */

#define COMMON ""
#define END "ret\n"
#define CLOBBERED "memory"
enum { COMMON_IR = 0 };

#define LIST \
   FUNCTION(nothing, 0, 0, 0, "") \
   FUNCTION(loads, 5, 5, 0, \
            "ldrb w2, [x0]\n ldrh w3, [x0, #2]\n ldr w4, [x0, #4]\n ldr x5, [x0, #8]\n" \
            "ldrsw x6, [x0, #4]\n") \
   FUNCTION(stores, 4, 0, 4, \
            "strb w2, [x0]\n strh w2, [x0, #2]\n str w2, [x0, #4]\n str x2, [x0, #8]\n") \
   FUNCTION(forms, 8, 4, 3, \
            "ldr x2, [x0], #16\n ldr x3, [x0, #-8]!\n mov x4, #8\n ldr x5, [x0, x4]\n" \
            "str x5, [x0, x4, lsl #3]\n str x5, [x0], #8\n stur x5, [x0, #-3]\n" \
            "ldur x2, [x0, #-5]\n") \
   FUNCTION(literal, 3, 1, 0, "ldr x2, 1f\n b 2f\n .balign 8\n 1: .quad 5\n 2: mov x3, x2\n") \
   FUNCTION(pairs, 4, 4, 4, "ldp x2, x3, [x0]\n stp x2, x3, [x1]\n ldp w2, w3, [x0, #16]\n" \
            "stp w2, w3, [x1], #8\n") \
   FUNCTION(page_end, 3, 1, 1, "add x2, x0, #4094\n ldr x3, [x2]\n str x3, [x2, #1]\n") \
   FUNCTION(vectors, 6, 4, 4, "ldr q0, [x0]\n str q0, [x1]\n ldr d1, [x0]\n str s1, [x1]\n" \
            "ldp q2, q3, [x0]\n stp q2, q3, [x1]\n") \
   FUNCTION(structures, 4, 7, 2, "ld1 {v0.16b-v3.16b}, [x0]\n ld2 {v4.16b, v5.16b}, [x0]\n" \
            "st1 {v0.16b, v1.16b}, [x1]\n ld1r {v6.4s}, [x0]\n") \
   FUNCTION(exclusive, 5, 1, 1, \
            "1: ldxr x2, [x0]\n add x2, x2, #1\n stxr w3, x2, [x0]\n cbnz w3, 1b\n" \
            "nop\n") \
   FUNCTION(exclusive_loop, 1 + 6 * 6, 6, 6, "mov w4, #6\n 1: ldaxr x2, [x0]\n add x2, x2, #1\n" \
            "stlxr w3, x2, [x0]\n cbnz w3, 1b\n subs w4, w4, #1\n b.ne 1b\n") \
   FUNCTION(ordered, 2, 1, 1, "ldar x2, [x0]\n stlr x2, [x1]\n") \
   FUNCTION(atomics, 4, 7, 0, ".arch_extension lse\n ldadd x2, x3, [x0]\n swpal w2, w3, [x0]\n" \
            "cas x2, x3, [x0]\n stset x2, [x0]\n") \
   FUNCTION(prefetches, 3, 0, 0, \
            "prfm pldl1keep, [x0]\n prfm pstl2strm, [x0, #64]\n prfum pldl3keep, [x0, #-3]\n") \
   FUNCTION(many_pages_apart, 1 + 9 * 5, 9, 9, "mov w4, #9\n 1: ldr w2, [x0]\n str w2, [x1]\n" \
            "add x1, x1, #409\n subs w4, w4, #1\n b.ne 1b\n")

#include "refs.h"
