/* CPUID of the processor that this code runs on.

   All answers are zero on other architectures.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_CPUID_HERE_H
#define TLB_CPUID_HERE_H

#include "sim/base/api.h"
#include "sim/machine/cpuid_answers.h"

TLB_API_BEGIN

/* A tlb_cpuid_ask. */
static inline tlb_cpuid tlb_cpuid_here(void *opaque, uint32_t leaf,
                                        uint32_t subleaf)
{
   tlb_cpuid r = { 0, 0, 0, 0 };
   (void)opaque;
#if defined(__x86_64__) || defined(__i386__)
   __asm__ volatile("cpuid"
                    : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
                    : "a"(leaf), "c"(subleaf));
#else
   (void)leaf;
   (void)subleaf;
#endif
   return r;
}

TLB_API_END

#endif
