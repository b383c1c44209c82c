/* Heap blocks: observes the program's own allocator.

   Nothing is replaced, so that the blocks lie where they lie without Valgrind. The functions are
   recognized by their symbols when the block of code at their entry is translated, and get a call
   that reads the arguments. The end of such a call is seen at a return instruction: at the stack
   pointer that the entry leaves to its caller. Allocations inside an allocation (operator new
   calls malloc) are part of it. */

#ifndef TG_DATA_BLOCKS_H
#define TG_DATA_BLOCKS_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

void tg_blocks_init(void);

/* Adds to a block of code that is being translated: at its begin, if it is the entry of a function
   of an allocator; and at its end, if it returns. */
void tg_blocks_begin(IRSB* out, Addr entry, const VexGuestLayout* layout);
void tg_blocks_end(IRSB* out, const VexGuestLayout* layout);

/* Whether the thread is in such a function. */
Bool tg_blocks_is_in_allocator(ThreadId tid);

/* The thread's number is another's now. */
void tg_blocks_thread(ThreadId tid);

#endif
