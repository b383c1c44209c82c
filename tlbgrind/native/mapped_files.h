/* Tracks which pages of files are cached or dirty, by the program's system calls.

   By these states the fault model decides whether the touch of a mapped file is a major fault. */

#ifndef TG_MAPPED_FILES_H
#define TG_MAPPED_FILES_H

#include "pub_tool_basics.h"

/* What is called before pages of files that are mapped are cleaned (one page) or taken away: the
   pages, as they lie here. */
void tg_mapped_files_listen(void (*flushed)(Addr start, Addr end, Bool are_gone));

/* To be called after a system call that has succeeded; `result`: its result. */
void tg_mapped_files_follow(UInt number, const UWord* args, SysRes result);

#endif
