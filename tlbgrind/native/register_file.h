/* Corrects the size of the register file that CPUID reports to the program.

   The processor that Valgrind emulates has no AVX-512, so its register file is smaller. The
   dynamic linker saves the register file on the stack whenever it resolves a function at its
   first call, and reserves the size that CPUID reports (leaf 0DH). Under Valgrind that is less
   than natively, and some stacks (of each thread, after each fork) reach one page less far.

   So CPUID reports a size with which the C library reserves as much stack as natively. Only
   Valgrind's registers are saved there. The rest is not touched, as natively while the program
   does not use those registers. */

#ifndef TG_REGISTER_FILE_H
#define TG_REGISTER_FILE_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* From now on CPUID reports the native size. */
void tg_native_cpuid_init(void);

/* Add the correction to the block if the statement `st` is Vex's helper for CPUID. To be called
   before and after `st` is added; the second call takes the result of the first. */
IRTemp tg_native_cpuid_before(IRSB* out, const IRStmt* st);
void tg_native_cpuid_after(IRSB* out, IRTemp is_size);

#endif
