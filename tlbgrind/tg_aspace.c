/* The client's address space: which mappings it has.

   Valgrind tells of a mapping that comes or goes after the system call, and
   without the flags. So the arguments are noted when a system call begins; the
   events that come before it is over belong to it. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_deduppoolalloc.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "pub_tool_xarray.h"

#include "tg_aspace.h"
#include "tg_huge_files.h"
#include "tg_hugetlb.h"
#include "tg_memory.h"
#include "tg_program.h"

/* Linux's numbers, where Valgrind's headers have none. They are the same on
   all architectures that the tool is built for (asm-generic/mman-common.h,
   asm-generic/mman.h, linux/mman.h, linux/shm.h, linux/ipc.h, linux/prctl.h). */
enum {
   LINUX_MAP_SHARED = 0x01,
   LINUX_MAP_TYPE = 0x0f, /* 3: MAP_SHARED_VALIDATE */
   LINUX_MAP_FIXED = 0x10,
   LINUX_MAP_ANONYMOUS = 0x20,
   LINUX_MAP_LOCKED = 0x2000,
   LINUX_MAP_POPULATE = 0x8000,
   LINUX_MAP_NONBLOCK = 0x10000,
   LINUX_MAP_STACK = 0x20000,
   LINUX_MAP_HUGETLB = 0x40000,
   LINUX_MAP_FIXED_NOREPLACE = 0x100000,
   LINUX_SHM_RDONLY = 010000,
   LINUX_MCL_CURRENT = 1,
   LINUX_MCL_FUTURE = 2,
   LINUX_MCL_ONFAULT = 4,
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

/* The system call that events belong to until it is over. */
typedef struct {
   enum { NO_CALL, MMAP, MREMAP, SHMAT } call;
   ThreadId tid;
   UWord flags; /* of mmap() or shmat() */
   Int shmid;
} PendingCall;

typedef struct {
   TgSpaceListener* tell;
   void* opaque;
} Listener;

static tlb_pagemap map;
static PendingCall pending;
static XArray* listeners; /* Listener */
static DedupPoolAlloc* names;
static ULong next_serial = 1;
static UInt future_flags; /* TLB_MAP_LOCKED after mlockall(MCL_FUTURE) */
static Bool traced;
static Addr stack_start; /* 0: not known */

/* Which file, as stat() says. */
typedef struct {
   ULong device;
   ULong inode;
} FileId;

static FileId program;
static FileId tool;

/* --- Telling --- */

static const HChar* const what_names[] = {
   [TG_SPACE_MAP] = "map",         [TG_SPACE_GROW] = "grow",
   [TG_SPACE_UNMAP] = "unmap",     [TG_SPACE_MOVE] = "move",
   [TG_SPACE_PROTECT] = "protect", [TG_SPACE_RENAME] = "rename",
   [TG_SPACE_ADVISE] = "advise",   [TG_SPACE_LOCK] = "lock",
   [TG_SPACE_UNLOCK] = "unlock",   [TG_SPACE_FORK] = "fork",
};

const HChar* tg_aspace_kind_name(const tlb_mapping* m)
{
   switch ((tlb_kind)m->kind) {
   case TLB_ANON:
      return m->flags & TLB_MAP_SHARED ? "shared" : "anonymous";
   case TLB_HEAP:
      return "heap";
   case TLB_STACK:
      return "stack";
   case TLB_THREAD_STACK:
      return "thread stack";
   case TLB_BSS:
      return m->flags & TLB_MAP_MAIN ? "program bss" : "library bss";
   case TLB_IMAGE:
      return m->flags & TLB_MAP_MAIN ? "program" : "library";
   case TLB_FILE:
      return "file";
   case TLB_SHM:
      return "System V";
   case TLB_N_KINDS:
      break;
   }
   return "?";
}

static void print_mapping(const tlb_mapping* m)
{
   static const struct {
      UInt flag;
      const HChar* name;
   } flags[] = {
      { TLB_MAP_FOREIGN, "foreign" },
      { TLB_MAP_HUGEPAGE, "hugepage" },
      { TLB_MAP_NOHUGEPAGE, "nohugepage" },
      { TLB_MAP_LOCKED, "locked" },
      { TLB_MAP_NO_FORK, "dontfork" },
      { TLB_MAP_WIPE_ON_FORK, "wipeonfork" },
   };
   VG_(dmsg)("%llx-%llx %c%c%c%c #%llu %s", (ULong)m->start, (ULong)m->end,
             m->prot & TLB_MAY_READ ? 'r' : '-',
             m->prot & TLB_MAY_WRITE ? 'w' : '-',
             m->prot & TLB_MAY_EXECUTE ? 'x' : '-',
             m->flags & TLB_MAP_SHARED ? 's' : 'p', (ULong)m->serial,
             tg_aspace_kind_name(m));
   if (m->flags & TLB_MAP_HUGETLB)
      VG_(dmsg)(" [hugetlb %lluK]", 1ULL << (m->huge_shift - 10));
   for (UInt i = 0; i < sizeof flags / sizeof flags[0]; i++) {
      if (m->flags & flags[i].flag)
         VG_(dmsg)(" [%s]", flags[i].name);
   }
   if (m->name != NULL)
      VG_(dmsg)(" %s+%llx", m->name, (ULong)m->offset);
}

static void print_event(const TgSpaceEvent* e)
{
   VG_(dmsg)("aspace: %s ", what_names[e->what]);
   if (e->mapping != NULL)
      print_mapping(e->mapping);
   else
      VG_(dmsg)("%llx-%llx", (ULong)e->start, (ULong)e->start + e->length);
   if (e->what == TG_SPACE_PROTECT)
      VG_(dmsg)(" %c%c%c", e->prot & TLB_MAY_READ ? 'r' : '-',
                e->prot & TLB_MAY_WRITE ? 'w' : '-',
                e->prot & TLB_MAY_EXECUTE ? 'x' : '-');
   if (e->what == TG_SPACE_MOVE)
      VG_(dmsg)(" from %llx", (ULong)e->from);
   if (e->what == TG_SPACE_ADVISE)
      VG_(dmsg)(" %d", e->advice);
   VG_(dmsg)("%s%s%s%s\n",
             e->flags & TG_SPACE_STARTUP ? " (at start)" : "",
             e->flags & TG_SPACE_POPULATE ? " (populated)" : "",
             e->flags & TG_SPACE_ON_FAULT ? " (on fault)" : "",
             e->flags & TG_SPACE_CHILD ? " (child)" : "");
}

static void tell(const TgSpaceEvent* e)
{
   if (traced)
      print_event(e);
   for (Word i = 0; i < VG_(sizeXA)(listeners); i++) {
      const Listener* l = VG_(indexXA)(listeners, i);
      l->tell(l->opaque, e);
   }
}

/* --- What a mapping is --- */

static UInt prot_of(Bool r, Bool w, Bool x)
{
   return (r ? TLB_MAY_READ : 0u) | (w ? TLB_MAY_WRITE : 0u)
          | (x ? TLB_MAY_EXECUTE : 0u);
}

static ULong page_down(ULong a)
{
   return a / VKI_PAGE_SIZE * VKI_PAGE_SIZE;
}

static ULong page_up(ULong a)
{
   return page_down(a + VKI_PAGE_SIZE - 1);
}

/* A copy that stays; equal names are one copy. */
static const HChar* keep_name(const HChar* name)
{
   return name == NULL ? NULL
        : VG_(allocEltDedupPA)(names, VG_(strlen)(name) + 1, name);
}

/* What Valgrind loads into the client of its own accord. */
static Bool is_preload(const HChar* name)
{
   return name != NULL && VG_(strstr)(name, "/vgpreload_") != NULL;
}

static const tlb_mapping* known(ULong a)
{
   return tlb_mappings_find(&map.mappings, a);
}

static Bool same_file(const tlb_mapping* a, const tlb_mapping* b)
{
   return a->inode == b->inode && a->device == b->device
          && (a->inode != 0 || a->device != 0);
}

/* Private memory from the file that is mapped right before or behind is a part
   of the same image, if that is one. */
static Bool joins_image(const tlb_mapping* m)
{
   const tlb_mapping* beside[2] = { known(m->start - 1), NULL };
   if (beside[0] != NULL && beside[0]->kind == TLB_IMAGE
       && same_file(beside[0], m))
      return True;
   beside[1] = known(m->end);
   return beside[1] != NULL && beside[1]->kind == TLB_IMAGE
          && same_file(beside[1], m);
}

/* The image that anonymous memory is the bss of, or NULL: it is right behind the data,
   where the dynamic linker and the kernel map it and nothing else; or what the program's
   headers say. */
static const tlb_mapping* image_of_bss(const tlb_mapping* m, Bool at_start)
{
   const tlb_mapping* before = known(m->start - 1);
   if (before != NULL && before->kind == TLB_IMAGE && (before->prot & TLB_MAY_WRITE))
      return before;
   return at_start && tg_program_is_bss((Addr)m->start) ? known(tg_program()->headers)
                                                       : NULL;
}

static void set_huge(tlb_mapping* m, UInt shift)
{
   if (shift == 0)
      return;
   m->flags |= TLB_MAP_HUGETLB;
   m->huge_shift = (UChar)shift;
}

static void describe_file(tlb_mapping* m, const NSegment* s, Bool at_start)
{
   const HChar* name = VG_(am_get_filename)(s);
   m->device = s->dev;
   m->inode = s->ino;
   m->offset = (ULong)s->offset + (m->start - s->start);
   m->name = keep_name(name);
   m->kind = TLB_FILE;
   if (!(m->flags & TLB_MAP_SHARED)
       && (at_start || (m->prot & TLB_MAY_EXECUTE) || joins_image(m)))
      m->kind = TLB_IMAGE;
   if (m->kind == TLB_IMAGE && m->device == program.device
       && m->inode == program.inode)
      m->flags |= TLB_MAP_MAIN;
   if (is_preload(name))
      m->flags |= TLB_MAP_FOREIGN;
   set_huge(m, tg_huge_file(m->device, m->inode));
}

static void describe_anonymous(tlb_mapping* m, Bool may_be_bss, Bool at_start)
{
   m->kind = TLB_ANON;
   const tlb_mapping* image = (m->flags & TLB_MAP_SHARED) || !may_be_bss
                                 ? NULL
                                 : image_of_bss(m, at_start);
   if (image != NULL) {
      m->kind = TLB_BSS;
      m->flags |= image->flags & (TLB_MAP_MAIN | TLB_MAP_FOREIGN);
      m->name = image->name;
   }
}

/* The stack is the one segment below which Valgrind keeps room to grow. */
static Bool is_stack(const NSegment* s)
{
   const NSegment* below = VG_(am_find_nsegment)(s->start - 1);
   return below != NULL && below->kind == SkResvn && below->smode == SmUpper;
}

/* The page that Valgrind keeps where the heap will begin: the break has not
   moved yet. The room for it to move is above. */
static Bool is_break(const NSegment* s)
{
   const NSegment* above = VG_(am_find_nsegment)(s->end + 1);
   return s->kind == SkAnonC && above != NULL && above->kind == SkResvn
          && above->smode == SmLower;
}

/* Valgrind's page of trampolines, which the client may execute, is told of like
   the client's own. */
static Bool is_tool(const NSegment* s)
{
   return (s->kind & (SkFileC | SkFileV)) && s->dev == tool.device
          && s->ino == tool.inode;
}

static tlb_mapping new_mapping(ULong start, ULong end, UInt prot)
{
   return (tlb_mapping){ .start = start, .end = end, .prot = (UChar)prot,
                         .serial = next_serial++,
                         .flags = (UShort)future_flags };
}

/* --- Changes to the map --- */

static void add(const tlb_mapping* m, TgSpaceWhat what, UInt flags, Bool fixed,
                ThreadId tid)
{
   const TgSpaceEvent e = { .what = what, .tid = tid, .start = (Addr)m->start,
                            .length = m->end - m->start, .prot = m->prot,
                            .flags = flags, .fixed = fixed, .mapping = m };
   if (tlb_mappings_overlap(&map.mappings, m->start, m->end)) {
      const TgSpaceEvent gone = { .what = TG_SPACE_UNMAP, .tid = tid,
                                  .start = e.start, .length = e.length };
      tell(&gone);
   }
   tlb_pagemap_map(&map, m);
   tell(&e);
}

/* Parts of the file that were mapped before its code was: what they are is
   known now. */
static void rename_image(ULong at, const tlb_mapping* code)
{
   const tlb_mapping* m = known(at);
   if (m == NULL || m->kind != TLB_FILE || !same_file(m, code)
       || (m->flags & TLB_MAP_SHARED))
      return;
   const TgSpaceEvent e = { .what = TG_SPACE_RENAME, .start = (Addr)m->start,
                            .length = m->end - m->start };
   tlb_pagemap_rename(&map, m->start, m->end, TLB_IMAGE,
                      code->flags & (TLB_MAP_MAIN | TLB_MAP_FOREIGN));
   tell(&e);
}

void tg_aspace_startup(Addr a, SizeT len, Bool r, Bool w, Bool x,
                       ULong di_handle)
{
   const NSegment* s = VG_(am_find_nsegment)(a);
   (void)di_handle;
   if (s == NULL || is_break(s) || is_tool(s))
      return;
   tlb_mapping m = new_mapping(page_down(a), page_up((ULong)a + len),
                               prot_of(r, w, x));
   if (s->kind == SkFileC) {
      describe_file(&m, s, True);
   } else if (is_stack(s)) {
      m.kind = TLB_STACK;
      stack_start = (Addr)m.start;
   } else {
      describe_anonymous(&m, True, True);
   }
   add(&m, TG_SPACE_MAP, TG_SPACE_STARTUP, False, 0);
}

/* More of the mapping below: mremap() in place, or the part of a moved mapping
   that is longer than the old. */
static Bool extend(Addr a, ULong end)
{
   const tlb_mapping* before = known((ULong)a - 1);
   if (before == NULL)
      return False;
   tlb_mapping m = *before;
   m.offset += (ULong)a - m.start;
   m.start = a;
   m.end = end;
   add(&m, TG_SPACE_GROW, 0, False, pending.tid);
   return True;
}

static void describe_segment(tlb_mapping* m)
{
   ULong bytes;
   m->kind = TLB_SHM;
   m->flags |= TLB_MAP_SHARED;
   /* The core says nothing of SHM_RDONLY. */
   if (pending.call == SHMAT && (pending.flags & LINUX_SHM_RDONLY))
      m->prot &= (UChar)~TLB_MAY_WRITE;
   if (pending.call == SHMAT)
      set_huge(m, tg_huge_segment(pending.shmid, &bytes));
}

void tg_aspace_mapped(Addr a, SizeT len, Bool r, Bool w, Bool x)
{
   const NSegment* s = VG_(am_find_nsegment)(a);
   const ULong end = page_up((ULong)a + len);
   const Bool fixed = pending.call == MMAP
                      && (pending.flags
                          & (LINUX_MAP_FIXED | LINUX_MAP_FIXED_NOREPLACE));
   UInt flags = 0;
   if (s != NULL && is_tool(s))
      return;
   if (pending.call == MREMAP && extend(a, end))
      return;
   tlb_mapping m = new_mapping(a, end, prot_of(r, w, x));
   if (pending.call == MMAP) {
      const UWord f = pending.flags;
      if ((f & LINUX_MAP_TYPE) & LINUX_MAP_SHARED)
         m.flags |= TLB_MAP_SHARED;
      if (f & LINUX_MAP_LOCKED)
         m.flags |= TLB_MAP_LOCKED;
      if (f & LINUX_MAP_HUGETLB)
         set_huge(&m, tg_huge_shift(f));
      if ((f & LINUX_MAP_LOCKED)
          || (f & (LINUX_MAP_POPULATE | LINUX_MAP_NONBLOCK))
             == LINUX_MAP_POPULATE)
         flags |= TG_SPACE_POPULATE;
   }
   if (s != NULL && s->kind == SkFileC)
      describe_file(&m, s, False);
   else if (s != NULL && s->kind == SkShmC)
      describe_segment(&m);
   else
      describe_anonymous(&m, fixed, False);
   if (m.kind == TLB_ANON && pending.call == MMAP
       && (pending.flags & LINUX_MAP_STACK))
      m.kind = TLB_THREAD_STACK;
   add(&m, TG_SPACE_MAP, flags, fixed, pending.tid);
   if (m.kind == TLB_IMAGE) {
      rename_image(m.start - 1, &m);
      rename_image(m.end, &m);
   }
}

static void remove(ULong start, ULong end, ThreadId tid)
{
   if (!tlb_mappings_overlap(&map.mappings, start, end))
      return;
   const TgSpaceEvent e = { .what = TG_SPACE_UNMAP, .tid = tid,
                            .start = (Addr)start, .length = end - start };
   tell(&e);
   tlb_pagemap_unmap(&map, start, end);
}

void tg_aspace_unmapped(Addr a, SizeT len)
{
   remove(a, page_up((ULong)a + len), pending.tid);
}

void tg_aspace_moved(Addr from, Addr to, SizeT len)
{
   const ULong length = page_up(len);
   const TgSpaceEvent e = { .what = TG_SPACE_MOVE, .tid = pending.tid,
                            .start = to, .length = length, .from = from };
   remove(to, (ULong)to + length, pending.tid);
   tlb_pagemap_move(&map, from, to, length);
   tell(&e);
}

void tg_aspace_protected(Addr a, SizeT len, Bool r, Bool w, Bool x)
{
   const ULong end = page_up((ULong)a + len);
   const UInt prot = prot_of(r, w, x);
   const TgSpaceEvent e = { .what = TG_SPACE_PROTECT, .tid = pending.tid,
                            .start = (Addr)page_down(a),
                            .length = end - page_down(a), .prot = prot };
   tlb_pagemap_protect(&map, page_down(a), end, prot);
   tell(&e);
}

/* The break moves by bytes. A page that it has in common with the bss is the
   bss's. */
void tg_aspace_break_up(Addr a, SizeT len, ThreadId tid)
{
   const ULong end = page_up((ULong)a + len);
   ULong start = page_down(a);
   /* Valgrind tells of the page that it keeps there, before the start. */
   if (pending.tid == 0)
      return;
   if (known(start) != NULL)
      start += VKI_PAGE_SIZE;
   if (start >= end)
      return;
   const tlb_mapping* before = known(start - 1);
   const Bool grows = before != NULL && before->kind == TLB_HEAP;
   tlb_mapping m = new_mapping(start, end, TLB_MAY_READ | TLB_MAY_WRITE);
   m.kind = TLB_HEAP;
   add(&m, grows ? TG_SPACE_GROW : TG_SPACE_MAP, 0, False, tid);
}

void tg_aspace_break_down(Addr a, SizeT len)
{
   const ULong start = page_up(a);
   const ULong end = page_up((ULong)a + len);
   if (start < end && pending.tid != 0)
      remove(start, end, pending.tid);
}

/* --- The stack, and whatever else nobody told of --- */

static Bool grow_stack(ULong a, const NSegment* s)
{
   const tlb_mapping* stack = stack_start == 0 ? NULL : known(stack_start);
   if (stack == NULL || stack->kind != TLB_STACK || a >= stack->start)
      return False;
   const Bool grown = s->kind == SkAnonC && s->end + 1 > stack_start;
   const Bool room = s->kind == SkResvn && s->smode == SmUpper;
   if (!grown && !room)
      return False;
   tlb_mapping m = *stack;
   m.end = stack->start;
   m.start = grown ? page_down(s->start) : page_down(a);
   if (tlb_mappings_overlap(&map.mappings, m.start, m.end))
      return False;
   stack_start = (Addr)m.start;
   add(&m, TG_SPACE_GROW, 0, False, 0);
   return True;
}

/* An address that has no mapping. */
static int ask(void* opaque, uint64_t address)
{
   const NSegment* s = VG_(am_find_nsegment)((Addr)address);
   (void)opaque;
   return s != NULL && grow_stack(address, s);
}

const tlb_mapping* tg_aspace_find(Addr a)
{
   const tlb_mapping* m = known(a);
   if (m == NULL && ask(NULL, a))
      m = known(a);
   return m;
}

/* --- System calls --- */

static UWord mmap_flags(UInt syscall, const UWord* args)
{
#if defined(VGA_x86)
   if (syscall == __NR_mmap) {
      const UWord* packed = (const UWord*)args[0];
      return VG_(am_is_valid_for_client)(args[0], 6 * sizeof *packed,
                                         VKI_PROT_READ) ? packed[3] : 0;
   }
#endif
   (void)syscall;
   return args[3];
}

static Bool is_mmap(UInt syscall)
{
   return syscall == __NR_mmap
#if defined(__NR_mmap2)
          || syscall == __NR_mmap2
#endif
      ;
}

/* The System V calls: of their own, or all in one. */
static Bool is_shm(UInt syscall, const UWord* args, Int ipc, UInt own,
                   const UWord** shm_args)
{
   *shm_args = args;
   if (syscall == own)
      return True;
#if defined(__NR_ipc)
   *shm_args = args + 1;
   return syscall == __NR_ipc && (Int)(args[0] & 0xffff) == ipc;
#else
   (void)ipc;
   return False;
#endif
}

#if defined(__NR_shmat)
enum { NR_SHMAT = __NR_shmat, NR_SHMGET = __NR_shmget };
#else
enum { NR_SHMAT = 397, NR_SHMGET = 395 }; /* x86, since Linux 5.1 */
#endif

void tg_aspace_pre_syscall(ThreadId tid, UInt syscall, const UWord* args)
{
   const UWord* shm;
   pending = (PendingCall){ .call = NO_CALL, .tid = tid };
   if (is_mmap(syscall)) {
      pending.call = MMAP;
      pending.flags = tg_hugetlb_asked(tid);
      if (pending.flags == 0)
         pending.flags = mmap_flags(syscall, args);
   } else if (syscall == __NR_mremap) {
      pending.call = MREMAP;
   } else if (is_shm(syscall, args, LINUX_IPC_SHMAT, NR_SHMAT, &shm)) {
      pending.call = SHMAT;
      pending.shmid = (Int)shm[0];
      /* shmat(id, address, flags); in ipc() the flags come before the
         address. */
      pending.flags = syscall == NR_SHMAT ? shm[2] : shm[1];
   }
}

/* The kernel takes whole huge pages, and leaves those of which the program names a
   part. */
static void taken_away(ThreadId tid, ULong start, ULong end, Int advice)
{
   while (start < end) {
      const SizeT i = tlb_mappings_above(&map.mappings, start);
      if (i == map.mappings.count)
         break;
      const tlb_mapping* m = map.mappings.at[i];
      const ULong next = m->end;
      const ULong mask = m->flags & TLB_MAP_HUGETLB ? ((ULong)1 << m->huge_shift) - 1 : 0;
      const ULong from = ((start > m->start ? start : m->start) + mask) & ~mask;
      const ULong to = (end < next ? end : next) & ~mask;
      if (from < to) {
         const TgSpaceEvent e = { .what = TG_SPACE_ADVISE, .tid = tid, .start = (Addr)from,
                                  .length = to - from, .advice = advice };
         tlb_pagemap_zap(&map, from, to);
         tell(&e);
      }
      start = next;
   }
}

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
      tlb_pagemap_split(&map, start, end, advice == LINUX_MADV_PAGEOUT);
      break;
   case LINUX_MADV_NORMAL:
      tlb_pagemap_flag(&map, start, end, 0, TLB_MAP_RANDOM | TLB_MAP_SEQUENTIAL);
      break;
   case LINUX_MADV_RANDOM:
      tlb_pagemap_flag(&map, start, end, TLB_MAP_RANDOM, TLB_MAP_SEQUENTIAL);
      break;
   case LINUX_MADV_SEQUENTIAL:
      tlb_pagemap_flag(&map, start, end, TLB_MAP_SEQUENTIAL, TLB_MAP_RANDOM);
      break;
   case LINUX_MADV_DONTDUMP:
      tlb_pagemap_flag(&map, start, end, TLB_MAP_NO_DUMP, 0);
      break;
   case LINUX_MADV_DODUMP:
      tlb_pagemap_flag(&map, start, end, 0, TLB_MAP_NO_DUMP);
      break;
   case LINUX_MADV_DONTFORK:
      tlb_pagemap_flag(&map, start, end, TLB_MAP_NO_FORK, 0);
      break;
   case LINUX_MADV_DOFORK:
      tlb_pagemap_flag(&map, start, end, 0, TLB_MAP_NO_FORK);
      break;
   case LINUX_MADV_WIPEONFORK:
      tlb_pagemap_flag(&map, start, end, TLB_MAP_WIPE_ON_FORK, 0);
      break;
   case LINUX_MADV_KEEPONFORK:
      tlb_pagemap_flag(&map, start, end, 0, TLB_MAP_WIPE_ON_FORK);
      break;
   case LINUX_MADV_HUGEPAGE:
      tlb_pagemap_flag(&map, start, end, TLB_MAP_HUGEPAGE, TLB_MAP_NOHUGEPAGE);
      break;
   case LINUX_MADV_NOHUGEPAGE:
      tlb_pagemap_flag(&map, start, end, TLB_MAP_NOHUGEPAGE, TLB_MAP_HUGEPAGE);
      break;
   case LINUX_MADV_COLLAPSE:
      tlb_pagemap_collapse(&map, start, end);
      break;
   default:
      break;
   }
   tell(&e);
}

