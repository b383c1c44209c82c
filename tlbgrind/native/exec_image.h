/* Lays out the address space that the program starts with, as Linux would.

   It has the program, its interpreter, the stack, room for the heap, and the kernel's own pages.
   It also lists the pages that the kernel touches during the exec. */

#ifndef TG_EXEC_IMAGE_H
#define TG_EXEC_IMAGE_H

#include "pub_tool_basics.h"

#include "sim/faults/faultmodel.h"

/* To be called after tg_start_set_right(), before the program's first instruction.
   `moves_break`: the break is moved to its native place, with room (native/break_room.h). */
void tg_exec_image_lay_out(ThreadId tid, Bool moves_break);

/* Calls `each` for every page that the kernel touches during the exec, in order, with addresses
   of this process. */
void tg_exec_image_touches(void (*each)(Addr a, tlb_touch touch));

/* The first address of the break in this process: the start of the heap's map. */
Addr tg_exec_image_heap(void);

/* The address in this process of the kernel's data page, vvar; 0: there is none. */
Addr tg_exec_image_vvar(void);

#endif
