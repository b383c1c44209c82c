/* The letters of the fault kinds.

   The kind of a page fault is decided by the model (sim/faults/faultmodel.h); the log, and
   what it says of the use of pages, write a letter for it (docs/fault-log.md). */

#ifndef TG_KINDS_H
#define TG_KINDS_H

#include "pub_tool_basics.h"

#include "sim/faults/faultmodel.h"

HChar tg_fault_letter(tlb_fault_kind kind);

#endif
