/* Instrumentation on or off. See trace/instrumentation.h. */

#include "pub_tool_basics.h"

#include "trace/instrumentation.h"

/* The core's; its headers for tools have only a form of it for client requests. */
extern void VG_(discard_translations)(Addr start, ULong range, const HChar* who);

Bool tg_instrumented = True;
Bool tg_instrumentation_was_off;

void tg_instrumentation_set(Bool on)
{
   tg_instrumented = on;
   tg_instrumentation_was_off |= !on;
}

void tg_instrumentation_renew(void)
{
   /* The first page and the last are not the program's; the core refuses the whole range. */
   enum { FIRST = 0x1000 };
   VG_(discard_translations)(FIRST, ~(Addr)(FIRST - 1), "tlbgrind");
}
