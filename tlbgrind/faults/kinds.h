/* The letter of each kind of page fault in the fault log (docs/internals/formats.md).

   sim/faults/faultmodel.h decides the kind of a fault. */

#ifndef TG_KINDS_H
#define TG_KINDS_H

#include "pub_tool_basics.h"

#include "sim/faults/faultmodel.h"

HChar tg_fault_letter(tlb_fault_kind kind);

#endif
