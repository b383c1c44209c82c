/* Intercepts execve() and execveat(), and follows the process into the new program.

   Valgrind follows an exec only with --trace-children=yes, and then also those of children. But
   the command under Valgrind is often only a wrapper that ends in an exec of the program to be
   measured (/usr/bin/env, shell scripts, pyenv's and libtool's wrappers). So execs of the first
   process are followed unless --trace-children is given; those of forked children are not. */

#ifndef TG_EXEC_CALLS_H
#define TG_EXEC_CALLS_H

#include "pub_tool_basics.h"

typedef enum {
   TG_EXEC_FAILS,     /* the call will fail; nothing is written */
   TG_EXEC_LEAVES,    /* the new program runs without the tool: all output is written now */
   TG_EXEC_IS_TRACED, /* by --trace-children=yes: all output is written now, to the files
                         tg_exec_calls_file_name() */
   TG_EXEC_FOLLOWED   /* by default: counts are dropped, except the number of instructions */
} TgExec;

void tg_exec_calls_init(void);

/* To be called in a forked child, whose execs are not followed by default. */
void tg_exec_calls_forked(void);

/* Whether the system call is an exec. */
Bool tg_exec_calls_has(UInt syscall);

/* What the exec with these arguments will do to the process. To be called before the system call.
   Prints a message if the new program is not followed. */
TgExec tg_exec_calls_look(UInt syscall, const UWord* args);

/* Makes the core follow or trace the exec. If it is followed, the option --was= (options/exec.h)
   counts one more program as missing, with its `instructions`. */
void tg_exec_calls_follow(TgExec how, ULong instructions);

/* The name of an output file that is written before an exec. A traced exec adds a number to it,
   because the new program writes to the name itself. Frees `name`; the result is to be freed. */
HChar* tg_exec_calls_file_name(TgExec how, HChar* name);

/* Records the name of a file for the exec, and whether it was written. Frees the name later. */
void tg_exec_calls_note_file(HChar* name, Bool is_written);

/* To be called when the exec has failed: reverts tg_exec_calls_follow() and removes the files. */
void tg_exec_calls_failed(void);

#endif
