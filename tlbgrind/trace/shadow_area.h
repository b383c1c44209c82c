/* What translated code leaves for the tool, in the memory behind the running
   thread's guest registers (the first shadow area, which Valgrind gives to
   tools): written with one instruction and no address. */

#ifndef TG_SHADOW_AREA_H
#define TG_SHADOW_AREA_H

#include "pub_tool_basics.h"
#include "pub_tool_guest.h"

/* What the addresses of a segment's data references are relative to. Base
   TG_NO_BASE is always 0, for addresses that are known when the code is
   translated. */
enum { TG_MAX_BASES = 16, TG_NO_BASE = TG_MAX_BASES };

typedef struct {
   UWord segment; /* the number of the segment that is being run; 0: surely
                     none */
   UWord base[TG_MAX_BASES + 1];
} TgShadowArea;

/* Where it is, counted from the guest's registers. */
enum { TG_SHADOW_OFFSET = sizeof(VexGuestArchState) };

static inline TgShadowArea* tg_shadow_area(UChar* guest_state)
{
   return (TgShadowArea*)(void*)(guest_state + TG_SHADOW_OFFSET);
}

#endif
