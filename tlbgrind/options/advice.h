/* Machines of --advice: each processor, once for each kind of memory in larger pages. */

#ifndef TG_ADVICE_H
#define TG_ADVICE_H

#include "pub_tool_basics.h"

#include "sim/machine/geometry.h"

/* The list NAME,NAME@text:SIZE,... of each machine of `names`, in the form of --machine=; to be
   freed. `group`: of how many one machine becomes, itself the first. The rules stand behind those
   that the name has. `list` has page sizes, `yes` for 64K and 2M, and memory beside the kinds, as
   rules name it; large mappings stand beside them where a run can have so many machines. NULL, with
   the reason: it is no such list. */
HChar* tg_advice_machines(const HChar* names, const HChar* list, UInt* group, tlb_reason* why);

#endif
