/* Programs that restrict their own system calls, which are Valgrind's, too. */

#ifndef TG_SANDBOX_H
#define TG_SANDBOX_H

#include "pub_tool_basics.h"

/* To be called before each system call: a filter of seccomp can have the process killed before it
   writes any output, so a line says that there is one. */
void tg_sandbox_pre_syscall(UInt number, const UWord* args);

#endif
