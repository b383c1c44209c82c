/* Which machine file describes a RISC-V processor, by what Linux tells of it.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_RISCV_MODELS_H
#define TLB_RISCV_MODELS_H

#include <stddef.h>

/* The name of the file, or NULL if there is none. `name`, of n bytes: the line uarch of
   /proc/cpuinfo, which is the processor's name in the device tree. */
const char *tlb_riscv_file(const char *name, size_t n);

/* The same by the register marchid, of implementations with an open source, whose numbers no two
   share. */
const char *tlb_riscv_open_file(unsigned long long marchid);

#endif
