/* Reads the arguments of system calls that change mappings. See space/aspace.h.

   The core reports new mappings without the flags of mmap(), mremap() and shmat(), and does not
   report madvise(), mlock() and the properties that a fork changes. */

#include "pub_tool_basics.h"

#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "arch/arch.h"
#include "space/aspace_parts.h"
#include "space/huge_files.h"
#include "space/hugetlb.h"
#include "base/proc_file.h"

/* Linux's numbers, where Valgrind's headers have none. They are the same on
   all architectures that the tool is built for (asm-generic/mman-common.h,
   linux/mman.h, linux/ipc.h, linux/prctl.h). */
enum {
   LINUX_MLOCK_ONFAULT = 1,
   LINUX_IPC_SHMAT = 21,
   LINUX_IPC_SHMGET = 23,
   LINUX_MADV_NORMAL = 0,
   LINUX_MADV_RANDOM = 1,
   LINUX_MADV_SEQUENTIAL = 2,
   LINUX_MADV_DONTNEED = 4,
   LINUX_MADV_FREE = 8,
   LINUX_MADV_REMOVE = 9,
   LINUX_MADV_DONTFORK = 10,
   LINUX_MADV_DOFORK = 11,
   LINUX_MADV_MERGEABLE = 12,
   LINUX_MADV_UNMERGEABLE = 13,
   LINUX_MADV_HUGEPAGE = 14,
   LINUX_MADV_NOHUGEPAGE = 15,
   LINUX_MADV_DONTDUMP = 16,
   LINUX_MADV_DODUMP = 17,
   LINUX_MADV_WIPEONFORK = 18,
   LINUX_MADV_KEEPONFORK = 19,
   LINUX_MADV_COLD = 20,
   LINUX_MADV_PAGEOUT = 21,
   LINUX_MADV_DONTNEED_LOCKED = 24,
   LINUX_MADV_COLLAPSE = 25,
   LINUX_MADV_GUARD_INSTALL = 102,
   LINUX_PR_SET_THP_DISABLE = 41,
   LINUX_PR_THP_DISABLE_EXCEPT_ADVISED = 2
};

/* Whether it is the System V call `own`, or ipc(), which multiplexes them, with the number `ipc`.
   `shm_args`: its arguments. */
static Bool is_shm(UInt syscall, const UWord* args, Int ipc, UInt own,
                   const UWord** shm_args)
{
   *shm_args = args;
   if (syscall == own)
      return True;
   *shm_args = args + 1;
   return syscall == tg_arch.syscalls.ipc && (Int)(args[0] & 0xffff) == ipc;
}

void tg_aspace_pre_syscall(ThreadId tid, UInt syscall, const UWord* args)
{
   const UWord* shm;
   UWord flags;
   tg_space_pending = (TgPendingCall){ .call = TG_NO_CALL, .tid = tid };
   if (tg_arch_is_mmap(syscall, args, &flags)) {
      const UWord asked = tg_hugetlb_asked(tid);
      tg_space_pending.call = TG_MMAP;
      tg_space_pending.flags = asked != 0 ? asked : flags;
   } else if (syscall == __NR_mremap) {
      tg_space_pending.call = TG_MREMAP;
   } else if (is_shm(syscall, args, LINUX_IPC_SHMAT, tg_arch.syscalls.shmat, &shm)) {
      tg_space_pending.call = TG_SHMAT;
      tg_space_pending.shmid = (Int)shm[0];
      /* shmat(id, address, flags), but ipc() has the flags before the address. */
      tg_space_pending.flags = syscall == tg_arch.syscalls.shmat ? shm[2] : shm[1];
   }
}

/* Advice that discards pages. Of huge pages the kernel discards whole ones only, and keeps those
   that the range covers in part. */
static void taken_away(ThreadId tid, ULong start, ULong end, Int advice)
{
   tlb_mapping m;
   for (ULong at = start; tlb_mappings_piece(&tg_space.map.mappings, at, end, &m);
        at = m.end) {
      const ULong mask = m.flags & TLB_MAP_HUGETLB ? ((ULong)1 << m.huge_shift) - 1 : 0;
      const ULong from = (m.start + mask) & ~mask;
      const ULong to = m.end & ~mask;
      if (from < to) {
         const TgSpaceEvent e = { .what = TG_SPACE_ADVISE, .tid = tid, .start = (Addr)from,
                                  .length = to - from, .advice = advice };
         /* Before the pages go, as with an UNMAP. */
         tg_space_tell(&e);
         tlb_pagemap_zap(&tg_space.map, from, to);
      }
   }
}

