/* The client's address space: its mappings, and listeners for their changes.

   Follows Valgrind's events and the arguments of the system calls behind them. A mapping that
   munmap() removes goes out of the page map (sim/pages/pagemap.h), and from there out of the
   simulated TLBs; then the listeners are called. */

#ifndef TG_ASPACE_H
#define TG_ASPACE_H

#include "pub_tool_basics.h"

#include "sim/pages/pagemap.h"

typedef enum {
   TG_SPACE_MAP,     /* `mapping` is new; after what was there went away */
   TG_SPACE_GROW,    /* `mapping` is more of its neighbour: the break, the
                        stack, mremap() in place */
   TG_SPACE_UNMAP,   /* while the mappings are still there */
   TG_SPACE_MOVE,    /* mremap(): from `from`; an UNMAP of the old place follows
                        unless the program asked to keep it */
   TG_SPACE_PROTECT, /* `prot` */
   TG_SPACE_RENAME,  /* a file's mapping turns out to be a library's */
   TG_SPACE_ADVISE,  /* `advice`: any value of madvise() that succeeded */
   TG_SPACE_LOCK,    /* mlock(), mlockall(): TG_SPACE_ON_FAULT may be set */
   TG_SPACE_UNLOCK,
   TG_SPACE_FORK     /* in the parent and in the child */
} TgSpaceWhat;

enum {
   TG_SPACE_STARTUP = 1,  /* MAP: there before the first instruction */
   TG_SPACE_POPULATE = 2, /* MAP: MAP_POPULATE without MAP_NONBLOCK, or
                             MAP_LOCKED: the pages are there at once */
   TG_SPACE_ON_FAULT = 4, /* LOCK: nothing is brought in now (MLOCK_ONFAULT) */
   TG_SPACE_CHILD = 8     /* FORK: this is the child */
};

/* What happened, to the bytes [start, start + length), whole pages of 4K. What
   an event has no use for is 0. */
typedef struct {
   TgSpaceWhat what;
   ThreadId tid;  /* that made the call; 0: not known */
   Addr start;
   ULong length;
   Addr from;
   UInt prot;     /* TLB_MAY_READ and so on */
   Int advice;
   UInt flags;    /* TG_SPACE_STARTUP and so on */
   Bool fixed;    /* MAP: at an address of the program's choice */
   const tlb_mapping* mapping; /* as asked for: in the map it may have become
                                  one with its neighbours */
} TgSpaceEvent;

typedef void TgSpaceListener(void* opaque, const TgSpaceEvent* e);

/* Before the client starts. */
void tg_aspace_init(void);

/* Listeners are called in the order in which they came. */
void tg_aspace_listen(TgSpaceListener* listener, void* opaque);

/* The one page map of the process: views are added to it, questions asked of
   it. It is changed by space/aspace.c and space/aspace_calls.c only. */
tlb_pagemap* tg_aspace_map(void);

/* The mapping that has this byte, or NULL. The stack grows to it if the kernel
   would let it. True until the next change. */
const tlb_mapping* tg_aspace_find(Addr a);

/* "heap", "stack", "library" and so on. */
const HChar* tg_aspace_kind_name(const tlb_mapping* m);

/* --- What tool/main.c passes on from the core --- */

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