static void locked(ThreadId tid, ULong start, ULong end, Bool lock,
                   Bool on_fault)
{
   const TgSpaceEvent e = { .what = lock ? TG_SPACE_LOCK : TG_SPACE_UNLOCK,
                            .tid = tid, .start = (Addr)start,
                            .length = end - start,
                            .flags = on_fault ? TG_SPACE_ON_FAULT : 0 };
   tlb_pagemap_flag(&map, start, end, lock ? TLB_MAP_LOCKED : 0,
                    lock ? 0 : TLB_MAP_LOCKED);
   tell(&e);
}

/* mlockall(), munlockall(): every mapping that there is. */
static void locked_all(ThreadId tid, Bool lock, Bool on_fault)
{
   ULong at = 0;
   for (;;) {
      const SizeT i = tlb_mappings_above(&map.mappings, at);
      if (i == map.mappings.count)
         break;
      const tlb_mapping* m = map.mappings.at[i];
      const ULong end = m->end;
      locked(tid, m->start, end, lock, on_fault);
      at = end;
   }
}

static void mlockall_done(ThreadId tid, UWord flags)
{
   const Bool on_fault = (flags & LINUX_MCL_ONFAULT) != 0;
   future_flags = flags & LINUX_MCL_FUTURE ? TLB_MAP_LOCKED : 0;
   if (flags & LINUX_MCL_CURRENT)
      locked_all(tid, True, on_fault);
}

