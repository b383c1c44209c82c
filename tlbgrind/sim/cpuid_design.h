/* What CPUID says of the translation arrays for 4K pages.

   Covers the three ways in which processors describe them: AMD's and Hygon's
   leaves 80000005H and 80000006H (AMD64 Architecture Programmer's Manual,
   volume 3, appendix E.4), Intel's descriptors of leaf 2 and its leaf 18H
   (Intel SDM, volume 2A, CPUID).

   For tlb_design only; tlb_cpuid_machine() of cpuid.h says all.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_CPUID_DESIGN_H
#define TLB_CPUID_DESIGN_H

#include "cpuid.h"
#include "hierarchy.h"

enum { TLB_MAX_CPUID_NOTES = 8 };

/* What the answers mean, and in words what had to be assumed. */
typedef struct {
   tlb_design design;
   tlb_reason note[TLB_MAX_CPUID_NOTES];
   unsigned n_notes;
} tlb_cpuid_design;

/* Returns 1 if both sides of the first level are known, else 0: then the
   last note says what is missing. */
int tlb_cpuid_decode(tlb_cpuid_ask *ask, void *opaque, tlb_cpuid_design *out);

#endif
