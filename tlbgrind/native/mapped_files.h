/* Files that the program reads and writes while they are mapped: tells the fault model what
   of them is in the page cache, and which pages of them are clean. */

#ifndef TG_MAPPED_FILES_H
#define TG_MAPPED_FILES_H

#include "pub_tool_basics.h"

/* A system call has succeeded. */
void tg_mapped_files_follow(UInt number, const UWord* args, SysRes result);

#endif
