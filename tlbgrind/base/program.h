/* The program's ELF headers: where its segments lie. */

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

/* Where the data of the file end in segments that go on in memory behind them and may be
   written: the kernel clears the rest of that page when it loads the program. */
enum { TG_MAX_CLEARED = 16 };

typedef struct {
   UInt n;
   Addr at[TG_MAX_CLEARED]; /* none is a multiple of a page */
} TgCleared;

/* Of the program and of its interpreter, which lies from there on (0: there is none), in the
   kernel's order. */
TgCleared tg_program_cleared(Addr interpreter);

#endif
