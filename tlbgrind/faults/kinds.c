/* Letters of the kinds of page faults. See faults/kinds.h. */

#include "pub_tool_basics.h"

#include "faults/kinds.h"

HChar tg_fault_letter(tlb_fault_kind kind)
{
   static const HChar letters[TLB_N_FAULT_KINDS] = {
      [TLB_NO_FAULT] = '-', [TLB_FAULT_CODE] = 'x', [TLB_FAULT_READ] = 'r',
      [TLB_FAULT_ZERO] = 'z', [TLB_FAULT_WRITE] = 'w', [TLB_FAULT_COPY] = 'c',
      [TLB_FAULT_DIRTY] = 'd',
   };
   return letters[kind];
}
