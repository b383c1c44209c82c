/* Call stacks: which functions are active in each thread, and what they have cost so far.

   Translated code notes how a block was left, if that can be a call or a return, and the next
   block calls tg_call_stack_enter(). Calls and returns are told apart by the kind of jump and the
   stack pointer, with callgrind's rules. All costs since the last change of the stack belong to
   the innermost frame; when a frame is left, its costs are added to its arc and to its caller. */

#ifndef TG_CALL_STACK_H
#define TG_CALL_STACK_H

#include "pub_tool_basics.h"

#include "pub_tool_tooliface.h"

#include "sim/record/moves.h"

#include "calls/arcs.h"
#include "trace/shadow_area.h"

/* What has become of the stacks, for a recording: sim/record/moves.h. `arc`: of TLB_MOVE_PUSH,
   where NULL is a first frame, and of TLB_MOVE_RETURN; `n`: of the others. */
typedef void TgStackMove(tlb_move move, UInt n, TgArc* arc);

/* How many of the bits of TgCallArea's `refs` are those of reads. */
enum { TG_REFS_BITS = 32 };

/* Counts inclusive costs from now on. `complete`: what books all misses that are still to be
   booked. `tell`: NULL, or what is told of the stacks, of returns from first frames when they
   happen and of the rest by tg_call_stack_tell(). `misses`: they are counted here; else only
   references and page faults are. */
void tg_call_stacks_init(void (*complete)(void), TgStackMove* tell, Bool misses);

extern Bool tg_call_stacks_on;

/* Where the stack pointer is among the guest's registers. */
void tg_call_stacks_sp(Int offset);

/* The thread begins a block, of which that is the entry, and area->left is not 0. */
void tg_call_stack_enter(UChar* guest_state, const TgEntry* entry);

/* Gives the costs so far to the thread's innermost frame. */
void tg_call_stack_settle(UChar* guest_state);

/* What happens to threads: they run and stop, make a system call, end. */
void tg_call_stack_started(ThreadId tid);
void tg_call_stack_stopped(ThreadId tid);
void tg_call_stack_post_syscall(ThreadId tid);
void tg_call_stack_ends(ThreadId tid);

/* A signal's handler begins, and returns. */
void tg_call_stack_signal(ThreadId tid, Bool alternate_stack);
void tg_call_stack_sigreturn(ThreadId tid);

/* In a forked child, which has that thread only: costs begin at zero. */
void tg_call_stacks_forked(ThreadId tid);

/* Adds what the active frames have cost so far to their arcs. */
void tg_call_stacks_settle(void);

/* Gives the misses so far to the innermost frame; no segment is listed any more. */
void tg_call_stack_take_misses(void);

/* Tells how the stack at hand has changed since it was told last. */
void tg_call_stack_tell(void);

/* The call sites of the thread's active frames, up to that of its first function, or of a signal's
   handler. Stores at most `n`, the innermost first, and returns how many. */
UInt tg_call_stack_callers(ThreadId tid, TgCallSite** from, UInt n);

/* Calls `each` for the miss counts of all arcs and frames. */
void tg_call_stacks_each(void (*each)(uint64_t* misses, tlb_user kind));

#endif
