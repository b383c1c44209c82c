/* Follows reads and writes of files: which of their pages are cached or clean.

   The fault model decides by that whether a touch of a mapped file is a major fault. */

#ifndef TG_MAPPED_FILES_H
#define TG_MAPPED_FILES_H

#include "pub_tool_basics.h"

/* A system call has succeeded. */
void tg_mapped_files_follow(UInt number, const UWord* args, SysRes result);

#endif
