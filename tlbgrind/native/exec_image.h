/* Lays out the address space that the program starts with, as Linux would.

   It has the program, its interpreter, the stack, room for the heap, and the kernel's own pages.
   It also lists the pages that the kernel touches during the exec. */

#ifndef TG_EXEC_IMAGE_H
#define TG_EXEC_IMAGE_H

#include "pub_tool_basics.h"

#include "sim/faults/faultmodel.h"

/* The program is about to run its first instruction. After
   tg_start_set_right(). `moves_break`: the break gets room where it would lie natively. */
void tg_exec_image_lay_out(ThreadId tid, Bool moves_break);

/* What the kernel touches while it starts the program: calls `each` in order,
   with addresses here. */
void tg_exec_image_touches(void (*each)(Addr a, tlb_touch touch));

/* Where the break begins, here: the start of the heap's map. */
Addr tg_exec_image_heap(void);

/* The kernel's data page in every process, here; 0: there is none. */
Addr tg_exec_image_vvar(void);

#endif
