/* Rewrites system calls for huge pages. See space/hugetlb.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "pub_tool_xarray.h"

#include "arch/arch.h"
#include "space/huge_files.h"
#include "space/hugetlb.h"
#include "base/registers.h"

/* Linux's numbers (asm-generic/mman-common.h, asm-generic/mman.h, linux/shm.h,
   linux/memfd.h, linux/ipc.h). */
enum {
   LINUX_MAP_FIXED = 0x10,
   LINUX_MAP_ANONYMOUS = 0x20,
   LINUX_MAP_HUGETLB = 0x40000,
   LINUX_MAP_FIXED_NOREPLACE = 0x100000,
   LINUX_IPC_SHMAT = 21,
   LINUX_IPC_SHMGET = 23
};

/* The arguments that are looked at, from the first on. */
enum { N_ARGUMENTS = 5 };

typedef UWord Arguments[N_ARGUMENTS];

/* A thread whose registers have been changed. */
typedef struct {
   ThreadId tid;
   UWord asked; /* the flags that the program passed */
   Arguments before;
   Arguments after;
} Changed;

static XArray* changed_calls; /* Changed */
static Bool faked;

static Word find(ThreadId tid)
{
   for (Word i = 0; i < VG_(sizeXA)(changed_calls); i++) {
      const Changed* c = VG_(indexXA)(changed_calls, i);
      if (c->tid == tid)
         return i;
   }
   return -1;
}

void tg_hugetlb_init(Bool fake)
{
   faked = fake;
   changed_calls = VG_(newXA)(VG_(malloc), "tg.hugetlb", VG_(free), sizeof(Changed));
}

/* --- The arguments as the kernel would interpret them --- */

static UWord whole_pages(UWord bytes, UInt shift)
{
   const UWord mask = ((UWord)1 << shift) - 1;
   return (bytes + mask) & ~mask;
}

/* The first address of every segment, including free ones, in order. */
static Addr* segment_starts(Int* n)
{
   const UInt all = SkFree | SkAnonC | SkAnonV | SkFileC | SkFileV | SkShmC
                    | SkResvn;
   Int room = 256;
   for (;;) {
      Addr* starts = VG_(malloc)("tg.hugetlb.starts",
                                 (SizeT)room * sizeof *starts);
      *n = VG_(am_get_segment_starts)(all, starts, room);
      if (*n >= 0)
         return starts;
      room = -*n;
      VG_(free)(starts);
   }
}

static Bool holds(Addr from, Addr to, Addr place, UWord bytes)
{
   return place >= from && place < to && to - place >= bytes;
}

/* A free address for `bytes` bytes, aligned to the huge page; 0: there is none. The hint, if it is
   free, as in the kernel; else the lowest free address from the core's lowest on. */
static UWord free_place(UWord hint, UWord bytes, UInt shift)
{
   const Addr lowest = 0x4000000;
   const UWord mask = ((UWord)1 << shift) - 1;
   const Addr at_hint = (hint + mask) & ~mask;
   Int n;
   Addr* starts = segment_starts(&n);
   UWord place = 0;
   for (Int i = 0; i + 1 < n; i++) {
      const Addr start = starts[i] < lowest ? lowest : starts[i];
      const Addr a = (start + mask) & ~mask;
      /* The core returns NULL for a free segment. A fixed reservation is an area where the core
         maps memory only if the call passes the address. */
      const NSegment* s = VG_(am_find_nsegment)(starts[i]);
      const Bool on_demand = s != NULL && s->kind == SkResvn
                             && s->smode == SmFixed;
      if (hint != 0 && (s == NULL || on_demand)
          && holds(starts[i], starts[i + 1], at_hint, bytes)) {
         place = at_hint;
         break;
      }
      if (place == 0 && s == NULL && holds(start, starts[i + 1], a, bytes))
         place = a;
   }
   VG_(free)(starts);
   return place;
}

static UWord without_size(UWord flags, UWord flag)
{
   return flags & ~(flag | (UWord)0x3f << 26);
}

/* Rounds the length of anonymous memory up to whole huge pages. */
static Bool change_length(UWord* a)
{
   const UWord both = LINUX_MAP_ANONYMOUS | LINUX_MAP_HUGETLB;
   const UInt shift = (a[3] & both) == both ? tg_huge_files_shift(a[3]) : 0;
   const UWord bytes = whole_pages(a[1], shift);
   if (bytes <= a[1])
      return False;
   a[1] = bytes;
   return True;
}

/* Changes an mmap() of anonymous memory in huge pages, or of a file in huge pages, whose mappings
   are aligned as well. */
