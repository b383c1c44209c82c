/* The list of replacement policies. See policies.h. */

#include "sim/tlb/policies.h"

#define DECLARED(name, file, words, ways, seed) extern const tlb_policy_rules tlb_policy_##file;
TLB_POLICIES(DECLARED)

const tlb_policy_rules *tlb_policy_of(const tlb_geometry *g)
{
#define ROW(name, file, words, ways, seed) [name] = &tlb_policy_##file,
   static const tlb_policy_rules *const rules[TLB_N_POLICIES] = { TLB_POLICIES(ROW) };
   return rules[g->policy];
}
