/* Machines that are not given array by array: the processor that this runs on,
   and the default. */

#ifndef TG_HOST_H
#define TG_HOST_H

#include "tg_options.h"

/* Fills in m's name and design. What CPUID does not say is assumed, and the
   assumption noted; if it says nothing of use, takes the default machine. */
void tg_machine_host(TgMachine* m, UInt page_shift);

/* The documented default, which holds the base page only: 128 entries, 8-way,
   for instructions and 64 entries, 4-way, for data, over 1536 entries, 6-way,
   for both; LRU. The sizes that Intel's Skylake reports by the descriptors B6,
   03 and C3 of CPUID leaf 2 (Intel SDM, volume 2A, CPUID). */
void tg_machine_default(TgMachine* m, UInt page_shift);

/* Notes an assumption, for the summary and the out-file. */
void tg_machine_assume(TgMachine* m, const HChar* format, ...)
   PRINTF_CHECK(2, 3);

#endif
