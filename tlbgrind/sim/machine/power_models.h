/* Which machine file describes a POWER processor, by its register PVR.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_POWER_MODELS_H
#define TLB_POWER_MODELS_H

#include <stdint.h>

/* The name of the file, or NULL if there is none. `version`: the upper half of the register. */
const char *tlb_power_file(uint32_t version);

#endif
