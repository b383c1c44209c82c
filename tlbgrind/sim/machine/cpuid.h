/* A machine from what CPUID answers.

   Processors of the x86 family describe their translation arrays in one of three ways: by the
   descriptors of leaf 2 and by leaf 18H (Intel and Zhaoxin; Intel SDM, volume 2A, CPUID), or
   by leaves 80000005H, 80000006H and 80000019H (AMD and Hygon; AMD64 Architecture
   Programmer's Manual, volume 3, appendix E.4). All are read, for all page sizes.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_CPUID_H
#define TLB_CPUID_H

#include "sim/base/api.h"
#include "sim/machine/cpuid_answers.h"
#include "sim/machine/machine.h"

TLB_API_BEGIN

/* Makes a machine of the answers: title, instruction set, arrays, the steps of
   a walk, and notes, which say in words what was unclear and what has been
   assumed. The name is "cpuid"; callers know a better one. Cycles, coalescing
   and the year are not in CPUID and stay unknown or off; replacement policies
   are not either: LRU, marked as unknown.

   Returns 1 if CPUID tells enough for a machine that passes
   tlb_machine_check(). Else returns 0; then there are no arrays, and the last
   note says what is missing. */
int tlb_cpuid_machine(tlb_cpuid_ask *ask, void *opaque, tlb_machine *out);

/* The name of the machine file that describes processors of this vendor,
   family and model, or NULL if there is none. */
const char *tlb_cpuid_machine_file(tlb_cpuid_ask *ask, void *opaque);

TLB_API_END

#endif
