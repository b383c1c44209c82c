/* Follows which processes share pages with this one. See space/forks.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "pub_tool_xarray.h"

#include "arch/arch.h"
#include "base/proc_file.h"
#include "space/aspace.h"
#include "space/forks.h"

enum { CLONE_VM_ = 0x100, CLONE_CHILD_SETTID_ = 0x1000000 };

/* The bytes of struct rseq (linux/rseq.h) that the kernel reads and writes. */
enum { RSEQ_BYTES = 28 };

static void (*on_shared)(void);
static XArray* sharers; /* Int: processes */
static Bool follow_all;
static Bool in_one_space;
static Bool has_forked; /* in the current call: its result is a process, which shares everything */
static Addr child_number_at; /* of the current call; 0: none */
static Addr rseq_area;       /* 0: none */

/* --- Processes --- */

/* The command line of a process, which lasts as long as its program; NULL: it has ended. */
static HChar* command_of(const HChar* process, SizeT* length)
{
   HChar name[64];
   VG_(snprintf)(name, sizeof name, "/proc/%s/cmdline", process);
   return tg_proc_read_all(name, length);
}

static Bool is_this_program(Int process)
{
   static HChar* own;
   static SizeT own_length;
   HChar number[16];
   SizeT length;
   if (own == NULL)
      own = command_of("self", &own_length);
   VG_(snprintf)(number, sizeof number, "%d", process);
   HChar* command = command_of(number, &length);
   const Bool same = own != NULL && command != NULL && length == own_length
                     && VG_(memcmp)(command, own, length) == 0;
   VG_(free)(command);
   return same;
}

static void add(Int process)
{
   VG_(addToXA)(sharers, &process);
}

Bool tg_forks_are_shared(void)
{
   if (has_forked)
      return True;
   for (Word i = VG_(sizeXA)(sharers) - 1; i >= 0; i--) {
      if (is_this_program(*(Int*)VG_(indexXA)(sharers, i)))
         return True;
      VG_(removeIndexXA)(sharers, i);
   }
   return False;
}

/* --- Forks --- */

static void listen(void* opaque, const TgSpaceEvent* e)
{
   (void)opaque;
   if (e->what != TG_SPACE_FORK || in_one_space)
      return;
   if (e->flags & TG_SPACE_CHILD)
      add(VG_(getppid)());
   else
      has_forked = True;
   if (tlb_pagemap_share(tg_aspace_map()) > 0 || follow_all)
      on_shared();
   TgKernelWrite write[TG_MAX_FORK_WRITES];
   const UInt n = tg_forks_kernel_writes((e->flags & TG_SPACE_CHILD) != 0, write);
   for (UInt i = 0; i < n; i++)
      tg_forks_written(write[i].at);
}

void tg_forks_pre_syscall(ThreadId tid, UInt number, const UWord* args)
{
   in_one_space = has_forked = False;
   child_number_at = 0;
   switch (number) {
   case __NR_clone:
      in_one_space = (args[0] & CLONE_VM_) != 0;
      if (!in_one_space && (args[0] & CLONE_CHILD_SETTID_) != 0)
         child_number_at = args[tg_arch.syscalls.clone_child_number];
      break;
   case __NR_rseq:
      if (tid == 1)
         rseq_area = args[0];
      break;
   /* The argument points to struct clone_args, whose first field is the flags. */
   case __NR_clone3:
      in_one_space = VG_(am_is_valid_for_client)(args[0], sizeof(ULong), VKI_PROT_READ)
                     && (*(const ULong*)args[0] & CLONE_VM_) != 0;
      break;
   default: in_one_space = number == tg_arch.syscalls.vfork; break;
   }
}

void tg_forks_post_syscall(SysRes result)
{
   if (has_forked && !sr_isError(result))
      add((Int)sr_Res(result));
   has_forked = False;
}

void tg_forks_follow_all(Bool all)
{
   follow_all = all;
}

Bool tg_forks_in_one_space(void)
{
   return in_one_space;
}

void tg_forks_written(Addr a)
{
   tlb_pagemap* map = tg_aspace_map();
   if (follow_all || tlb_pagemap_is_shared(map, a))
      tlb_pagemap_written(map, a, tg_forks_are_shared());
}

Bool tg_forks_is_false_write(Addr a)
{
   return a == child_number_at && a != 0;
}

UInt tg_forks_kernel_writes(Bool is_child, TgKernelWrite* out)
{
   UInt n = 0;
   if (is_child && child_number_at != 0)
      out[n++] = (TgKernelWrite) { child_number_at, sizeof(Int) };
   if (rseq_area != 0)
      out[n++] = (TgKernelWrite) { rseq_area, RSEQ_BYTES };
   return n;
}

void tg_forks_kernel_wrote(Addr a, SizeT len)
{
   if (VG_(sizeXA)(sharers) == 0)
      return;
   for (Addr at = a; at - a < len; at = VG_PGROUNDDN(at) + VKI_PAGE_SIZE)
      tg_forks_written(at);
}

void tg_forks_init(void (*shared)(void))
{
   on_shared = shared;
   sharers = VG_(newXA)(VG_(malloc), "tg.forks", VG_(free), sizeof(Int));
   tg_aspace_listen(listen, NULL);
}
