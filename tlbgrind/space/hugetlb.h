/* Changes the system calls that ask for huge pages.

   With --hugetlb=fake a program that asks for huge pages gets small ones, whatever
   the host has, and the simulation backs them by huge ones. Without it, it gets what the
   kernel gives: whole huge pages, of which the core does not know, and would put something
   else into the rest; so they are asked for as whole ones.

   The core shows a tool the arguments of a system call but does not let it
   change them. So they are changed where they come from, in the registers of
   the thread, when it stops running client code because of the call; and put
   back when the call is over, for the kernel keeps them, too. */

#ifndef TG_HUGETLB_H
#define TG_HUGETLB_H

#include "pub_tool_basics.h"

void tg_hugetlb_init(Bool fake);

/* The thread stops running client code, perhaps for a system call. */
void tg_hugetlb_stopped(ThreadId tid);

/* The thread runs client code again. */
void tg_hugetlb_started(ThreadId tid);

/* The flags that the thread has given to the system call that it is in, if they
   have been changed; else 0. */
UWord tg_hugetlb_asked(ThreadId tid);

/* The system call is over. */
void tg_hugetlb_done(ThreadId tid);

#endif