/* Advice that only sets or clears flags of the mappings. */
static const struct {
   Int advice;
   UInt set, clear;
} noted[] = {
   { LINUX_MADV_NORMAL, 0, TLB_MAP_RANDOM | TLB_MAP_SEQUENTIAL },
   { LINUX_MADV_RANDOM, TLB_MAP_RANDOM, TLB_MAP_SEQUENTIAL },
   { LINUX_MADV_SEQUENTIAL, TLB_MAP_SEQUENTIAL, TLB_MAP_RANDOM },
   { LINUX_MADV_DONTDUMP, TLB_MAP_NO_DUMP, 0 },
   { LINUX_MADV_DODUMP, 0, TLB_MAP_NO_DUMP },
   { LINUX_MADV_DONTFORK, TLB_MAP_NO_FORK, 0 },
   { LINUX_MADV_DOFORK, 0, TLB_MAP_NO_FORK },
   { LINUX_MADV_WIPEONFORK, TLB_MAP_WIPE_ON_FORK, 0 },
   { LINUX_MADV_KEEPONFORK, 0, TLB_MAP_WIPE_ON_FORK },
   { LINUX_MADV_MERGEABLE, TLB_MAP_MERGEABLE, 0 },
   { LINUX_MADV_UNMERGEABLE, 0, TLB_MAP_MERGEABLE },
   { LINUX_MADV_HUGEPAGE, TLB_MAP_HUGEPAGE, TLB_MAP_NOHUGEPAGE },
   { LINUX_MADV_NOHUGEPAGE, TLB_MAP_NOHUGEPAGE, TLB_MAP_HUGEPAGE },
};

static void advised(ThreadId tid, ULong start, ULong end, Int advice)
{
   const TgSpaceEvent e = { .what = TG_SPACE_ADVISE, .tid = tid,
                            .start = (Addr)start, .length = end - start,
                            .advice = advice };
   switch (advice) {
   case LINUX_MADV_DONTNEED:
   case LINUX_MADV_DONTNEED_LOCKED:
   case LINUX_MADV_REMOVE:
   case LINUX_MADV_GUARD_INSTALL:
      taken_away(tid, start, end, advice);
      return;
   case LINUX_MADV_FREE:
   case LINUX_MADV_COLD:
   case LINUX_MADV_PAGEOUT:
      tlb_pagemap_split(&tg_space.map, start, end, advice == LINUX_MADV_PAGEOUT);
      break;
   case LINUX_MADV_COLLAPSE:
      tlb_pagemap_collapse(&tg_space.map, start, end);
      break;
   default:
      for (UInt i = 0; i < sizeof noted / sizeof noted[0]; i++) {
         if (noted[i].advice == advice)
            tlb_pagemap_flag(&tg_space.map, start, end, noted[i].set, noted[i].clear);
      }
      break;
   }
   tg_space_tell(&e);
}

static UInt flags_of_lock(Bool lock, Bool on_fault)
{
   return !lock ? 0 : on_fault ? TLB_MAP_LOCKED | TLB_MAP_ON_FAULT : TLB_MAP_LOCKED;
}

static void locked(ThreadId tid, ULong start, ULong end, Bool lock,
                   Bool on_fault)
{
   const TgSpaceEvent e = { .what = lock ? TG_SPACE_LOCK : TG_SPACE_UNLOCK,
                            .tid = tid, .start = (Addr)start,
                            .length = end - start,
                            .flags = on_fault ? TG_SPACE_ON_FAULT : 0 };
   tlb_pagemap_flag(&tg_space.map, start, end, flags_of_lock(lock, on_fault),
                    TLB_MAP_LOCKED | TLB_MAP_ON_FAULT);
   tg_space_tell(&e);
}

/* mlockall() and munlockall(): all mappings. */
static void locked_all(ThreadId tid, Bool lock, Bool on_fault)
{
   tlb_mapping m;
   for (ULong at = 0; tlb_mappings_piece(&tg_space.map.mappings, at, ~0ULL, &m); at = m.end)
      locked(tid, m.start, m.end, lock, on_fault);
}

