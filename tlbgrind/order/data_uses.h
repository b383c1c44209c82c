/* Data uses: the bytes of .data and .bss that are written, in order of first write, and those that
   are read before. What the dynamic linker has written first, a relocation, is written once more
   when the program does that itself.

   Each page of .data or .bss that is written has a page fault of its own: fault-around does not
   map private pages writable. So the layout of data matters by which variables are written, and
   by the pages that contain them. A page of .bss that is only read has one, too.

   Every store and load calls a function, which is slow: it is done with --entries=data only. It
   does not depend on the simulation, nor the simulation on it. */

#ifndef TG_DATA_USES_H
#define TG_DATA_USES_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* Starts recording; without it the functions below do nothing. */
void tg_data_uses_init(void);

/* To be called before the statements of the block at `entry` are. */
void tg_data_uses_block(Addr entry);

/* Adds calls that record the stores and loads of statement number i of `in`. To be called after it
   is added. */
void tg_data_uses_statement(IRSB* out, const IRSB* in, Int i);

/* The kernel reads [a, a+len), or wrote to it. */
void tg_data_uses_kernel_reads(Addr a, SizeT len);
void tg_data_uses_kernel_wrote(Addr a, SizeT len);

/* To be called when [a, a+len) is mapped, unmapped or protected. */
void tg_data_uses_changed(Addr a, SizeT len);

#endif
