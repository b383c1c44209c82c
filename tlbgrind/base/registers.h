/* Reads and writes one register of a thread that is not running.

   The register is given by its place in the guest's state. */

#ifndef TG_REGISTERS_H
#define TG_REGISTERS_H

#include "pub_tool_basics.h"
#include "pub_tool_machine.h"

static inline UWord tg_register(ThreadId tid, PtrdiffT at)
{
   UWord value;
   VG_(get_shadow_regs_area)(tid, (UChar*)&value, 0, at, sizeof value);
   return value;
}

static inline void tg_set_register(ThreadId tid, PtrdiffT at, UWord value)
{
   VG_(set_shadow_regs_area)(tid, 0, at, sizeof value, (const UChar*)&value);
}

#endif
