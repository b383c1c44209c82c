/* Passes native addresses to mmap() and mremap(). See native/mmap_wishes.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "arch/arch.h"
#include "space/aspace.h"
#include "native/maps.h"
#include "native/mmap_wishes.h"
#include "native/placement.h"
#include "base/registers.h"

enum { LINUX_MAP_SHARED = 0x01, LINUX_MAP_FIXED = 0x10, LINUX_MAP_ANONYMOUS = 0x20,
       LINUX_MAP_HUGETLB = 0x40000, LINUX_MAP_FIXED_NOREPLACE = 0x100000 };

/* A register that has been changed, and its value before. */
typedef struct {
   PtrdiffT at;
   UWord before;
   UWord after;
} Changed;

/* One thread at most has changed registers, because mmap() and mremap() do not block. */
static ThreadId changed_thread; /* 0: none */
static Changed changed_calls[2];
static UInt n_changed;
static Addr hint; /* the program's own, if the call is mmap(); else 0 */

static void change(ThreadId tid, UInt argument, UWord to)
{
   const PtrdiffT at = tg_arch.registers.syscall_argument[argument];
   changed_calls[n_changed++] = (Changed){ at, tg_register(tid, at), to };
   changed_thread = tid;
   tg_set_register(tid, at, to);
}

static void wish_mmap(ThreadId tid)
{
   const UWord flags = tg_syscall_argument(tid, 3);
   const SizeT bytes = tg_syscall_argument(tid, 1);
   hint = tg_syscall_argument(tid, 0);
   if ((flags & (LINUX_MAP_FIXED | LINUX_MAP_FIXED_NOREPLACE | tg_arch.syscalls.map_32bit)) != 0
       || (hint != 0 && tg_placement_takes_hint(hint, bytes)))
      return;
   const Bool is_file = (flags & LINUX_MAP_ANONYMOUS) == 0;
   const tlb_placed what
      = (flags & LINUX_MAP_HUGETLB) != 0 ? TLB_PLACED_HUGETLB
      : is_file ? tg_placement_of_file((Int)tg_syscall_argument(tid, 4))
      : (flags & LINUX_MAP_SHARED) != 0 || hint != 0 ? TLB_PLACED_SHARED : TLB_PLACED_MEMORY;
   const ULong native = tg_maps_place(bytes, what,
                                      is_file ? tg_syscall_argument(tid, 5) : 0);
   if (native != 0)
      change(tid, 0, tg_placement_here(native));
}

/* Whether [a, a + len) is free: mremap() with MREMAP_FIXED would replace mappings there. */
static Bool is_free(Addr a, SizeT len)
{
   return tg_placement_has_room(a)
          && !tlb_mappings_overlap(&tg_aspace_map()->mappings, a, a + len)
          && VG_(am_find_nsegment)(a) == NULL && VG_(am_find_nsegment)(a + len - 1) == NULL;
}

/* Passes the native new address to an mremap() that moves memory natively. */
static void wish_mremap(ThreadId tid)
{
   const SizeT len = VG_PGROUNDUP(tg_syscall_argument(tid, 2));
   hint = 0;
   if (tg_syscall_argument(tid, 3) != VKI_MREMAP_MAYMOVE)
      return;
   const ULong native = tg_placement_moves_to(tg_syscall_argument(tid, 0),
                                          tg_syscall_argument(tid, 1), len);
   if (native == 0 || !is_free(tg_placement_here(native), len))
      return;
   change(tid, 3, VKI_MREMAP_MAYMOVE | VKI_MREMAP_FIXED);
   change(tid, 4, tg_placement_here(native));
}

void tg_mmap_wishes_stopped(ThreadId tid)
{
   const UWord number = tg_syscall_number(tid);
   if (!tg_arch.syscalls.arguments_change || changed_thread != 0
       || (number != tg_arch.syscalls.mmap && number != __NR_mremap) || !tg_is_at_syscall(tid))
      return;
   if (number == tg_arch.syscalls.mmap)
      wish_mmap(tid);
   else
      wish_mremap(tid);
}

void tg_mmap_wishes_done(ThreadId tid)
{
   if (changed_thread != tid || tid == 0)
      return;
   changed_thread = 0;
   while (n_changed > 0) {
      const Changed* c = &changed_calls[--n_changed];
      /* On most architectures the result is in the register of the first argument. */
      if (c->at != tg_arch.registers.result && tg_register(tid, c->at) == c->after)
         tg_set_register(tid, c->at, c->before);
   }
}

Bool tg_mmap_wishes_pending(void)
{
   return changed_thread != 0;
}

Bool tg_mmap_wishes_hinted(void)
{
   return changed_thread != 0 && hint != 0;
}
