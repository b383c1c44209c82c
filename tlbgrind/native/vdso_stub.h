/* A stand-in for the vDSO, the object that Linux maps into every process.

   Valgrind hides it from the program. The dynamic linker then keeps one object
   less in its lists, allocates less memory, and does so later: other pages of
   its heap are touched, and mappings lie elsewhere. The stand-in is an ELF
   object of the same name, so that the dynamic linker does as it would natively.
   It has the versions that the kernel's has: programs that look for functions
   themselves, as all of Go do, rely on that.

   Its one function is __vdso_getrandom, where the kernel has that: the C library
   (glibc 2.41 and newer) asks it about its states when a program starts, and
   computes and writes what it would not without. It ends in a system call. Of
   the others there is none, so that the C library makes system calls, which
   Valgrind can see. */

#ifndef TG_VDSO_STUB_H
#define TG_VDSO_STUB_H

#include "pub_tool_basics.h"

#if VG_WORDSIZE == 8
/* Makes one in the program's memory. Returns its address, 0 if that failed. */
Addr tg_vdso_stub(void);
#endif

#endif
