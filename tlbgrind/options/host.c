/* Makes the host's machine. See options/host.h. */

#include "pub_tool_basics.h"

#include "sim/machine/machine_input.h"

#include "sim/machine/cpuid_here.h"
#include "options/host.h"

void tg_host_machine(tlb_machine* m)
{
   tlb_machine_from_cpuid(tlb_cpuid_here, NULL, m);
}
