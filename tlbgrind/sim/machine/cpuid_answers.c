/* Which bits of CPUID's answers describe address translation. */

#include "sim/machine/cpuid_answers.h"

static const struct {
   uint32_t leaf;
   uint32_t subleaves; /* 0 .. subleaves - 1 */
   tlb_cpuid bits;
} matters[] = {
   { 0, 1, { ~0u, ~0u, ~0u, ~0u } },
   /* version; hypervisor */
   { 1, 1, { ~0u, 0, 1u << 31, 0 } },
   { 2, TLB_CPUID_MAX_LEAF_2, { ~0u, ~0u, ~0u, ~0u } },
   /* hybrid */
   { 7, 1, { 0, 0, 0, 1u << 15 } },
   { 0x18, TLB_CPUID_MAX_LEAF_18 + 1, { ~0u, ~0u, ~0u, ~0u } },
   /* kind of core, and its model */
   { 0x1a, 1, { ~0u, 0, 0, 0 } },
   /* the hypervisor's name */
   { 0x40000000u, 1, { 0, ~0u, ~0u, ~0u } },
   { 0x80000000u, 1, { ~0u, 0, 0, 0 } },
   /* pages of 1G; long mode */
   { 0x80000001u, 1, { 0, 0, 0, 1u << 26 | 1u << 29 } },
   { 0x80000002u, 1, { ~0u, ~0u, ~0u, ~0u } },
   { 0x80000003u, 1, { ~0u, ~0u, ~0u, ~0u } },
   { 0x80000004u, 1, { ~0u, ~0u, ~0u, ~0u } },
   { 0x80000005u, 1, { ~0u, ~0u, 0, 0 } },
   { 0x80000006u, 1, { ~0u, ~0u, 0, 0 } },
   { 0x80000019u, 1, { ~0u, ~0u, 0, 0 } },
   /* second level in units of 32 */
   { 0x80000021u, 1, { 1u << 14, 0, 0, 0 } },
};

enum { N_MATTERS = sizeof matters / sizeof matters[0] };

tlb_cpuid tlb_cpuid_matters(uint32_t leaf, uint32_t subleaf)
{
   for (unsigned i = 0; i < N_MATTERS; i++) {
      if (matters[i].leaf == leaf && subleaf < matters[i].subleaves)
         return matters[i].bits;
   }
   return (tlb_cpuid){ 0, 0, 0, 0 };
}
