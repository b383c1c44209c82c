/* Applies mmap(), munmap(), mprotect(), madvise() to the maps and the fault model.

   Computes the address that the kernel would choose for each new mapping and changes the maps
   (native/maps.h). The changes arrive from space/aspace.h. */

#ifndef TG_MMAP_CALLS_H
#define TG_MMAP_CALLS_H

#include "pub_tool_basics.h"

#include "sim/faults/faultmodel.h"

/* Makes the maps and registers a listener with space/aspace.h. It ignores all changes before
   tg_exec_image_lay_out() (native/exec_image.h), which adds the maps of the start. `records`: page
   faults are recorded, so the maps are described and the pages of files tracked, too. */
void tg_mmap_calls_init(const tlb_fault_settings* settings, Bool records);

/* Registers a function that is called after each fork, in the parent and in the child. */
void tg_mmap_calls_on_fork(void (*forked)(Bool is_child));

/* To be called before and after each system call of the program. */
void tg_mmap_calls_pre_syscall(UInt number, const UWord* args);
void tg_mmap_calls_post_syscall(UInt number, const UWord* args, SysRes result);

#endif
