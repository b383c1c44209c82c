/* Where the program lies: what its headers say of its segments. */

#ifndef TG_PROGRAM_H
#define TG_PROGRAM_H

#include "pub_tool_basics.h"

/* A linker gives .bss a segment of its own if it has to begin on a multiple of more than
   a page. There can be several; of more than these nothing is known. */
enum { TG_MAX_BSS_APART = 8 };

typedef struct {
   Addr headers; /* in the segment that has the file's begin; 0: nothing is known */
   Bool is_pie;
   Addr alignment; /* the largest that a segment asks for */
   Addr bss;       /* the end of the data in the file, if they go on in memory
                      behind that, else 0 */
   Addr data;      /* the last byte of the last segment of which the file has
                      something */
   UInt n_bss_apart;
   Addr bss_apart[TG_MAX_BSS_APART]; /* where segments begin of which the file has
                                        nothing, rounded down to a page */
} TgProgram;

/* Reads them, once the program is loaded and before it runs. */
void tg_program_read(void);

const TgProgram* tg_program(void);

/* Whether a segment of the program that has nothing of the file begins on that page. */
Bool tg_program_is_bss(Addr page);

/* The same as in TgProgram, of the interpreter, which lies from `base` on. */
Addr tg_program_interpreter_bss(Addr base);

#endif
