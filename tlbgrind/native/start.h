/* Rebuilds the initial stack as the kernel would have made it: environment, auxiliary vector.

   Valgrind starts a program differently from the kernel: it preloads objects of its own, adds
   environment variables for them, and its auxiliary vector is shorter, so that the stack begins
   at another offset in its page; and the break does not begin at a page. All of this moves data
   across pages. tg_start_set_right() corrects what the program can see of it, before its first
   instruction. */

#ifndef TG_START_H
#define TG_START_H

#include "pub_tool_basics.h"

typedef struct {
   Addr entry;           /* of the program */
   Addr interpreter;     /* where the interpreter begins; 0: there is none */
   Addr sp;              /* the first thread's stack pointer */
   Addr stack_strings;   /* the lowest byte that the kernel stored on the stack
                            below the arguments' texts */
   Addr strings;         /* the lowest byte of these texts */
   Addr stack_end;
   Addr vdso;            /* the stand-in for the vDSO, or 0 */
} TgImage;

/* Reads the image; `changes`: also makes it what it would be without Valgrind. */
void tg_start_set_right(ThreadId tid, Bool changes);

const TgImage* tg_start_image(void);

/* Whether `a` is in the stand-in for the vDSO. */
Bool tg_start_in_vdso(Addr a);

/* The break's first address. */
Addr tg_start_brk(void);

#endif
