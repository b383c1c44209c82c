/* Calls, from translated code, of functions that get the guest's state. */

#ifndef TG_STATE_CALL_H
#define TG_STATE_CALL_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* A call of the function, whose first argument is the guest's state: args[0] is set here, and is
   NULL before. Without register parameters: Vex can not put the state's address into one on x86. */
IRDirty* tg_state_call(const HChar* name, void* function, IRExpr** args);

#endif
