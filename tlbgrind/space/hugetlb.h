/* Rewrites the arguments of system calls for huge pages.

   With --hugetlb=fake the program gets small pages from the kernel, whatever the host has, and the
   simulation backs them by huge pages. With --hugetlb=real the kernel maps whole huge pages. The
   core assumes the length in the call and could map other memory over the rest, so the length is
   rounded up to whole huge pages.

   The core does not let a tool change the arguments of a system call. So they are changed in the
   thread's registers when it stops for the call, and restored after it, because the kernel
   preserves them, too. */

#ifndef TG_HUGETLB_H
#define TG_HUGETLB_H

#include "pub_tool_basics.h"

void tg_hugetlb_init(Bool fake);

/* To be called when the thread stops running client code, perhaps for a system call. */
void tg_hugetlb_stopped(ThreadId tid);

/* To be called when the thread runs client code again. */
void tg_hugetlb_started(ThreadId tid);

/* The flags that the program passed to the thread's current system call, if they have been changed;
   else 0. */
UWord tg_hugetlb_asked(ThreadId tid);

/* To be called when the system call has returned. */
void tg_hugetlb_done(ThreadId tid);

#endif
