/* What a fork shares: transparent huge pages, until one of the processes writes to them.

   The first write breaks such a page into small ones as long as another process has it. Whether
   one has is looked up when it matters: a process that has ended, or has become another program,
   has nothing of this one any more. */

#ifndef TG_FORKS_H
#define TG_FORKS_H

#include "pub_tool_basics.h"

/* `shared`: called when huge pages are shared and tg_forks_written() has to be called for the first
   write to each page of data from now on. After tg_aspace_init(), before other files listen to
   space/aspace.h. */
void tg_forks_init(void (*shared)(void));

/* From now on forks are followed whether any huge page is shared here or not: the page map has been
   told to tell of its changes, and others will ask. */
void tg_forks_follow_all(Bool all);

/* The core's events, passed on by tool/main.c. */
void tg_forks_pre_syscall(ThreadId tid, UInt number, const UWord* args);
void tg_forks_post_syscall(SysRes result);
void tg_forks_kernel_wrote(Addr a, SizeT len);

/* Whether the core tells of a write that the kernel does not make: of the child's number, in the
   parent. */
Bool tg_forks_is_false_write(Addr a);

typedef struct {
   Addr at;
   SizeT bytes;
} TgKernelWrite;

enum { TG_MAX_FORK_WRITES = 2 };

/* What the kernel writes natively when a fork returns: clone()'s child_tid in the child, and in
   both processes the area that the C library has registered with rseq(), a call that Valgrind
   refuses. Returns their number. */
UInt tg_forks_kernel_writes(Bool is_child, TgKernelWrite* out);

/* Whether the current call makes a process in the same address space (vfork), of which nothing is
   shared because everything is the same. */
Bool tg_forks_in_one_space(void);

/* Whether another process still has pages of this one. */
Bool tg_forks_are_shared(void);

/* The program is about to write to the byte at `a`. */
void tg_forks_written(Addr a);

#endif
