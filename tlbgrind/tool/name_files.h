/* Files with names of code that the program removes. */

#ifndef TG_NAME_FILES_H
#define TG_NAME_FILES_H

#include "pub_tool_basics.h"

/* To be called before each system call: if it is going to remove, rename or empty a file that may
   have names of code, the file is read first. */
void tg_name_files_pre_syscall(UInt number, const UWord* args);

#endif
