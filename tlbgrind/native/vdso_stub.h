/* A stand-in for the vDSO, the object that Linux maps into every process.

   Valgrind hides the vDSO from the program. The dynamic linker then has one object less in its
   lists, allocates less memory, and does so later: other pages of its heap are touched, and
   mappings get other addresses. The stand-in is an ELF object of the same name, with which the
   dynamic linker does the same as natively. It has the kernel's symbol versions: programs that
   look up its functions without the dynamic linker, such as all of Go, rely on them.

   Its one function is __vdso_getrandom, if the kernel has that. The C library (glibc 2.41 and
   newer) calls it for the size of its states when a program starts, and touches memory that it
   would not touch without. The function ends in a system call. The kernel's other functions are
   left out, so that the C library makes system calls, which Valgrind can see. */

#ifndef TG_VDSO_STUB_H
#define TG_VDSO_STUB_H

#include "pub_tool_basics.h"

/* Writes the stand-in into new memory of the program. Returns its address, 0 if that failed or the
   architecture has none. */
Addr tg_vdso_stub(void);

#endif
