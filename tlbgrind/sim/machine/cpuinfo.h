/* /proc/cpuinfo of Linux, of x86, Arm, POWER and RISC-V processors.

   It has no translation arrays, but the numbers by which the processor is known, as lines
   "KEY : VALUE" in a block for each CPU. So it names one of the built-in machine files.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_CPUINFO_H
#define TLB_CPUINFO_H

#include <stddef.h>

#include "sim/machine/geometry.h"

enum { TLB_MAX_CPUINFO_PROCESSORS = 8 };

typedef struct {
   uint32_t cpu;     /* number of the first such CPU */
   uint32_t cpus;    /* how many there are */
   const char *file; /* the machine file that describes it */
   char words[64];   /* what the numbers are */
} tlb_cpuinfo_processor;

/* The processors that differ, in the file's order. */
typedef struct {
   unsigned n;
   tlb_cpuinfo_processor processor[TLB_MAX_CPUINFO_PROCESSORS];
} tlb_cpuinfo;

/* Whether the text looks like that file: by its first line that is not empty. */
int tlb_is_cpuinfo(const char *text, size_t size);

/* Reads such a file. Returns 1, or 0 with the line to blame (from 1) and the reason: also if there
   is a processor that no machine file describes. */
int tlb_cpuinfo_read(const char *text, size_t size, tlb_cpuinfo *out, uint64_t *line,
                     tlb_reason *why);

#endif
