/* Functions of ppc64le whose references are known. See refs.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   - A load-and-reserve is one read, a store-conditional one write, whether it stores or not.
   - A quadword by LQ and STQ is two references, and so is a vector by the instructions that take it
     as two doublewords; a vector by others is one. Of LXSDX, Vex reads its doubleword twice.
   - DCBZ writes its block of 128 bytes in doublewords. */

#define COMMON ""
#define END "blr\n"
#define CLOBBERED "memory"
enum { COMMON_IR = 0 };

#define LIST \
   FUNCTION(nothing, 0, 0, 0, "") \
   FUNCTION(loads, 6, 6, 0, \
            "lbz 5, 0(3)\n lhz 6, 2(3)\n lwz 7, 4(3)\n ld 8, 8(3)\n lha 5, 2(3)\n lwa 6, 4(3)\n") \
   FUNCTION(stores, 4, 0, 4, "stb 5, 0(3)\n sth 5, 2(3)\n stw 5, 4(3)\n std 5, 8(3)\n") \
   FUNCTION(forms, 9, 4, 4, \
            "ldu 5, 8(3)\n li 6, 8\n ldx 7, 3, 6\n lwzux 7, 3, 6\n ldbrx 7, 3, 6\n" \
            "stdux 7, 4, 6\n stdu 7, -8(4)\n sthbrx 7, 4, 6\n stwx 7, 4, 6\n") \
   FUNCTION(quadwords, 2, 2, 2, "lq 6, 0(3)\n stq 6, 0(4)\n") \
   FUNCTION(page_end, 4, 1, 1, "addi 5, 3, 4094\n ld 6, 0(5)\n addi 5, 5, 1\n std 6, 0(5)\n") \
   FUNCTION(floats, 6, 3, 3, "lfd 0, 0(3)\n stfd 0, 0(4)\n lfs 1, 8(3)\n stfs 1, 8(4)\n" \
            "lfiwzx 2, 0, 3\n stfiwx 2, 0, 4\n") \
   FUNCTION(vectors, 4, 2, 2, "lvx 0, 0, 3\n stvx 0, 0, 4\n lvewx 1, 0, 3\n stvewx 1, 0, 4\n") \
   FUNCTION(doublewords, 4, 4, 3, "lxvd2x 0, 0, 3\n stxvd2x 0, 0, 4\n lxsdx 1, 0, 3\n" \
            "stxsdx 1, 0, 4\n") \
   FUNCTION(reserved, 5, 1, 1, \
            "1: ldarx 5, 0, 3\n addi 5, 5, 1\n stdcx. 5, 0, 3\n bne- 1b\n nop\n") \
   FUNCTION(reserved_loop, 2 + 5 * 6, 6, 6, "li 7, 6\n mtctr 7\n 1: lwarx 5, 0, 3\n" \
            "addi 5, 5, 1\n stwcx. 5, 0, 3\n bne- 1b\n bdnz 1b\n") \
   FUNCTION(zeroes, 1, 0, 16, "dcbz 0, 4\n") \
   FUNCTION(prefetches, 3, 0, 0, "dcbt 0, 3\n dcbtst 0, 3\n dcbtt 0, 3\n") \
   FUNCTION(many_pages_apart, 2 + 9 * 4, 9, 9, "li 7, 9\n mtctr 7\n 1: lwz 5, 0(3)\n" \
            "stw 5, 0(4)\n addi 4, 4, 409\n bdnz 1b\n")

#include "refs.h"
