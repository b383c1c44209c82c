/* Data writes: which bytes of .data and .bss were written, in order of first write.

   A page of .data or .bss that is written is a page fault of its own: private
   writes are never served along with others. So what counts for a layout of
   data is which variables are written at all, and on which pages they lie.

   Every store calls a function, which is slow: only --entries=data asks for
   it. Neither it nor the simulation uses the other. */

#ifndef TG_DATA_WRITES_H
#define TG_DATA_WRITES_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* Starts recording; without it the functions below do nothing. */
void tg_data_writes_init(void);

/* Adds to the block what notes the writes of the statement, which has just
   been added to it. */
void tg_data_writes_statement(IRSB* out, const IRStmt* st);

/* The memory at [a, a+len) is mapped or unmapped or protected otherwise. */
void tg_data_writes_changed(Addr a, SizeT len);

#endif
