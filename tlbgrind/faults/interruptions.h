/* System calls and context switches: what they drive out of the TLBs.

   --syscall-tlb= and --switch-every=. Nothing of it is counted but its number: the misses are those
   of the program, which finds less of its own than without. */

#ifndef TG_INTERRUPTIONS_H
#define TG_INTERRUPTIONS_H

#include "pub_tool_basics.h"

#include "sim/record/stream.h"

#include "options/options.h"

typedef struct {
   ULong system_calls, switches;
} TgInterruptions;

extern TgInterruptions tg_interruptions;

/* Called at each of them that drives something out of some machine, when all that the program has
   referred to before has been looked up; `first`, `last`: base pages that the kernel refers to. */
typedef void TgInterruptionPoint(tlb_point point, ULong first, ULong last);
void tg_interruptions_tell(TgInterruptionPoint* f);

/* `settle` looks up what the program has referred to so far. */
void tg_interruptions_init(const TgOptions* options, void (*settle)(void));

/* To be called before and after each system call of the program. */
void tg_interruptions_pre_syscall(void);
void tg_interruptions_post_syscall(void);

/* Counts begin at 0. */
void tg_interruptions_zero(void);

/* The kernel reads or writes that memory of the program's, for a system call or a signal. */
void tg_interruptions_touch(Addr a, SizeT len, Bool is_write);

#endif
