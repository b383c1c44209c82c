/* Private header of the address space, shared by aspace.c and aspace_calls.c. */

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

/* The current system call; the core's events belong to it until it returns. */
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

/* Unmaps [start, end): removes all mappings there from the page map. */
void tg_space_remove(ULong start, ULong end, ThreadId tid);

#endif
