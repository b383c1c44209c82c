/* The names of the system calls that touch the program's memory. */

#ifndef TG_SYSCALL_NAMES_H
#define TG_SYSCALL_NAMES_H

#include "pub_tool_basics.h"

/* NULL: the call has no name here. */
const HChar* tg_syscall_name(UInt number);

#endif
