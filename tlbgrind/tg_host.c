/* The machine for the processor that this runs on. */

#include "pub_tool_basics.h"

#include "sim/machine_input.h"

#include "tg_host.h"

#if defined(VGA_amd64) || defined(VGA_x86)

static tlb_cpuid ask_host(void* opaque, uint32_t leaf, uint32_t subleaf)
{
   tlb_cpuid r;
   (void)opaque;
   __asm__ volatile("cpuid"
                    : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
                    : "a"(leaf), "c"(subleaf));
   return r;
}

#else

static tlb_cpuid ask_host(void* opaque, uint32_t leaf, uint32_t subleaf)
{
   (void)opaque; (void)leaf; (void)subleaf;
   return (tlb_cpuid){ 0, 0, 0, 0 };
}

#endif

void tg_host_machine(tlb_machine* m)
{
   tlb_machine_from_cpuid(ask_host, NULL, m);
}