/* A range with a hole is refused, but not before something was done: mprotect()
   stops at the hole, madvise() goes on behind it. */
static void done_in_part(ThreadId tid, UInt syscall, const UWord* args)
{
   const ULong start = page_down(args[0]);
   const ULong end = page_up((ULong)args[0] + args[1]);
   if (syscall == __NR_madvise && start < end)
      advised(tid, start, end, (Int)args[2]);
   if (syscall != __NR_mprotect)
      return;
   ULong at = start;
   for (const tlb_mapping* m; at < end && (m = known(at)) != NULL;)
      at = m->end < end ? m->end : end;
   if (start < at && at < end)
      tg_aspace_protected((Addr)start, (SizeT)(at - start),
                          (args[2] & VKI_PROT_READ) != 0,
                          (args[2] & VKI_PROT_WRITE) != 0,
                          (args[2] & VKI_PROT_EXEC) != 0);
}

void tg_aspace_post_syscall(ThreadId tid, UInt syscall, const UWord* args,
                            SysRes result)
{
   const UWord* shm;
   const UWord asked = tg_hugetlb_asked(tid);
   pending = (PendingCall){ .call = NO_CALL };
   if (sr_isError(result)) {
      if (sr_Err(result) == VKI_ENOMEM)
         done_in_part(tid, syscall, args);
      return;
   }
   const ULong start = page_down(args[0]);
   const ULong end = page_up((ULong)args[0] + args[1]);
   switch (syscall) {
   case __NR_madvise:
      advised(tid, start, end, (Int)args[2]);
      return;
   case __NR_mlock:
      locked(tid, start, end, True, False);
      return;
#if defined(__NR_mlock2)
   case __NR_mlock2:
      locked(tid, start, end, True,
             (args[2] & LINUX_MLOCK_ONFAULT) != 0);
      return;
#endif
   case __NR_munlock:
      locked(tid, start, end, False, False);
      return;
   case __NR_mlockall:
      mlockall_done(tid, args[0]);
      return;
   case __NR_prctl:
      if (args[0] == LINUX_PR_SET_THP_DISABLE)
         map.thp = args[1] == 0 ? TLB_THP_ALLOWED
                 : args[2] & LINUX_PR_THP_DISABLE_EXCEPT_ADVISED
                      ? TLB_THP_ADVISED_ONLY : TLB_THP_DISABLED;
      return;
   case __NR_munlockall:
      future_flags = 0;
      locked_all(tid, False, False);
      return;
   default:
      break;
   }
   if (is_shm(syscall, args, LINUX_IPC_SHMGET, NR_SHMGET, &shm))
      tg_huge_segment_made((Int)sr_Res(result), shm[1],
                           asked == 0 ? shm[2] : asked);
   else if (syscall == __NR_memfd_create)
      tg_huge_file_made((Int)sr_Res(result), asked == 0 ? args[1] : asked);
}

