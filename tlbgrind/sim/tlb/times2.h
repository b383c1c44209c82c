/* Two times at once, in one vector of 16 bytes.

   The earliest or the latest of many takes half as many instructions this way. SSE2 has no
   instruction for the larger of two 64-bit numbers, but one for the larger of two doubles;
   and doubles that are not negative have the order of the numbers with the same bits. So
   times must stay below 0x7FF << 52, where infinity and NaN begin. (GCC takes that instruction
   only if it knows this, by TG_TIMES_CFLAGS of local.mk. Without, the result is the same.)

   Where doubles would be computed by the x87 they are numbers: translated code calls the tool with
   registers of the program's on the stack of the x87, and what is loaded when it is full is NaN.

   These are GCC's vector extensions, which clang has, too: without vector registers the same
   source works number by number.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_TIMES2_H
#define TLB_TIMES2_H

#include <stdint.h>

/* How functions pass vectors depends on the processor's registers, but these are all inlined. */
#pragma GCC diagnostic ignored "-Wpsabi"

typedef int64_t tlb_numbers2 __attribute__((vector_size(16)));
#if defined(__i386__) && !defined(__SSE2_MATH__)
typedef tlb_numbers2 tlb_times2;
#else
typedef double tlb_times2 __attribute__((vector_size(16)));
#endif

static inline tlb_times2 tlb_times2_at(const uint64_t *a, const uint64_t *b)
{
   return (tlb_times2)(tlb_numbers2){ (int64_t)*a, (int64_t)*b };
}

static inline tlb_times2 tlb_later2(tlb_times2 a, tlb_times2 b)
{
   return (tlb_times2){ a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1] };
}

static inline tlb_times2 tlb_earlier2(tlb_times2 a, tlb_times2 b)
{
   return (tlb_times2){ a[0] < b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1] };
}

/* All bits on where a is before b. */
static inline tlb_numbers2 tlb_before2(tlb_times2 a, tlb_times2 b)
{
   return (tlb_numbers2)(a < b);
}

/* Of each pair that of a where the bits of `which` are on, else that of b. */
static inline tlb_numbers2 tlb_chosen2(tlb_numbers2 which, tlb_numbers2 a,
                                       tlb_numbers2 b)
{
   return b ^ ((a ^ b) & which);
}

static inline tlb_times2 tlb_swapped2(tlb_times2 a)
{
   return (tlb_times2){ a[1], a[0] };
}

#endif
