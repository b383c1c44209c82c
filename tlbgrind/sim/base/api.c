/* The version of libtlbsim. */

#include "sim/base/api.h"

unsigned tlb_version(void)
{
   return TLBSIM_VERSION;
}
