/* Mappings lie as they would natively. See tg_native_mmap.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_guest.h"
#include "pub_tool_machine.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "tg_fault_maps.h"
#include "tg_native_mmap.h"
#include "tg_registers.h"

#if defined(VGA_amd64)

/* Below 64 GiB, where Valgrind's own memory begins. */
static const ULong mask = (1ULL << 36) - 1;

enum { LINUX_MAP_FIXED = 0x10, LINUX_MAP_ANONYMOUS = 0x20,
       LINUX_MAP_32BIT = 0x40, LINUX_MAP_FIXED_NOREPLACE = 0x100000 };

/* A thread whose register has been changed; there is one at most, for mmap()
   does not block. */
static ThreadId changed; /* 0: none */
static UWord wish;

#define GUEST(field) ((PtrdiffT)offsetof(VexGuestAMD64State, guest_##field))

Addr tg_native_mmap_here(ULong native)
{
   return (Addr)(native & mask);
}

/* Whether the thread has just come to a system call: the instruction before
   its next one is `syscall'. */
static Bool is_at_syscall(ThreadId tid)
{
   const Addr ip = VG_(get_IP)(tid) - 2;
   return VG_(am_is_valid_for_client)(ip, 2, VKI_PROT_READ)
          && ((const UChar*)ip)[0] == 0x0f && ((const UChar*)ip)[1] == 0x05;
}

void tg_native_mmap_stopped(ThreadId tid)
{
   if (changed != 0 || tg_register(tid, GUEST(RAX)) != __NR_mmap
       || tg_register(tid, GUEST(RDI)) != 0 || !is_at_syscall(tid))
      return;
   const UWord flags = tg_register(tid, GUEST(R10));
   if ((flags & (LINUX_MAP_FIXED | LINUX_MAP_FIXED_NOREPLACE | LINUX_MAP_32BIT))
       != 0)
      return;
   const Bool is_file = (flags & LINUX_MAP_ANONYMOUS) == 0;
   const ULong native = tg_maps_place(tg_register(tid, GUEST(RSI)), is_file,
                                       is_file ? tg_register(tid, GUEST(R9)) : 0);
   if (native == 0)
      return;
   wish = tg_native_mmap_here(native);
   changed = tid;
   tg_set_register(tid, GUEST(RDI), wish);
}

void tg_native_mmap_done(ThreadId tid)
{
   if (changed != tid || tid == 0)
      return;
   changed = 0;
   if (tg_register(tid, GUEST(RDI)) == wish)
      tg_set_register(tid, GUEST(RDI), 0);
}

Bool tg_native_mmap_wishes(void)
{
   return changed != 0;
}

#else

Addr tg_native_mmap_here(ULong native)
{
   (void)native;
   return 0;
}

void tg_native_mmap_stopped(ThreadId tid)
{
   (void)tid;
}

void tg_native_mmap_done(ThreadId tid)
{
   (void)tid;
}

Bool tg_native_mmap_wishes(void)
{
   return False;
}

#endif
