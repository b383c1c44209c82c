/* Applies mmap(), munmap() and other changes of mappings to the simulated address space.

   The changes come from the core's events and from the arguments of system calls. munmap()
   removes a mapping from the page map (sim/pages/pagemap.h); faults/flushes.h removes its pages
   from the simulated TLBs. Listeners are called for every change. */

#ifndef TG_ASPACE_H
#define TG_ASPACE_H

#include "pub_tool_basics.h"

#include "sim/pages/pagemap.h"

typedef enum {
   TG_SPACE_MAP,     /* `mapping` is new; an UNMAP of what it replaces comes before */
   TG_SPACE_GROW,    /* `mapping` extends its neighbour: the break, the
                        stack, mremap() in place */
   TG_SPACE_UNMAP,   /* called before the mappings are removed */
   TG_SPACE_MOVE,    /* mremap(): from `from`; an UNMAP of the old place follows
                        unless the program passed MREMAP_DONTUNMAP */
   TG_SPACE_PROTECT, /* `prot` */
   TG_SPACE_RENAME,  /* a file's mapping is now recognized as a library's */
   TG_SPACE_ADVISE,  /* `advice`: any value of madvise() that succeeded; called before pages go */
   TG_SPACE_LOCK,    /* mlock(), mlockall(): TG_SPACE_ON_FAULT may be set */
   TG_SPACE_UNLOCK,
   TG_SPACE_FORK     /* in the parent and in the child */
} TgSpaceWhat;

enum {
   TG_SPACE_STARTUP = 1,  /* MAP: there before the first instruction */
   TG_SPACE_POPULATE = 2, /* MAP: MAP_POPULATE without MAP_NONBLOCK, or
                             MAP_LOCKED: all pages are present at once */
   TG_SPACE_ON_FAULT = 4, /* LOCK: no page is made present (MLOCK_ONFAULT) */
   TG_SPACE_CHILD = 8     /* FORK: this is the child */
};

/* A change of the bytes [start, start + length), whole pages of 4K. Members that an event does not
   use are 0. */
typedef struct {
   TgSpaceWhat what;
   ThreadId tid;  /* that made the call; 0: unknown */
   Addr start;
   ULong length;
   Addr from;
   UInt prot;     /* TLB_MAY_READ and so on */
   Int advice;
   UInt flags;    /* TG_SPACE_STARTUP and so on */
   Bool fixed;    /* MAP: at an address of the program's choice */
   const tlb_mapping* mapping; /* as the program made it: the page map may have
                                  merged it with its neighbours */
} TgSpaceEvent;

typedef void TgSpaceListener(void* opaque, const TgSpaceEvent* e);

/* To be called before the client starts. */
void tg_aspace_init(void);

/* Adds a listener. Listeners are called in the order of these calls. */
void tg_aspace_listen(TgSpaceListener* listener, void* opaque);

/* The page map of the process, for lookups and to add views. Only space/aspace.c and
   space/aspace_calls.c change its mappings. */
tlb_pagemap* tg_aspace_map(void);

/* The mapping of the byte at `a`, or NULL. If the kernel would grow the stack down to `a`, it
   grows. The pointer is valid until the next change. */
const tlb_mapping* tg_aspace_find(Addr a);

/* "heap", "stack", "library" and so on. */
const HChar* tg_aspace_kind_name(const tlb_mapping* m);

/* --- The core's events, passed on by tool/main.c --- */

void tg_aspace_startup(Addr a, SizeT len, Bool r, Bool w, Bool x,
                       ULong di_handle);
void tg_aspace_mapped(Addr a, SizeT len, Bool r, Bool w, Bool x);
void tg_aspace_unmapped(Addr a, SizeT len);
void tg_aspace_moved(Addr from, Addr to, SizeT len);
void tg_aspace_protected(Addr a, SizeT len, Bool r, Bool w, Bool x);
void tg_aspace_break_up(Addr a, SizeT len, ThreadId tid);
void tg_aspace_break_down(Addr a, SizeT len);
void tg_aspace_pre_syscall(ThreadId tid, UInt syscall, const UWord* args);
void tg_aspace_post_syscall(ThreadId tid, UInt syscall, const UWord* args,
                            SysRes result);
void tg_aspace_forked(ThreadId tid, Bool in_child);

#endif
