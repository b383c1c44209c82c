/* Data writes: the written bytes of .data and .bss, in order of first write.

   Each page of .data or .bss that is written has a page fault of its own: fault-around does not
   map private pages writable. So the layout of data matters by which variables are written, and
   by the pages that contain them.

   Every store calls a function, which is slow: it is done with --entries=data only. It does not
   depend on the simulation, nor the simulation on it. */

#ifndef TG_DATA_WRITES_H
#define TG_DATA_WRITES_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* Starts recording; without it the functions below do nothing. */
void tg_data_writes_init(void);

/* Adds calls that record the stores of the statement `st`. To be called after `st` is added. */
void tg_data_writes_statement(IRSB* out, const IRStmt* st);

/* To be called when [a, a+len) is mapped, unmapped or protected. */
void tg_data_writes_changed(Addr a, SizeT len);

#endif
