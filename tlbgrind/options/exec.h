/* A process that becomes another program.

   Valgrind follows an exec only with --trace-children=yes, and then those of children,
   too. What the user started is often no more than a way to the program that is meant
   (/usr/bin/env, a shell script that ends in exec, pyenv's and libtool's wrappers). So
   the first process is followed through exec unless --trace-children says otherwise;
   what forked from it is not. */

#ifndef TG_EXEC_H
#define TG_EXEC_H

#include "pub_tool_basics.h"

#include "sim/machine/geometry.h"

typedef enum {
   TG_EXEC_FAILS,    /* nothing changes */
   TG_EXEC_LEAVES,   /* the new program runs without the tool: all is to be written */
   TG_EXEC_IS_TRACED,/* by --trace-children=yes: all is to be written, to tg_exec_name() */
   TG_EXEC_FOLLOWED  /* by default: what was counted goes, but for how much it was */
} TgExec;

/* Takes the option by which the tool tells itself what the process was before. */
Bool tg_exec_option(const HChar* arg);

/* All options have been seen. Returns NULL, or the argument that can not be, with the
   reason. */
const HChar* tg_exec_init(tlb_reason* why);

/* Says what the process was before, if it was anything whose counts are missing. */
void tg_exec_print(void);

/* How often the process became another program whose counts are missing, and how many
   instructions those before it took. */
UInt tg_exec_n_before(ULong* instructions);

/* The folder that relative names are meant from, if it is not the one that this program was
   started in: the first one's. NULL: it is. */
const HChar* tg_exec_folder(void);

/* The process is a child from now on, with counts of its own. */
void tg_exec_forked(void);

Bool tg_exec_is(UInt syscall);

/* The system call is about to be made: what will become of the process. Says so if the new
   program is not followed. */
TgExec tg_exec_look(UInt syscall, const UWord* args);

/* The exec will be followed or traced: makes the core do it, and passes on that
   `instructions` more are not in any file. */
void tg_exec_follow(TgExec how, ULong instructions);

/* The name under which stands what a process was that becomes another, for its own name is
   that of what it becomes. Takes and returns names to be freed. */
HChar* tg_exec_name(TgExec how, HChar* name);

/* Keeps in mind a file that was written, or not, because of an exec. Takes the name. */
void tg_exec_note_file(HChar* name, Bool written);

/* The exec has failed: all is as it was, and the files go. */
void tg_exec_failed(void);

#endif
