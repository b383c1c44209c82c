/* Makes calls that pass the guest's state. See arch/state_call.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_machine.h"

#include "arch/arch.h"
#include "arch/state_call.h"

IRDirty* tg_state_call(const HChar* name, void* function, IRExpr** args)
{
   void* const entry = VG_(fnptr_to_fnentry)(function);
   tl_assert(args[0] == NULL);
   if (tg_arch.state_passer == NULL) {
      args[0] = IRExpr_GSPTR();
      return unsafeIRDirty_0_N(0, name, entry, args);
   }
   args[0] = mkIRExpr_HWord((HWord)entry);
   return unsafeIRDirty_0_N(0, name, VG_(fnptr_to_fnentry)((void*)tg_arch.state_passer), args);
}
