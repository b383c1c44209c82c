/* Reads and writes one register of a thread that is not running.

   The register is given by its place in the guest's state. */

#ifndef TG_REGISTERS_H
#define TG_REGISTERS_H

#include "pub_tool_basics.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_machine.h"
#include "pub_tool_vki.h"

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

#if defined(VGA_amd64)

/* Whether the thread has stopped for a system call: the instruction before its next one is
   `syscall'. */
static inline Bool tg_is_at_syscall(ThreadId tid)
{
   const Addr ip = VG_(get_IP)(tid) - 2;
   return VG_(am_is_valid_for_client)(ip, 2, VKI_PROT_READ)
          && ((const UChar*)ip)[0] == 0x0f && ((const UChar*)ip)[1] == 0x05;
}

#endif

#endif
