/* The machine that this code runs on: by CPUID, or by what Linux tells of each CPU.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_HOST_HERE_H
#define TLB_HOST_HERE_H

#include <stddef.h>

#include "sim/machine/machine.h"

/* Reads up to `size` bytes from the beginning of the file; returns how many it has read, or a
   negative number if there is no such file. */
typedef long tlb_file_begin(void *opaque, const char *path, char *text, size_t size);

/* The machine file of the processor at hand: of Arm by the register MIDR of each CPU, which Linux
   has below /sys/devices/system/cpu, or else by /proc/cpuinfo; of POWER and RISC-V by the latter.
   If the CPUs differ, it is that of the CPU with the largest cpu_capacity, and a note names the
   others. Returns 1; or 0 with the reason, which is empty if this is none of these. */
int tlb_machine_of_cpus(tlb_file_begin *read, void *opaque, tlb_machine *out, tlb_reason *why);

/* The machine at hand. What cannot be known is replaced by a default, and notes say so. */
void tlb_machine_here(tlb_file_begin *read, void *opaque, tlb_machine *out);

#endif
