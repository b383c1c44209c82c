/* Corrects the size of the register file that CPUID reports to the program.

   The processor that Valgrind shows has no AVX-512, hence less to save. The
   dynamic linker saves all of it on the stack whenever it looks up a function
   that is called for the first time, and takes the room that CPUID says
   (leaf 0DH): under Valgrind less than natively, so that the stack reaches a
   page less here and there, of each thread and after each fork.

   So CPUID reports a size with which the C library takes as much room as
   it would natively. What is saved there are Valgrind's registers all the
   same; the rest of the room is not touched, nor is it natively as long as the
   program does not use them. */

#ifndef TG_CPUID_H
#define TG_CPUID_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* From now on CPUID reports the native size. */
void tg_native_cpuid_init(void);

/* To be called before a statement is added to the block and after it, which
   takes what the first call returned. */
IRTemp tg_native_cpuid_before(IRSB* out, const IRStmt* st);
void tg_native_cpuid_after(IRSB* out, IRTemp is_size);

#endif
