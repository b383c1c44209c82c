/* The machine for the processor that this runs on. */

#include "pub_tool_basics.h"

#include "sim/machine_input.h"

#include "cpuid_here.h"
#include "tg_host.h"

void tg_host_machine(tlb_machine* m)
{
   tlb_machine_from_cpuid(cpuid_here, NULL, m);
}
