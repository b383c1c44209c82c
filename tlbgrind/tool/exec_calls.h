/* System calls of the exec family: follows the process into the new program.

   Valgrind follows an exec only with --trace-children=yes, and then those of children,
   too. What the user started is often no more than a way to the program that is meant
   (/usr/bin/env, a shell script that ends in exec, pyenv's and libtool's wrappers). So
   the first process is followed through exec unless --trace-children says otherwise;
   what forked from it is not. */

#ifndef TG_EXEC_CALLS_H
#define TG_EXEC_CALLS_H

#include "pub_tool_basics.h"

typedef enum {
   TG_EXEC_FAILS,     /* nothing changes */
   TG_EXEC_LEAVES,    /* the new program runs without the tool: all output is written now */
   TG_EXEC_IS_TRACED, /* by --trace-children=yes: all output is written now, to files of the
                         name tg_exec_calls_file_name() */
   TG_EXEC_FOLLOWED   /* by default: counts are dropped, but for the number of instructions */
} TgExec;

void tg_exec_calls_init(void);

/* The process is a child from now on: it is not followed by default. */
void tg_exec_calls_forked(void);

/* Whether the system call is one of them. */
Bool tg_exec_calls_has(UInt syscall);

/* The system call is about to be made: what will become of the process. Prints a message if the
   new program is not followed. */
TgExec tg_exec_calls_look(UInt syscall, const UWord* args);

/* The exec will be followed or traced: makes the core do it, and passes on that
   `instructions` more are in no file. */
void tg_exec_calls_follow(TgExec how, ULong instructions);

/* The name of an output file that is written before an exec: that of a traced one is numbered,
   because the new program will use the name itself. Takes and returns names to be freed. */
HChar* tg_exec_calls_file_name(TgExec how, HChar* name);

/* Remembers a file that was written, or not, because of an exec. Takes the name. */
void tg_exec_calls_note_file(HChar* name, Bool is_written);

/* The exec has failed: all is as it was, and the files are removed. */
void tg_exec_calls_failed(void);

#endif
