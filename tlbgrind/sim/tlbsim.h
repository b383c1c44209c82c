/* libtlbsim: everything that the library offers; libtlbsim(3) has an overview. */

#ifndef TLBSIM_H
#define TLBSIM_H

#include "sim/base/api.h"
#include "sim/base/memory.h"

/* Machines: their description, and where one comes from. */
#include "sim/machine/builtin.h"
#include "sim/machine/cost.h"
#include "sim/machine/cpuid.h"
#include "sim/machine/cpuid_dump.h"
#include "sim/machine/cpuid_here.h"
#include "sim/machine/geometry.h"
#include "sim/machine/machine.h"
#include "sim/machine/machine_file.h"
#include "sim/machine/machine_input.h"
#include "sim/machine/machine_list.h"
#include "sim/machine/siblings.h"
#include "sim/machine/spaces.h"

/* Translation arrays, their replacement policies, levels of one core, page walks. */
#include "sim/tlb/array.h"
#include "sim/tlb/hierarchy.h"
#include "sim/tlb/lazy_lru.h"
#include "sim/tlb/lru_stack.h"
#include "sim/tlb/policy.h"
#include "sim/tlb/reach.h"
#include "sim/tlb/walk.h"

/* The MMUs of many machines that see one stream of references. */
#include "sim/mmu/mmu.h"

/* Mappings, and which page size backs an address. */
#include "sim/pages/mappings.h"
#include "sim/pages/pagemap.h"
#include "sim/pages/pagerules.h"

/* Page faults as Linux takes them. */
#include "sim/faults/faultmodel.h"
#include "sim/faults/layout.h"

#endif
