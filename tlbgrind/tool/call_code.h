/* Instruments superblocks for the call stacks: how a block is left, and at its begin a call of
   tg_call_stack_enter() if the last one was left by a call, a return or a jump to another
   function. */

#ifndef TG_CALL_CODE_H
#define TG_CALL_CODE_H

#include "pub_tool_basics.h"

#include "pub_tool_tooliface.h"

#include "attribution/sites.h"

/* A block begins, whose first instruction is the site's. */
void tg_call_code_begin(IRSB* out, TgSite* first);

/* With --toggle-collect=, before and after that: calls of tg_collection_enter() if a function
   begins at the block's address, and of tg_collection_leave() if one has been left. */
void tg_collection_code_enter(IRSB* out, Addr a);
void tg_collection_code_leave(IRSB* out, Addr a, const VexGuestLayout* layout);

/* The same with --faults-touches=yes, of functions that load a locale. */
void tg_touches_code_enter(IRSB* out, Addr a);
void tg_touches_code_leave(IRSB* out, Addr a, const VexGuestLayout* layout);

/* The instruction leaves the block: returns whether that is noted. `to`: the address. */
Bool tg_call_code_leave(IRSB* out, TgSite* site, const IRExpr* to, IRJumpKind kind);

/* An exit that is noted is not taken. */
void tg_call_code_stay(IRSB* out);

/* A segment with so many reads and writes ends; `guard`: if they have been made, NULL: they
   have. */
void tg_call_code_count(IRSB* out, UInt reads, UInt writes, IRExpr* guard);

/* Code is unmapped, or replaced by other code. */
void tg_call_code_changed(void);

#endif
