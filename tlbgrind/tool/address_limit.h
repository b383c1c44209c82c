/* The limit that a program sets to its address space (RLIMIT_AS).

   The kernel counts what the tool has mapped, too. With the program's own limit the tool would soon
   get no memory, and Valgrind would end without any output. So the limit is raised by what the tool
   has, and by room for it to grow; the program is told its own. */

#ifndef TG_ADDRESS_LIMIT_H
#define TG_ADDRESS_LIMIT_H

#include "pub_tool_basics.h"

/* To be called before each system call, and behind it. */
void tg_address_limit_pre_syscall(UInt number, const UWord* args);
void tg_address_limit_post_syscall(UInt number, const UWord* args, SysRes result);

#endif
