/* The list of replacement policies, by geometry. What each of them is: policy.h.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_POLICIES_H
#define TLB_POLICIES_H

#include "sim/tlb/policy.h"

const tlb_policy_rules *tlb_policy_of(const tlb_geometry *g);

#endif
