/* Makes mmap() and mremap() place memory where the kernel would have.

   The kernel places mappings from the top down, Valgrind from the bottom up. Programs depend on
   which mappings are adjacent: the dynamic linker allocates on in memory that follows its own,
   the C library merges adjacent pieces of the heap.

   The core does not let a tool change the arguments of a system call. So the address is stored in
   the thread's registers when the thread stops for the call, and the registers are restored
   after it. The addresses are the native ones without their highest bits, which are beyond
   Valgrind's address range. */

#ifndef TG_MMAP_WISHES_H
#define TG_MMAP_WISHES_H

#include "pub_tool_basics.h"

/* To be called when the thread stops running client code, perhaps for a system call. */
void tg_mmap_wishes_stopped(ThreadId tid);

/* To be called when the thread runs again, or the system call has returned. */
void tg_mmap_wishes_done(ThreadId tid);

/* Whether the address in the current call was stored by this file, not by the program. */
Bool tg_mmap_wishes_pending(void);

/* Whether it replaces a hint of the program's that the kernel would not have followed. */
Bool tg_mmap_wishes_hinted(void);

#endif
