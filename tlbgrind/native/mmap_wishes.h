/* Makes mmap() and mremap() place memory where the kernel would have.

   Whether two mappings touch decides what programs do: the dynamic linker goes
   on in memory that it finds to follow, the C library joins pieces of the heap.
   Valgrind places from the bottom up. The core does not let a tool change the
   arguments of a system call, so a wish is put in the thread's registers when it
   stops because of the call, and they are put back when it is over. The
   addresses are the native ones without their highest bits, which Valgrind has
   no room for. */

#ifndef TG_MMAP_WISHES_H
#define TG_MMAP_WISHES_H

#include "pub_tool_basics.h"

/* The thread stops running client code, perhaps for a system call. */
void tg_mmap_wishes_stopped(ThreadId tid);

/* It runs again, or the call is over. */
void tg_mmap_wishes_done(ThreadId tid);

/* Whether the address that the current call names is not the program's wish, but came
   from here. */
Bool tg_mmap_wishes_pending(void);

/* Whether it is in the place of another, which the kernel would not have taken. */
Bool tg_mmap_wishes_hinted(void);

#endif
