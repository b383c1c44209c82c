/* Reads and writes one register of a thread that is not running.

   The register is given by its place in the guest's state. */

#ifndef TG_REGISTERS_H
#define TG_REGISTERS_H

#include "pub_tool_basics.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_vki.h"

#include "arch/arch.h"

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

/* The number of the system call that the thread has stopped for, and argument i of it. */
static inline UWord tg_syscall_number(ThreadId tid)
{
   return tg_register(tid, tg_arch.registers.syscall_number);
}

static inline UWord tg_syscall_argument(ThreadId tid, UInt i)
{
   return tg_register(tid, tg_arch.registers.syscall_argument[i]);
}

/* Whether the thread has stopped for a system call: the instruction before its next one makes
   one. */
static inline Bool tg_is_at_syscall(ThreadId tid)
{
   const UInt bytes = tg_arch.syscalls.bytes;
   const UChar* other = tg_arch.syscalls.other_code;
   const Addr at = VG_(get_IP)(tid) - bytes;
   return VG_(am_is_valid_for_client)(at, bytes, VKI_PROT_READ)
          && (VG_(memcmp)((const void*)at, tg_arch.syscalls.code, bytes) == 0
              || (other[0] != 0 && VG_(memcmp)((const void*)at, other, bytes) == 0));
}

#endif
