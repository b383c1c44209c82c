/* Adds, changes and removes mappings of the client. See space/aspace.h.

   The core reports a new or removed mapping after the system call, and without its flags. So
   space/aspace_calls.c stores the arguments when a system call begins, and the events up to its
   return belong to it. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_deduppoolalloc.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_xarray.h"

#include "arch/arch.h"
#include "base/devices.h"
#include "base/allocator.h"
#include "base/program.h"
#include "space/aspace_parts.h"
#include "space/huge_files.h"

/* Linux's numbers, where Valgrind's headers have none. They are the same on
   all architectures that the tool is built for (asm-generic/mman-common.h,
   asm-generic/mman.h, linux/mman.h, linux/shm.h). */
enum {
   LINUX_MAP_SHARED = 0x01,
   LINUX_MAP_TYPE = 0x0f, /* 3: MAP_SHARED_VALIDATE */
   LINUX_MAP_FIXED = 0x10,
   LINUX_MAP_POPULATE = 0x8000,
   LINUX_MAP_NONBLOCK = 0x10000,
   LINUX_MAP_STACK = 0x20000,
   LINUX_MAP_HUGETLB = 0x40000,
   LINUX_MAP_FIXED_NOREPLACE = 0x100000,
   LINUX_SHM_RDONLY = 010000
};

typedef struct {
   TgSpaceListener* changed;
   void* opaque;
} Listener;

TgSpace tg_space;
TgPendingCall tg_space_pending;
static XArray* listeners; /* Listener */
static DedupPoolAlloc* names;
static ULong next_serial = 1;
static Addr stack_start; /* 0: unknown */

/* A file, by stat()'s numbers. */
typedef struct {
   ULong device;
   ULong inode;
} FileId;

static FileId program;
static FileId tool;

/* --- Listeners --- */

void tg_space_tell(const TgSpaceEvent* e)
{
   for (Word i = 0; i < VG_(sizeXA)(listeners); i++) {
      const Listener* l = VG_(indexXA)(listeners, i);
      l->changed(l->opaque, e);
   }
}

/* --- The kind of a mapping --- */

static UInt prot_of(Bool r, Bool w, Bool x)
{
   return (r ? TLB_MAY_READ : 0u) | (w ? TLB_MAY_WRITE : 0u)
          | (x ? TLB_MAY_EXECUTE : 0u);
}

/* A permanent copy; equal names are one copy. */
static const HChar* keep_name(const HChar* name)
{
   return name == NULL ? NULL
        : VG_(allocEltDedupPA)(names, VG_(strlen)(name) + 1, name);
}

/* Whether Valgrind itself preloads this object into the client. */
static Bool is_preload(const HChar* name)
{
   return name != NULL && VG_(strstr)(name, "/vgpreload_") != NULL;
}

static const tlb_mapping* mapping_at(ULong a)
{
   return tlb_mappings_find(&tg_space.map.mappings, a);
}

static Bool same_file(const tlb_mapping* a, const tlb_mapping* b)
{
   return a->inode == b->inode && a->device == b->device
          && (a->inode != 0 || a->device != 0);
}

/* Whether the private mapping of a file is adjacent to an image of the same file: then it is a part
   of that image. */
static Bool joins_image(const tlb_mapping* m)
{
   const tlb_mapping* beside[2] = { mapping_at(m->start - 1), NULL };
   if (beside[0] != NULL && beside[0]->kind == TLB_IMAGE
       && same_file(beside[0], m))
      return True;
   beside[1] = mapping_at(m->end);
   return beside[1] != NULL && beside[1]->kind == TLB_IMAGE
          && same_file(beside[1], m);
}

/* The image whose .bss the anonymous memory is, or NULL. It is .bss if it is adjacent above
   writable data of an image, where only the kernel and the dynamic linker map memory, or if the
   program's ELF headers have such a segment there. */
