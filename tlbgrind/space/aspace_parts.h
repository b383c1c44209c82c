/* What the two files of the address space share: space/aspace.c, which mappings there are, and
   space/aspace_calls.c, the system calls that say so or change them. */

#ifndef TG_ASPACE_PARTS_H
#define TG_ASPACE_PARTS_H

#include "pub_tool_basics.h"

#include "pub_tool_vki.h"

#include "space/aspace.h"

typedef struct {
   tlb_pagemap map;
   UInt future_flags; /* of new mappings: TLB_MAP_LOCKED after mlockall(MCL_FUTURE) */
} TgSpace;

extern TgSpace tg_space;

/* The system call that events belong to until it is over. */
typedef struct {
   enum { TG_NO_CALL, TG_MMAP, TG_MREMAP, TG_SHMAT } call;
   ThreadId tid;
   UWord flags; /* of mmap() or shmat() */
   Int shmid;
} TgPendingCall;

extern TgPendingCall tg_space_pending;

static inline ULong tg_page_down(ULong a)
{
   return a / VKI_PAGE_SIZE * VKI_PAGE_SIZE;
}

static inline ULong tg_page_up(ULong a)
{
   return tg_page_down(a + VKI_PAGE_SIZE - 1);
}

/* Calls all listeners. */
void tg_space_tell(const TgSpaceEvent* e);

/* Whatever is mapped there goes away. */
void tg_space_remove(ULong start, ULong end, ThreadId tid);

#endif