/* What a child does not inherit. */
static void leave_behind(void)
{
   ULong at = 0;
   for (;;) {
      const SizeT i = tlb_mappings_above(&map.mappings, at);
      if (i == map.mappings.count)
         break;
      const tlb_mapping* m = map.mappings.at[i];
      const ULong start = m->start;
      const ULong end = m->end;
      if (m->flags & TLB_MAP_WIPE_ON_FORK)
         tlb_pagemap_zap(&map, start, end);
      if (m->flags & TLB_MAP_NO_FORK)
         remove(start, end, 0);
      at = end;
   }
   /* Locks are not inherited either. */
   future_flags = 0;
   if (map.mappings.count > 0)
      tlb_pagemap_flag(&map, 0, map.mappings.at[map.mappings.count - 1]->end,
                       0, TLB_MAP_LOCKED);
}

void tg_aspace_forked(ThreadId tid, Bool in_child)
{
   const TgSpaceEvent e = { .what = TG_SPACE_FORK, .tid = tid,
                            .flags = in_child ? TG_SPACE_CHILD : 0 };
   if (in_child)
      leave_behind();
   tell(&e);
}

/* --- Begin and end --- */

static FileId file_id(const HChar* name)
{
   struct vg_stat st;
   FileId id = { 0, 0 };
   if (name != NULL && !sr_isError(VG_(stat)(name, &st)))
      id = (FileId){ st.dev, st.ino };
   return id;
}

void tg_aspace_init(Bool trace)
{
   const tlb_memory memory = tg_memory("tg.aspace");
   traced = trace;
   listeners = VG_(newXA)(VG_(malloc), "tg.aspace.listeners", VG_(free),
                          sizeof(Listener));
   names = VG_(newDedupPA)(16 * 1024, 1, VG_(malloc), "tg.aspace.names",
                           VG_(free));
   tg_huge_files_init();
   tlb_pagemap_init(&map, &memory);
   tlb_pagemap_ask_for(&map, ask, NULL);
   program = file_id(VG_(args_the_exename));
   tg_program_read();
   tool = file_id("/proc/self/exe");
}

void tg_aspace_listen(TgSpaceListener* listener, void* opaque)
{
   const Listener l = { listener, opaque };
   VG_(addToXA)(listeners, &l);
}

tlb_pagemap* tg_aspace_map(void)
{
   return &map;
}

void tg_aspace_fini(void)
{
   if (!traced)
      return;
   for (SizeT i = 0; i < map.mappings.count; i++) {
      VG_(dmsg)("aspace: end ");
      print_mapping(map.mappings.at[i]);
      VG_(dmsg)("\n");
   }
}