static const tlb_mapping* image_of_bss(const tlb_mapping* m, Bool at_start)
{
   const tlb_mapping* before = mapping_at(m->start - 1);
   if (before != NULL && before->kind == TLB_IMAGE && (before->prot & TLB_MAY_WRITE))
      return before;
   return at_start && tg_program_is_bss((Addr)m->start) ? mapping_at(tg_program()->headers)
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
   if (tg_devices_is_zero(name)) {
      m->kind = TLB_ANON;
      return;
   }
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
   set_huge(m, tg_huge_files_file(m->device, m->inode));
   /* The kernel maps whole huge pages. (For anonymous memory space/hugetlb.h has rounded the length
      up before the call; segments are in small pages in any case.) */
   if (m->flags & TLB_MAP_HUGETLB) {
      const ULong mask = ((ULong)1 << m->huge_shift) - 1;
      m->end = m->start + ((m->end - m->start + mask) & ~mask);
   }
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

/* The stack is the only segment with a reservation of Valgrind's below it. */
static Bool is_stack(const NSegment* s)
{
   const NSegment* below = VG_(am_find_nsegment)(s->start - 1);
   return below != NULL && below->kind == SkResvn && below->smode == SmUpper;
}

/* Whether the segment is the page that Valgrind maps at the break before it has moved. The
   reservation for the heap is above it. */
static Bool is_break(const NSegment* s)
{
   const NSegment* above = VG_(am_find_nsegment)(s->end + 1);
   return s->kind == SkAnonC && above != NULL && above->kind == SkResvn
          && above->smode == SmLower;
}

/* Whether the segment is Valgrind's page of trampolines. The client may execute it, so the core
   reports it among the client's. */
static Bool is_tool(const NSegment* s)
{
   return (s->kind & (SkFileC | SkFileV)) && s->dev == tool.device
          && s->ino == tool.inode;
}

static tlb_mapping new_mapping(ULong start, ULong end, UInt prot)
{
   return (tlb_mapping){ .start = start, .end = end, .prot = (UChar)prot,
                         .serial = next_serial++,
                         .flags = tg_space.future_flags };
}

/* --- Changes to the map --- */

static void add(const tlb_mapping* m, TgSpaceWhat what, UInt flags, Bool fixed,
                ThreadId tid)
{
   const TgSpaceEvent e = { .what = what, .tid = tid, .start = (Addr)m->start,
                            .length = m->end - m->start, .prot = m->prot,
                            .flags = flags, .fixed = fixed, .mapping = m };
   if (tlb_mappings_overlap(&tg_space.map.mappings, m->start, m->end)) {
      const TgSpaceEvent gone = { .what = TG_SPACE_UNMAP, .tid = tid,
                                  .start = e.start, .length = e.length };
      tg_space_tell(&gone);
   }
   tlb_pagemap_map(&tg_space.map, m);
   tg_space_tell(&e);
}

/* Makes the file's mapping at `at` a part of the image whose code was mapped after it. */
static void rename_image(ULong at, const tlb_mapping* code)
{
   const tlb_mapping* m = mapping_at(at);
   if (m == NULL || m->kind != TLB_FILE || !same_file(m, code)
       || (m->flags & TLB_MAP_SHARED))
      return;
   const TgSpaceEvent e = { .what = TG_SPACE_RENAME, .start = (Addr)m->start,
                            .length = m->end - m->start };
   tlb_pagemap_rename(&tg_space.map, m->start, m->end, TLB_IMAGE,
                      code->flags & (TLB_MAP_MAIN | TLB_MAP_FOREIGN));
   tg_space_tell(&e);
}

void tg_aspace_startup(Addr a, SizeT len, Bool r, Bool w, Bool x,
                       ULong di_handle)
{
   const NSegment* s = VG_(am_find_nsegment)(a);
   (void)di_handle;
   if (s == NULL || is_break(s) || is_tool(s))
      return;
   tlb_mapping m = new_mapping(tg_page_down(a), tg_page_up((ULong)a + len),
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

/* Extends the mapping below `a` up to `end`: mremap() in place, or the part of a moved mapping
   that exceeds its old length. False: there is none. */
static Bool extend(Addr a, ULong end)
{
   const tlb_mapping* before = mapping_at((ULong)a - 1);
   if (before == NULL)
      return False;
   tlb_mapping m = *before;
   m.offset += (ULong)a - m.start;
   m.start = a;
   m.end = end;
   add(&m, TG_SPACE_GROW, 0, False, tg_space_pending.tid);
   return True;
}

static void describe_segment(tlb_mapping* m)
{
   ULong bytes;
   m->kind = TLB_SHM;
   m->flags |= TLB_MAP_SHARED;
   /* The core's event ignores SHM_RDONLY. */
   if (tg_space_pending.call == TG_SHMAT && (tg_space_pending.flags & LINUX_SHM_RDONLY))
      m->prot &= (UChar)~TLB_MAY_WRITE;
   if (tg_space_pending.call == TG_SHMAT)
      set_huge(m, tg_huge_files_segment(tg_space_pending.shmid, &bytes));
}

void tg_aspace_mapped(Addr a, SizeT len, Bool r, Bool w, Bool x)
{
   const NSegment* s = VG_(am_find_nsegment)(a);
   const ULong end = tg_page_up((ULong)a + len);
   const Bool fixed = tg_space_pending.call == TG_MMAP
                      && (tg_space_pending.flags
                          & (LINUX_MAP_FIXED | LINUX_MAP_FIXED_NOREPLACE));
   UInt flags = 0;
   if (s != NULL && is_tool(s))
      return;
   if (tg_space_pending.call == TG_MREMAP && extend(a, end))
      return;
   tlb_mapping m = new_mapping(a, end, prot_of(r, w, x));
   if (tg_space_pending.call == TG_MMAP) {
      const UWord f = tg_space_pending.flags;
      if ((f & LINUX_MAP_TYPE) & LINUX_MAP_SHARED)
         m.flags |= TLB_MAP_SHARED;
      if (f & tg_arch.syscalls.map_locked)
         m.flags |= TLB_MAP_LOCKED;
      if (f & LINUX_MAP_HUGETLB)
         set_huge(&m, tg_huge_files_shift(f));
      if ((f & tg_arch.syscalls.map_locked)
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
   /* Linux 6.7 and newer keep huge pages out of such memory: calc_vm_flag_bits(). */
   if (tg_space_pending.call == TG_MMAP && (tg_space_pending.flags & LINUX_MAP_STACK)) {
      m.flags |= TLB_MAP_NOHUGEPAGE;
      if (m.kind == TLB_ANON)
         m.kind = TLB_THREAD_STACK;
   }
   add(&m, TG_SPACE_MAP, flags, fixed, tg_space_pending.tid);
   if (m.kind == TLB_IMAGE) {
      rename_image(m.start - 1, &m);
      rename_image(m.end, &m);
   }
}

void tg_space_remove(ULong start, ULong end, ThreadId tid)
{
   if (!tlb_mappings_overlap(&tg_space.map.mappings, start, end))
      return;
   const TgSpaceEvent e = { .what = TG_SPACE_UNMAP, .tid = tid,
                            .start = (Addr)start, .length = end - start };
   tg_space_tell(&e);
   tlb_pagemap_unmap(&tg_space.map, start, end);
}

void tg_aspace_unmapped(Addr a, SizeT len)
{
   tg_space_remove(a, tg_page_up((ULong)a + len), tg_space_pending.tid);
}

void tg_aspace_moved(Addr from, Addr to, SizeT len)
{
   const ULong length = tg_page_up(len);
   const TgSpaceEvent e = { .what = TG_SPACE_MOVE, .tid = tg_space_pending.tid,
                            .start = to, .length = length, .from = from };
   tg_space_remove(to, (ULong)to + length, tg_space_pending.tid);
   tlb_pagemap_move(&tg_space.map, from, to, length);
   tg_space_tell(&e);
}

void tg_aspace_protected(Addr a, SizeT len, Bool r, Bool w, Bool x)
{
   const ULong end = tg_page_up((ULong)a + len);
   const UInt prot = prot_of(r, w, x);
   const TgSpaceEvent e = { .what = TG_SPACE_PROTECT, .tid = tg_space_pending.tid,
                            .start = (Addr)tg_page_down(a),
                            .length = end - tg_page_down(a), .prot = prot };
   tlb_pagemap_protect(&tg_space.map, tg_page_down(a), end, prot);
   tg_space_tell(&e);
}

/* The break moves by bytes. A page that .bss and the heap share stays .bss. */
void tg_aspace_break_up(Addr a, SizeT len, ThreadId tid)
{
   const ULong end = tg_page_up((ULong)a + len);
   ULong start = tg_page_down(a);
   /* Before the start the core reports the page that it has mapped at the break. */
   if (tg_space_pending.tid == 0)
      return;
   if (mapping_at(start) != NULL)
      start += VKI_PAGE_SIZE;
   if (start >= end)
      return;
   const tlb_mapping* before = mapping_at(start - 1);
   const Bool grows = before != NULL && before->kind == TLB_HEAP;
   tlb_mapping m = new_mapping(start, end, TLB_MAY_READ | TLB_MAY_WRITE);
   m.kind = TLB_HEAP;
   add(&m, grows ? TG_SPACE_GROW : TG_SPACE_MAP, 0, False, tid);
}

void tg_aspace_break_down(Addr a, SizeT len)
{
   const ULong start = tg_page_up(a);
   const ULong end = tg_page_up((ULong)a + len);
   if (start < end && tg_space_pending.tid != 0)
      tg_space_remove(start, end, tg_space_pending.tid);
}

/* --- The stack and other memory without an event of the core --- */

static Bool grow_stack(ULong a, const NSegment* s)
{
   const tlb_mapping* stack = stack_start == 0 ? NULL : mapping_at(stack_start);
   if (stack == NULL || stack->kind != TLB_STACK || a >= stack->start)
      return False;
   const Bool grown = s->kind == SkAnonC && s->end + 1 > stack_start;
   const Bool room = s->kind == SkResvn && s->smode == SmUpper;
   if (!grown && !room)
      return False;
   tlb_mapping m = *stack;
   m.end = stack->start;
   m.start = grown ? tg_page_down(s->start) : tg_page_down(a);
   if (tlb_mappings_overlap(&tg_space.map.mappings, m.start, m.end))
      return False;
   stack_start = (Addr)m.start;
   add(&m, TG_SPACE_GROW, 0, False, 0);
   return True;
}

/* For an address without a mapping: grows the stack. Returns whether there is a mapping now. */
static int grow_to(void* opaque, uint64_t address)
{
   const NSegment* s = VG_(am_find_nsegment)((Addr)address);
   (void)opaque;
   return s != NULL && grow_stack(address, s);
}

const tlb_mapping* tg_aspace_find(Addr a)
{
   const tlb_mapping* m = mapping_at(a);
   if (m == NULL && grow_to(NULL, a))
      m = mapping_at(a);
   return m;
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

void tg_aspace_init(void)
{
   const tlb_memory memory = tg_memory("tg.aspace");
   listeners = VG_(newXA)(VG_(malloc), "tg.aspace.listeners", VG_(free),
                          sizeof(Listener));
   names = VG_(newDedupPA)(16 * 1024, 1, VG_(malloc), "tg.aspace.names",
                           VG_(free));
   tg_huge_files_init();
   tlb_pagemap_init(&tg_space.map, &memory);
   tlb_pagemap_ask_for(&tg_space.map, grow_to, NULL);
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
   return &tg_space.map;
}

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
