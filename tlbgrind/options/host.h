/* The machine of the processor that the tool runs on. */

#ifndef TG_HOST_H
#define TG_HOST_H

#include "pub_tool_basics.h"

#include "sim/machine/machine.h"

/* Makes the machine of the host's processor, by CPUID; see tlb_machine_from_cpuid(). What misses
   cost is taken from the user's file about this machine, if tg_measure has written one; a note says
   so, or why it is not used. Returns that note, or NULL if there is no such file. */
const HChar* tg_host_machine(tlb_machine* m);

#endif
