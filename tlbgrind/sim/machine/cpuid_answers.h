/* The answers of CPUID, and which of their bits describe address translation.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_CPUID_ANSWERS_H
#define TLB_CPUID_ANSWERS_H

#include <stdint.h>

#include "sim/base/api.h"

TLB_API_BEGIN

typedef struct {
   uint32_t eax, ebx, ecx, edx;
} tlb_cpuid;

/* Answers CPUID for a leaf and sub-leaf; all zero where it has nothing. */
typedef tlb_cpuid tlb_cpuid_ask(void *opaque, uint32_t leaf, uint32_t subleaf);

enum {
   TLB_CPUID_MAX_LEAF_2 = 4,   /* calls of leaf 2; all known processors need one */
   TLB_CPUID_MAX_LEAF_18 = 63, /* sub-leaf of leaf 18H; all known have fewer */
   TLB_CPUID_MAX_ANSWERS = 96  /* leaves and sub-leaves that matter; fewer do */
};

/* The bits of an answer that tlb_cpuid_machine() reads: all zero for a leaf that it does
   not ask for. A reader of dumps keeps these bits and no others; two processors whose
   answers are equal in them have the same machine. */
tlb_cpuid tlb_cpuid_matters(uint32_t leaf, uint32_t subleaf);

TLB_API_END

#endif
