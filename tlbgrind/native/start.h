/* Sets right the process image that the program starts with.

   Valgrind begins a program a little differently from the kernel: it preloads
   objects of its own, passes variables to find them, and its vector of auxiliary
   values is shorter, so that the stack begins at another offset in its page; and
   the break is not at the begin of a page. All of it moves data across pages.
   tg_start_set_right() sets right what the program can see of that, before its
   first instruction. */

#ifndef TG_START_H
#define TG_START_H

#include "pub_tool_basics.h"

typedef struct {
   Addr entry;           /* of the program */
   Addr interpreter;     /* where the interpreter begins; 0: there is none */
   Addr sp;              /* the first thread's stack pointer */
   Addr stack_strings;   /* the lowest byte that the kernel stored on the stack
                            in front of the arguments' texts */
   Addr strings;         /* the lowest byte of these texts */
   Addr stack_end;
   Addr vdso;            /* the stand-in for the vDSO, or 0 */
} TgImage;

/* Finds out; `changes`: and makes it what it would be without Valgrind. */
void tg_start_set_right(ThreadId tid, Bool changes);

const TgImage* tg_start_image(void);

/* Does this lie in the stand-in for the vDSO? */
Bool tg_start_in_vdso(Addr a);

/* Where the break begins. */
Addr tg_start_brk(void);

#endif