static void mlockall_done(ThreadId tid, UWord flags)
{
   const UWord current = tg_arch.syscalls.mcl_current, future = 2 * current;
   const Bool on_fault = (flags & 4 * current) != 0;
   tg_space.future_flags = flags_of_lock((flags & future) != 0, on_fault);
   if (flags & current)
      locked_all(tid, True, on_fault);
}

/* --- Calls that fail after a part of their effect --- */

/* Operations of refuses() beside advice: mprotect() to PROT_WRITE, and one that never fails. */
enum { TO_WRITE = -1, ANYTHING = -2 };

static Bool is_anonymous(const tlb_mapping* m)
{
   return !(m->flags & TLB_MAP_SHARED) && m->inode == 0;
}

/* Whether the kernel refuses the operation for the mapping. A shared file without PROT_WRITE
   counts as opened read-only: how it was opened is unknown here. */
static Bool refuses(const tlb_mapping* m, Int what)
{
   const Bool locked = (m->flags & TLB_MAP_LOCKED) != 0;
   const Bool hugetlb = (m->flags & TLB_MAP_HUGETLB) != 0;
   const Bool shared = (m->flags & TLB_MAP_SHARED) != 0;
   const Bool writable = (m->prot & TLB_MAY_WRITE) != 0;
   switch (what) {
   case TO_WRITE:
      return shared && !writable;
   case LINUX_MADV_DONTNEED:
      return locked && !hugetlb;
   case LINUX_MADV_REMOVE:
      return locked || !shared || !writable;
   case LINUX_MADV_FREE:
      return locked || !is_anonymous(m);
   case LINUX_MADV_COLD:
   case LINUX_MADV_PAGEOUT:
   case LINUX_MADV_GUARD_INSTALL:
      return locked || hugetlb;
   case LINUX_MADV_COLLAPSE:
      return !is_anonymous(m) || (m->flags & TLB_MAP_NOHUGEPAGE)
             || tg_space.map.thp != TLB_THP_ALLOWED;
   default:
      return False;
   }
}

/* The address at which a call on [start, end) stops: a hole, or the first mapping for which the
   kernel refuses it; else `end`. */
static ULong stops_at(ULong start, ULong end, Int what)
{
   ULong at = start;
   for (tlb_mapping m; tlb_mappings_piece(&tg_space.map.mappings, at, end, &m)
                       && m.start == at && !refuses(&m, what);)
      at = m.end;
   return at;
}

/* The hole at which a call has failed with ENOMEM; `start` if it failed for another reason. */
static ULong hole_in(ULong start, ULong end, UWord error)
{
   const ULong hole = stops_at(start, end, ANYTHING);
   return error == VKI_ENOMEM && hole < end ? hole : start;
}

/* MADV_COLLAPSE fails for a block without present pages, but continues with the rest of the
   mapping. A block of which all pages are present counts as collapsed. */
static void collapsed_in_part(ThreadId tid, ULong start, ULong end)
{
   const ULong huge = 2 << 20;
   tlb_mapping m;
   for (ULong at = start; tlb_mappings_piece(&tg_space.map.mappings, at, end, &m); at = m.end) {
      for (ULong b = (m.start + huge - 1) & ~(huge - 1); b + huge <= m.end; b += huge) {
         if (tg_proc_are_there((Addr)b, (UInt)(huge / VKI_PAGE_SIZE)))
            advised(tid, b, b + huge, LINUX_MADV_COLLAPSE);
      }
   }
}

static void advised_in_part(ThreadId tid, ULong start, ULong end, Int advice, UWord error)
{
   const ULong stop = stops_at(start, end, advice);
   if (error == VKI_ENOMEM) {
      /* madvise() skips holes and then fails. */
      if (stops_at(start, end, ANYTHING) < end)
         advised(tid, start, end, advice);
   } else if (advice == LINUX_MADV_COLLAPSE) {
      collapsed_in_part(tid, start, stop);
   } else if (start < stop && stop < end) {
      advised(tid, start, stop, advice);
   }
}

static void protected_in_part(ULong start, ULong end, UWord prot, UWord error)
{
   const ULong stop = error == VKI_EACCES ? stops_at(start, end, TO_WRITE)
                                          : hole_in(start, end, error);
   if (start < stop && stop < end)
      tg_aspace_protected((Addr)start, (SizeT)(stop - start), (prot & VKI_PROT_READ) != 0,
                          (prot & VKI_PROT_WRITE) != 0, (prot & VKI_PROT_EXEC) != 0);
}