static Bool change_mmap(UWord* a, UWord* asked)
{
   const UWord flags = a[3];
   UInt shift = 0;
   if (!faked)
      return change_length(a);
   if (!(flags & LINUX_MAP_ANONYMOUS)) {
      shift = tg_huge_files_made((Int)a[4]);
   } else if (flags & LINUX_MAP_HUGETLB) {
      shift = tg_huge_files_shift(flags);
      *asked = flags;
   }
   if (shift == 0)
      return False;
   a[1] = whole_pages(a[1], shift);
   a[3] = flags & LINUX_MAP_HUGETLB ? without_size(flags, LINUX_MAP_HUGETLB)
                                    : flags;
   if (!(flags & (LINUX_MAP_FIXED | LINUX_MAP_FIXED_NOREPLACE))) {
      const UWord place = free_place(a[0], a[1], shift);
      a[0] = place == 0 ? a[0] : place;
   }
   return True;
}

/* a: key, size, flags */
static Bool change_shmget(UWord* a, UWord* asked)
{
   const UInt shift = tg_huge_files_shift(a[2]);
   if (!faked || !(a[2] & TG_SHM_HUGETLB) || shift == 0)
      return False;
   *asked = a[2];
   a[2] = without_size(a[2], TG_SHM_HUGETLB);
   a[1] = whole_pages(a[1], shift);
   return True;
}

static Bool change_memfd_create(UWord* a, UWord* asked)
{
   if (!faked || !(a[1] & TG_MFD_HUGETLB) || tg_huge_files_shift(a[1]) == 0)
      return False;
   *asked = a[1];
   a[1] = without_size(a[1], TG_MFD_HUGETLB);
   return True;
}

/* Passes an aligned address: the kernel would align the attachment of huge pages. */
static Bool change_shmat(Int shmid, UWord* address)
{
   ULong bytes;
   const UInt shift = tg_huge_files_segment(shmid, &bytes);
   if (!faked || shift == 0 || *address != 0)
      return False;
   *address = free_place(0, (UWord)bytes, shift);
   return *address != 0;
}

/* Changes the arguments of a system call if it is one for huge pages. */
static Bool change(UWord number, UWord* a, UWord* asked)
{
   *asked = 0;
   if (number == tg_arch.syscalls.mmap)
      return change_mmap(a, asked);
   if (number == tg_arch.syscalls.ipc) {
      if ((a[0] & 0xffff) == LINUX_IPC_SHMGET)
         return change_shmget(a + 1, asked);
      /* call, id, flags, where the address is put, address */
      return (a[0] & 0xffff) == LINUX_IPC_SHMAT && change_shmat((Int)a[1], &a[4]);
   }
   if (number == tg_arch.syscalls.shmget)
      return change_shmget(a, asked);
   if (number == tg_arch.syscalls.shmat)
      return change_shmat((Int)a[0], &a[1]);
   return number == __NR_memfd_create && change_memfd_create(a, asked);
}

/* --- Before and after a system call --- */

void tg_hugetlb_stopped(ThreadId tid)
{
   Changed c = { .tid = tid };
   for (UInt i = 0; i < N_ARGUMENTS; i++)
      c.before[i] = tg_syscall_argument(tid, i);
   VG_(memcpy)(c.after, c.before, sizeof c.after);
   /* The thread need not have stopped for a system call. If the registers only look like one, they
      are restored when it goes on, before the program can read them. */
   if (!change(tg_syscall_number(tid), c.after, &c.asked))
      return;
   for (UInt i = 0; i < N_ARGUMENTS; i++)
      tg_set_register(tid, tg_arch.registers.syscall_argument[i], c.after[i]);
   VG_(addToXA)(changed_calls, &c);
}

void tg_hugetlb_done(ThreadId tid)
{
   const Word at = find(tid);
   if (at < 0)
      return;
   const Changed* c = VG_(indexXA)(changed_calls, at);
   /* The result may have the register of an argument (arm64). */
   for (UInt i = 0; i < N_ARGUMENTS; i++) {
      if (tg_syscall_argument(tid, i) == c->after[i])
         tg_set_register(tid, tg_arch.registers.syscall_argument[i], c->before[i]);
   }
   VG_(removeIndexXA)(changed_calls, at);
}

void tg_hugetlb_started(ThreadId tid)
{
   tg_hugetlb_done(tid);
}

UWord tg_hugetlb_asked(ThreadId tid)
{
   const Word at = find(tid);
   return at < 0 ? 0 : ((const Changed*)VG_(indexXA)(changed_calls, at))->asked;
}
