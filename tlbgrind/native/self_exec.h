/* A program that executes /proc/self/exe: itself natively, but the kernel's link leads to
   Valgrind's tool. The call gets the program's own file. */

#ifndef TG_SELF_EXEC_H
#define TG_SELF_EXEC_H

#include "pub_tool_basics.h"

/* The thread has stopped, mostly for a system call. */
void tg_self_exec_stopped(ThreadId tid);

/* The call has returned: an exec that does so has failed. */
void tg_self_exec_done(ThreadId tid);

#endif