/* A failed mlock() has locked the mappings up to the hole, but made no page present. */
static void locked_in_part(ThreadId tid, ULong start, ULong end, Bool lock, UWord error)
{
   const ULong hole = hole_in(start, end, error);
   if (start < hole)
      locked(tid, start, hole, lock, lock);
}

static void done_in_part(ThreadId tid, UInt syscall, const UWord* args, UWord error)
{
   const ULong start = tg_page_down(args[0]);
   const ULong end = tg_page_up((ULong)args[0] + args[1]);
   switch (syscall) {
   case __NR_madvise:
      if (start == args[0])
         advised_in_part(tid, start, end, (Int)args[2], error);
      return;
   case __NR_mprotect:
      protected_in_part(start, end, args[2], error);
      return;
   case __NR_mlock:
   case __NR_mlock2:
      locked_in_part(tid, start, end, True, error);
      return;
   case __NR_munlock:
      locked_in_part(tid, start, end, False, error);
      return;
   default:
      return;
   }
}

/* --- After a system call --- */

void tg_aspace_post_syscall(ThreadId tid, UInt syscall, const UWord* args,
                            SysRes result)
{
   const UWord* shm;
   const UWord asked = tg_hugetlb_asked(tid);
   tg_space_pending = (TgPendingCall){ .call = TG_NO_CALL };
   if (sr_isError(result)) {
      done_in_part(tid, syscall, args, sr_Err(result));
      return;
   }
   const ULong start = tg_page_down(args[0]);
   const ULong end = tg_page_up((ULong)args[0] + args[1]);
   switch (syscall) {
   case __NR_madvise:
      advised(tid, start, end, (Int)args[2]);
      return;
   case __NR_mlock:
      locked(tid, start, end, True, False);
      return;
   case __NR_mlock2:
      locked(tid, start, end, True,
             (args[2] & LINUX_MLOCK_ONFAULT) != 0);
      return;
   case __NR_munlock:
      locked(tid, start, end, False, False);
      return;
   case __NR_mlockall:
      mlockall_done(tid, args[0]);
      return;
   case __NR_prctl:
      if (args[0] == LINUX_PR_SET_THP_DISABLE)
         tlb_pagemap_consent(&tg_space.map,
                             args[1] == 0 ? TLB_THP_ALLOWED
                             : args[2] & LINUX_PR_THP_DISABLE_EXCEPT_ADVISED
                                  ? TLB_THP_ADVISED_ONLY : TLB_THP_DISABLED);
      return;
   case __NR_munlockall:
      tg_space.future_flags = 0;
      locked_all(tid, False, False);
      return;
   default:
      break;
   }
   if (is_shm(syscall, args, LINUX_IPC_SHMGET, tg_arch.syscalls.shmget, &shm))
      tg_huge_files_segment_was_made((Int)sr_Res(result), shm[1],
                           asked == 0 ? shm[2] : asked);
   else if (syscall == __NR_memfd_create)
      tg_huge_files_file_was_made((Int)sr_Res(result), asked == 0 ? args[1] : asked);
}

/* Removes or resets what a child does not inherit. */
static void leave_behind(void)
{
   tlb_mapping m;
   ULong end = 0;
   for (; tlb_mappings_piece(&tg_space.map.mappings, end, ~0ULL, &m); end = m.end) {
      if (m.flags & TLB_MAP_WIPE_ON_FORK)
         tlb_pagemap_zap(&tg_space.map, m.start, m.end);
      if (m.flags & TLB_MAP_NO_FORK)
         tg_space_remove(m.start, m.end, 0);
   }
   /* Locks are not inherited either. */
   tg_space.future_flags = 0;
   tlb_pagemap_flag(&tg_space.map, 0, end, 0, TLB_MAP_LOCKED | TLB_MAP_ON_FAULT);
}

void tg_aspace_forked(ThreadId tid, Bool in_child)
{
   const TgSpaceEvent e = { .what = TG_SPACE_FORK, .tid = tid,
                            .flags = in_child ? TG_SPACE_CHILD : 0 };
   if (in_child)
      leave_behind();
   tg_space_tell(&e);
}
