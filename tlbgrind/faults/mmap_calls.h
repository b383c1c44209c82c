/* What the program's calls do to its address space: follows them, finds where
   the kernel would put what they map, and tells the maps (faults/maps.h) and
   with them the fault model. */

#ifndef TG_MMAP_CALLS_H
#define TG_MMAP_CALLS_H

#include "pub_tool_basics.h"

#include "sim/faults/faultmodel.h"
#include "sim/faults/layout.h"

/* Makes the maps, and listens to space/aspace.h from now on. What happens before
   tg_start_space() (faults/exec_image.h) is left to that. `records`: page faults are
   recorded, so that the maps are described and files followed, too. */
void tg_mmap_calls_init(const tlb_fault_settings* settings, Bool records);

/* `forked` is called after each fork. */
void tg_mmap_calls_on_fork(void (*forked)(Bool is_child));

/* How mmap() would place the file. */
tlb_placed tg_mmap_calls_placed_file(Int fd);

/* Where memory goes natively that mremap() makes `len` bytes long, wherever there is room;
   0: it stays where it is. Lengths are of whole pages. */
ULong tg_mmap_calls_moves_to(Addr old, SizeT old_len, SizeT len);

/* Whether the kernel would put `len` bytes where mmap() is asked to. */
Bool tg_mmap_calls_takes_hint(Addr hint, SizeT len);

/* A system call begins, has returned. */
void tg_mmap_calls_pre_syscall(UInt number, const UWord* args);
void tg_mmap_calls_post_syscall(UInt number, const UWord* args, SysRes result);

#endif
