/* Reads the program's ELF headers: addresses of its segments, .bss, cleared bytes. */

#ifndef TG_PROGRAM_H
#define TG_PROGRAM_H

#include "pub_tool_basics.h"

/* A linker gives .bss a segment of its own if its alignment is larger than a page. There can be
   several; those after the first TG_MAX_BSS_APART are ignored. */
enum { TG_MAX_BSS_APART = 8 };

typedef struct {
   Addr entry;   /* where the dynamic linker goes when it is done */
   Addr headers; /* in the segment with the file's first byte; 0: not found */
   Bool is_pie;
   Addr alignment; /* the largest of a segment */
   Addr data;      /* the last byte in memory that is in the file, too */
   UInt n_bss_apart;
   Addr bss_apart[TG_MAX_BSS_APART]; /* segments without bytes in the file: their first
                                        addresses, rounded down to a page */
} TgProgram;

/* Reads the headers; to be called when the program is loaded, before it runs. */
void tg_program_read(void);

const TgProgram* tg_program(void);

/* Whether the page is one of bss_apart. */
Bool tg_program_is_bss(Addr page);

/* The ends of file data in writable segments that continue in memory after it (.bss). The kernel
   clears the rest of the page of each when it loads the program. */
enum { TG_MAX_CLEARED = 16 };

typedef struct {
   UInt n;
   Addr at[TG_MAX_CLEARED]; /* none is a multiple of a page */
} TgCleared;

/* The ends in the program and in its interpreter, in the kernel's order. `interpreter`: its first
   address; 0: there is none. */
TgCleared tg_program_cleared(Addr interpreter);

#endif
