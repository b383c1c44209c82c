/* What CPUID says of the translation arrays for 4K pages.

   Covers the three ways in which processors describe them: AMD's and Hygon's
   leaves 80000005H and 80000006H (AMD64 Architecture Programmer's Manual,
   volume 3, appendix E.4), Intel's descriptors of leaf 2 and its leaf 18H
   (Intel SDM, volume 2A, CPUID).

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_CPUID_H
#define TLB_CPUID_H

#include "hierarchy.h"

typedef struct {
   uint32_t eax, ebx, ecx, edx;
} tlb_cpuid;

/* Answers CPUID for a leaf and sub-leaf; all zero where it has nothing. */
typedef tlb_cpuid tlb_cpuid_ask(void *opaque, uint32_t leaf, uint32_t subleaf);

enum { TLB_MAX_CPUID_NOTES = 8 };

/* What the answers mean, and in words what had to be assumed. */
typedef struct {
   tlb_design design;
   tlb_reason note[TLB_MAX_CPUID_NOTES];
   unsigned n_notes;
} tlb_cpuid_machine;

/* Returns 1 if both sides of the first level are known, else 0: then the
   last note says what is missing. */
int tlb_cpuid_decode(tlb_cpuid_ask *ask, void *opaque, tlb_cpuid_machine *out);

#endif
