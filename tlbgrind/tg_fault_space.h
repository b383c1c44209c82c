/* What the program's calls do to its address space: follows them, finds where
   the kernel would put what they map, and tells the maps (tg_fault_maps.h) and
   with them the fault model. */

#ifndef TG_FAULT_SPACE_H
#define TG_FAULT_SPACE_H

#include "pub_tool_basics.h"

#include "sim/faultmodel.h"

/* Makes the maps, and listens to tg_aspace.h from now on; `forked` is called
   after a fork. What happens before tg_start_space() (tg_fault_start.h) is left
   to that. */
void tg_space_init(const tlb_fault_settings* settings,
                   void (*forked)(Bool is_child));

/* A system call begins, has returned. */
void tg_space_pre_syscall(UInt number, const UWord* args);
void tg_space_post_syscall(UInt number, const UWord* args, SysRes result);

#endif
