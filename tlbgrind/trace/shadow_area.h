/* What translated code and the tool keep of each thread, in the memory behind the thread's guest
   registers (the first shadow area, which Valgrind gives to tools): written with one instruction
   and no address.

   Everything that is there is a member of TgThreadArea. So no two parts of the tool share a place,
   whatever options they are for. */

#ifndef TG_SHADOW_AREA_H
#define TG_SHADOW_AREA_H

#include "pub_tool_basics.h"
#include "pub_tool_guest.h"
#include "pub_tool_machine.h"

#include <stddef.h>

/* What the addresses of a segment's data references are relative to. Base
   TG_NO_BASE is always 0, for addresses that are known when the code is
   translated. */
enum { TG_MAX_BASES = 16, TG_NO_BASE = TG_MAX_BASES };

/* The segment at hand. */
typedef struct {
   UWord segment; /* the number of the segment that is being run; 0: surely
                     none */
   UWord base[TG_MAX_BASES + 1];
} TgShadowArea;

/* For the call stacks (calls/call_stack.h). */
typedef struct {
   ULong refs;              /* data references since the last change of the stack: reads in the
                               lower half, writes in the upper */
   UWord left;              /* TgCallSite* of the block that was left; 0: it was no call, no
                               return, and no jump to another function */
} TgCallArea;

/* A function that is active, for --toggle-collect= (calls/collection.h) and for
   --faults-touches=yes (faults/touches.h). */
typedef struct {
   Addr until; /* the function has been left if the stack pointer is above; the highest address:
                  none is active */
   Addr back;  /* or if it is the same here, where the function returns to; 0: a return moves it */
} TgActiveArea;

typedef struct {
   TgShadowArea segment;
   UWord awaited; /* the least stack pointer at which a return may end an allocation
                     (data/blocks.h); 0 at first, when every return may: the first one sets it */
   TgCallArea calls __attribute__((aligned(8)));
   TgActiveArea collection;
   TgActiveArea touches;
} TgThreadArea;

_Static_assert(sizeof(TgThreadArea) <= sizeof(VexGuestArchState),
               "a shadow area is as large as the guest's registers");

/* Where it is, counted from the guest's registers; and where its member is. */
enum { TG_SHADOW_OFFSET = sizeof(VexGuestArchState) };
#define TG_THREAD_OFFSET(member) (TG_SHADOW_OFFSET + (Int)offsetof(TgThreadArea, member))

static inline TgThreadArea* tg_thread_area(UChar* guest_state)
{
   return (TgThreadArea*)(void*)(guest_state + TG_SHADOW_OFFSET);
}

static inline TgShadowArea* tg_shadow_area(UChar* guest_state)
{
   return &tg_thread_area(guest_state)->segment;
}

/* Reads and writes the area of a thread that does not run. */
static inline TgThreadArea tg_thread_area_of(ThreadId tid)
{
   TgThreadArea area;
   VG_(get_shadow_regs_area)(tid, (UChar*)&area, 1, 0, sizeof area);
   return area;
}

static inline void tg_thread_area_set(ThreadId tid, const TgThreadArea* area)
{
   VG_(set_shadow_regs_area)(tid, 1, 0, sizeof *area, (const UChar*)area);
}

#endif
