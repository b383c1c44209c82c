/* Follows the calls that change the address space: mmap(), munmap(), mprotect(), madvise().

   Finds where the kernel would put what they map, and changes the maps (native/maps.h) and
   with them the fault model. */

#ifndef TG_MMAP_CALLS_H
#define TG_MMAP_CALLS_H

#include "pub_tool_basics.h"

#include "sim/faults/faultmodel.h"

/* Makes the maps, and listens to space/aspace.h from now on. What happens before
   tg_exec_image_lay_out() (native/exec_image.h) is left to that. `records`: page faults are
   recorded, so that the maps are described and files followed, too. */
void tg_mmap_calls_init(const tlb_fault_settings* settings, Bool records);

/* `forked` is called after each fork. */
void tg_mmap_calls_on_fork(void (*forked)(Bool is_child));

/* A system call begins, has returned. */
void tg_mmap_calls_pre_syscall(UInt number, const UWord* args);
void tg_mmap_calls_post_syscall(UInt number, const UWord* args, SysRes result);

#endif
