/* Which machine file describes an Arm processor, by what its register MIDR_EL1 says.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_ARM_MODELS_H
#define TLB_ARM_MODELS_H

#include <stdint.h>

/* The name of the file, or NULL if there is none. */
const char *tlb_arm_file(uint32_t implementer, uint32_t part, uint32_t variant);

#endif
