/* The address space as the kernel would have it. See tg_fault_space.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "pub_tool_xarray.h"

#include "tg_aspace.h"
#include "tg_fault_space.h"
#include "tg_known.h"
#include "tg_native_mmap.h"
#include "tg_native_start.h"
#include "tg_proc_file.h"
#include "tg_used.h"

/* Linux' numbers (asm-generic/mman-common.h, linux/mman.h), where Valgrind's
   headers have none. */
enum {
   ADVICE_NORMAL, ADVICE_RANDOM, ADVICE_SEQUENTIAL,
   ADVICE_DONTNEED = 4, ADVICE_REMOVE = 9, ADVICE_DONTFORK = 10,
   ADVICE_DOFORK = 11, ADVICE_HUGEPAGE = 14, ADVICE_NOHUGEPAGE = 15,
   ADVICE_WIPEONFORK = 18, ADVICE_KEEPONFORK = 19, ADVICE_PAGEOUT = 21,
   ADVICE_POPULATE_READ = 22, ADVICE_POPULATE_WRITE = 23,
   ADVICE_DONTNEED_LOCKED = 24, ADVICE_COLLAPSE = 25,
   ADVICE_GUARD_INSTALL = 102, REMAP_DONTUNMAP = 4
};

enum { ARCH_SET_FS_ = 0x1002, CLONE_VM_ = 0x100 };

static tlb_fault_model model;
static tlb_layout layout;
static XArray* maps; /* TgMap, by number - 1 */
static UInt page_shift;
static ULong page_bytes;
static Bool started;
static Addr heap_start;             /* where the break begins, here */
static ULong next_shared_inode = 1; /* of shared anonymous memory */
static Addr vdso, vvar;
static void (*tell_forked)(Bool is_child);

/* The system call that is going on, as far as it matters: the core's events
   belong to it. */
static struct {
   Addr hint;         /* mmap(): the address that the program would like */
   Bool is_remap;
   Bool shares_space; /* vfork() and its like: nothing is copied */
} call;

/* --- Memory for the simulator --- */

static void* take_memory(size_t bytes, void* opaque)
{
   (void)opaque;
   return VG_(malloc)("tg.faults.model", bytes);
}

static void give_memory(void* memory_, void* opaque)
{
   (void)opaque;
   VG_(free)(memory_);
}

static const tlb_memory memory = { take_memory, give_memory, NULL };

/* --- Maps --- */

static UInt add_map(Addr start, Addr end, ULong native, UChar prot,
                    const HChar* what, const HChar* name)
{
   const TgMap map = {
      .start = start, .end = end, .native = native, .prot = prot, .what = what,
      .name = name == NULL ? NULL : VG_(strdup)("tg.faults.map", name),
   };
   VG_(addToXA)(maps, &map);
   return (UInt)VG_(sizeXA)(maps);
}

static TgMap* map_at(UInt number)
{
   return VG_(indexXA)(maps, (Word)number - 1);
}

const TgMap* tg_space_map(UInt number)
{
   return map_at(number);
}

const TgMap* tg_space_find(Addr a, UInt* number, ULong* native)
{
   const tlb_mapping* piece = tlb_layout_find(&layout, a);
   if (piece == NULL)
      return NULL;
   *number = (UInt)piece->device;
   *native = piece->offset + (a - piece->start);
   return map_at(*number);
}

Addr tg_space_here(ULong native, UInt* number)
{
   for (SizeT i = 0; i < layout.here.count; i++) {
      const tlb_mapping* piece = layout.here.at[i];
      if (native - piece->offset < piece->end - piece->start) {
         *number = (UInt)piece->device;
         return (Addr)(piece->start + (native - piece->offset));
      }
   }
   return 0;
}

tlb_fault_model* tg_space_model(void)
{
   return &model;
}

Addr tg_space_vdso(void)
{
   return vdso;
}

Addr tg_space_vvar(void)
{
   return vvar;
}

/* Up to the next whole page of the host; of addresses and lengths here. */
static Addr page_up(Addr a)
{
   return (a + VKI_PAGE_SIZE - 1) & ~((Addr)VKI_PAGE_SIZE - 1);
}

/* Programs of a host with small pages do not lie at multiples of large ones, so
   with larger base pages everything stays where it is. */
static Bool lays_out(void)
{
   return page_bytes == VKI_PAGE_SIZE;
}

/* Lays memory out and maps it. `v` has all but start and end. */
static void place(Addr start, Addr end, ULong native, UInt number,
                  tlb_mapping v)
{
   v.start = native;
   v.end = native + (end - start);
   map_at(number)->shared = (v.flags & TLB_MAP_SHARED) != 0;
   map_at(number)->offset = v.offset;
   tlb_layout_add(&layout, start, end, native, number);
   tlb_fault_map(&model, &v);
}

/* Calls `each` for the parts of [a, a+len) here that lie together natively. */
typedef void Part(ULong native, ULong native_end, void* opaque);

static void each_part(Addr a, SizeT len, Part* each, void* opaque)
{
   const ULong end = (ULong)a + len;
   ULong at = a;
   while (at < end) {
      const tlb_mappings* here = &layout.here;
      const SizeT i = tlb_mappings_above(here, at);
      if (i == here->count || here->at[i]->start >= end)
         return;
      const tlb_mapping piece = *here->at[i];
      const ULong from = piece.start > at ? piece.start : at;
      const ULong to = piece.end < end ? piece.end : end;
      const ULong native = piece.offset + (from - piece.start);
      each(native, native + (to - from), opaque);
      at = to;
   }
}

/* What the pages know of touches is no longer true. */
static void forget(Addr a, SizeT len)
{
   const UWord first = a >> page_shift;
   const UWord n = (UWord)((a + len - 1) >> page_shift) - first + 1;
   if (len == 0)
      return;
   tg_pages_forget(TG_DATA, first, n, TG_WANTED_BY_FAULTS);
   tg_pages_forget(TG_CODE, first, n, TG_WANTED_BY_FAULTS);
   tg_used_changed(a, len);
}

static void unmap_part(ULong native, ULong end, void* opaque)
{
   (void)opaque;
   tlb_fault_unmap(&model, native, end);
}

static void unmap(Addr a, SizeT len)
{
   each_part(a, len, unmap_part, NULL);
   tlb_layout_remove(&layout, a, a + len);
   tlb_layout_freed(&layout);
   tg_used_unmapped(a, len);
   forget(a, len);
}

/* --- mmap --- */

/* Whether nothing lies there natively. */
static Bool is_free(ULong native, SizeT len)
{
   return !tlb_mappings_overlap(&model.maps, native, native + len);
}

static Bool starts_with(const HChar* text, const HChar* start)
{
   return VG_(strncmp)(text, start, VG_(strlen)(start)) == 0;
}

/* Tells the model what kind of file it is. */
static void describe_file(const HChar* name, tlb_mapping* v)
{
   struct vg_stat st;
   if (name == NULL)
      return;
   if (starts_with(name, "/memfd:") || starts_with(name, "/SYSV")) {
      tlb_fault_file_is(&model, v->device, v->inode, ~0ULL, 1);
   } else if (!sr_isError(VG_(stat)(name, &st)) && st.ino == v->inode) {
      if (VKI_S_ISREG(st.mode)) {
         const Bool tmpfs = tg_proc_is_tmpfs(st.dev);
         tlb_fault_file_is(&model, v->device, v->inode, (ULong)st.size, tmpfs);
         /* What was there before this process came. */
         if (tmpfs)
            tlb_fault_file_read(&model, v->device, v->inode, 0,
                                st.blocks * 512);
      } else {
         v->flags |= TLB_MAP_NO_AROUND;
      }
   }
}

ULong tg_space_place(SizeT len, Bool is_file, ULong offset)
{
   Int aligned;
   return started && lays_out()
             ? tlb_layout_place(&layout, page_up(len), is_file, offset, &aligned)
             : 0;
}

static const HChar* what_of(const tlb_mapping* v)
{
   switch ((tlb_kind)v->kind) {
   case TLB_HEAP: return "heap";
   case TLB_STACK: return "stack";
   case TLB_THREAD_STACK: return "thread-stack";
   case TLB_BSS: return "bss";
   case TLB_IMAGE: case TLB_FILE: return "file";
   case TLB_SHM: return "shm";
   case TLB_ANON: case TLB_N_KINDS: break;
   }
   return (v->flags & TLB_MAP_SHARED) != 0 ? "shm" : "anon";
}

static void lock_part(ULong native, ULong end, void* opaque)
{
   (void)opaque;
   tlb_fault_lock(&model, native, end);
}

/* The kernel makes pages present as `how` says. */
static void populated(Addr a, SizeT len, Part* how, void* opaque)
{
   each_part(a, len, how, opaque);
   tg_used_populated(a, len);
}

/* What an address is natively that the program asks for: most likely it has
   computed it from that of a mapping, which it wants to go on. (The C library
   does for the arenas of threads.) */
static ULong native_hint(Addr hint, SizeT len)
{
   UInt number;
   ULong native;
   if (tg_space_find(hint - 1, &number, &native) != NULL)
      return native + 1;
   if (tg_space_find(hint + len, &number, &native) != NULL)
      return native - len;
   return hint;
}

/* Where a new mapping lies natively: over the old one, where the program says,
   or where the kernel places it. */
static ULong native_place(const TgSpaceEvent* e, tlb_mapping* v, Bool is_over,
                          ULong over)
{
   Int aligned = 0;
   if (e->fixed && is_over)
      return over;
   if (!lays_out())
      return e->start;
   if (e->fixed)
      return e->start;
   if (call.hint != 0 && call.hint == e->start) {
      const ULong hint = native_hint((Addr)e->start, (SizeT)e->length);
      if (is_free(hint, (SizeT)e->length))
         return hint;
   }
   const ULong native = tlb_layout_place(&layout, e->length, v->inode != 0,
                                         v->offset, &aligned);
   if (aligned)
      v->flags |= TLB_MAP_FIXED_PHASE;
   return native;
}

/* What was at its place has been unmapped, but for the memory of where that
   would be. */
static Bool was_here;
static Addr was_at;
static ULong was_native;

static void mapped(const TgSpaceEvent* e)
{
   tlb_mapping v = *e->mapping;
   const Bool over = was_here && was_at == e->start;
   const UInt number = add_map(e->start, e->start + (Addr)e->length, 0, v.prot,
                               what_of(&v), v.name);
   map_at(number)->hidden = (v.flags & TLB_MAP_FOREIGN) != 0;
   if (v.kind == TLB_IMAGE || v.kind == TLB_FILE) {
      describe_file(v.name, &v);
   } else if ((v.flags & TLB_MAP_SHARED) != 0) {
      /* Each a file of its own. */
      v.device = ~0ULL;
      v.inode = next_shared_inode++;
      tlb_fault_file_is(&model, v.device, v.inode, ~0ULL, 1);
   }
   const ULong native = native_place(e, &v, over, was_native);
   /* The kernel knows nothing of kinds, and joins what lies together. */
   v.kind = TLB_ANON;
   v.name = NULL;
   v.serial = 0;
   map_at(number)->native = native;
   place(e->start, e->start + (Addr)e->length, native, number, v);
   if ((e->flags & TG_SPACE_POPULATE) != 0
       || (v.flags & TLB_MAP_LOCKED) != 0)
      populated(e->start, (SizeT)e->length, lock_part, NULL);
   forget(e->start, (SizeT)e->length);
}

/* --- The other calls --- */

static void protect_part(ULong native, ULong end, void* opaque)
{
   tlb_fault_protect(&model, native, end, *(const UInt*)opaque);
}

static void flag_part(ULong native, ULong end, void* opaque)
{
   const UInt* change = opaque;
   tlb_fault_flag(&model, native, end, change[0], change[1]);
}

static void flag(Addr a, SizeT len, UInt set, UInt clear)
{
   UInt change[2] = { set, clear };
   each_part(a, len, flag_part, change);
}

static void zap_part(ULong native, ULong end, void* opaque)
{
   (void)opaque;
   tlb_fault_zap(&model, native, end);
}

static void populate_part(ULong native, ULong end, void* opaque)
{
   tlb_fault_populate(&model, native, end, *(const tlb_touch*)opaque);
}

static void collapse_part(ULong native, ULong end, void* opaque)
{
   (void)opaque;
   tlb_fault_collapse(&model, native, end);
}

static void advised(Addr a, SizeT len, Int advice)
{
   tlb_touch touch = TLB_TOUCH_READ;
   switch (advice) {
   case ADVICE_DONTNEED: case ADVICE_DONTNEED_LOCKED: case ADVICE_REMOVE:
   case ADVICE_PAGEOUT: case ADVICE_GUARD_INSTALL:
      each_part(a, len, zap_part, NULL);
      forget(a, len);
      break;
   case ADVICE_POPULATE_WRITE:
      touch = TLB_TOUCH_WRITE;
      populated(a, len, populate_part, &touch);
      break;
   case ADVICE_POPULATE_READ:
      populated(a, len, populate_part, &touch);
      break;
   case ADVICE_COLLAPSE: populated(a, len, collapse_part, NULL); break;
   case ADVICE_DONTFORK: flag(a, len, TLB_MAP_NO_FORK, 0); break;
   case ADVICE_DOFORK: flag(a, len, 0, TLB_MAP_NO_FORK); break;
   case ADVICE_NORMAL:
      flag(a, len, 0, TLB_MAP_RANDOM | TLB_MAP_SEQUENTIAL);
      break;
   case ADVICE_RANDOM:
      flag(a, len, TLB_MAP_RANDOM, TLB_MAP_SEQUENTIAL);
      break;
   case ADVICE_SEQUENTIAL:
      flag(a, len, TLB_MAP_SEQUENTIAL, TLB_MAP_RANDOM);
      break;
   case ADVICE_HUGEPAGE:
      flag(a, len, TLB_MAP_HUGEPAGE, TLB_MAP_NOHUGEPAGE);
      break;
   case ADVICE_NOHUGEPAGE:
      flag(a, len, TLB_MAP_NOHUGEPAGE, TLB_MAP_HUGEPAGE);
      break;
   case ADVICE_WIPEONFORK: flag(a, len, TLB_MAP_WIPE_ON_FORK, 0); break;
   case ADVICE_KEEPONFORK: flag(a, len, 0, TLB_MAP_WIPE_ON_FORK); break;
   default: break;
   }
}

/* The break moves up: its whole room has been laid out at the start. */
static void heap_grown(const TgSpaceEvent* e)
{
   UInt number;
   ULong native;
   if (tg_space_find(e->start, &number, &native) == NULL)
      return;
   tlb_mapping v = { .start = native, .end = native + e->length,
                     .prot = TLB_MAY_READ | TLB_MAY_WRITE };
   v.flags = e->mapping->flags & TLB_MAP_LOCKED;
   tlb_fault_map(&model, &v);
   /* The highest that it came to: the log has faults of before it shrank. */
   if (map_at(number)->end < (ULong)e->start + e->length)
      map_at(number)->end = (ULong)e->start + e->length;
   if (v.flags != 0)
      populated(e->start, (SizeT)e->length, lock_part, NULL);
}

/* And down: the room stays. */
static void heap_shrunk(const TgSpaceEvent* e)
{
   each_part(e->start, (SizeT)e->length, unmap_part, NULL);
   tlb_layout_freed(&layout);
   tg_used_unmapped(e->start, (SizeT)e->length);
   forget(e->start, (SizeT)e->length);
}

static Bool is_heap(Addr a)
{
   UInt number;
   ULong native;
   return tg_space_find(a, &number, &native) != NULL
          && map_at(number)->start == heap_start;
}

static void protected(const TgSpaceEvent* e)
{
   UInt prot = e->prot;
   each_part(e->start, (SizeT)e->length, protect_part, &prot);
   forget(e->start, (SizeT)e->length);
}

static void unmapped(const TgSpaceEvent* e)
{
   UInt number;
   if (is_heap(e->start)) {
      heap_shrunk(e);
      return;
   }
   was_here = tg_space_find(e->start, &number, &was_native) != NULL;
   was_at = e->start;
   unmap(e->start, (SizeT)e->length);
}

static void locked(const TgSpaceEvent* e)
{
   flag(e->start, (SizeT)e->length, TLB_MAP_LOCKED, 0);
   if ((e->flags & TG_SPACE_ON_FAULT) == 0)
      populated(e->start, (SizeT)e->length, lock_part, NULL);
}

static void forked(Bool is_child)
{
   if (!call.shares_space)
      tlb_fault_fork(&model, is_child);
   if (is_child)
      tlb_fault_zero(&model);
   tell_forked(is_child);
   for (SizeT i = 0; i < layout.here.count; i++)
      forget((Addr)layout.here.at[i]->start,
             (SizeT)(layout.here.at[i]->end - layout.here.at[i]->start));
}

static void listen(void* opaque, const TgSpaceEvent* e)
{
   (void)opaque;
   if (!started || (call.is_remap && e->what != TG_SPACE_FORK))
      return;
   switch (e->what) {
   case TG_SPACE_MAP:
      if (e->mapping->kind == TLB_HEAP)
         heap_grown(e);
      else
         mapped(e);
      was_here = False;
      break;
   case TG_SPACE_GROW:
      /* All of the stack has been laid out at the start. */
      if (e->mapping->kind == TLB_HEAP)
         heap_grown(e);
      break;
   case TG_SPACE_UNMAP: unmapped(e); break;
   case TG_SPACE_PROTECT: protected(e); break;
   case TG_SPACE_ADVISE:
      advised(e->start, (SizeT)e->length, e->advice);
      break;
   case TG_SPACE_LOCK: locked(e); break;
   case TG_SPACE_UNLOCK:
      flag(e->start, (SizeT)e->length, 0, TLB_MAP_LOCKED);
      break;
   case TG_SPACE_FORK: forked((e->flags & TG_SPACE_CHILD) != 0); break;
   case TG_SPACE_MOVE: case TG_SPACE_RENAME: break;
   }
}

/* mremap(). Where it grows in place natively is not where it does here. */
static void remapped(Addr old, SizeT old_len, SizeT len, UWord flags, Addr a)
{
   UInt number;
   ULong from;
   old_len = page_up(old_len);
   len = page_up(len);
   const TgMap* map = tg_space_find(old, &number, &from);
   if (map == NULL)
      return;
   const TgMap copy = *map;
   const UInt old_number = number;
   const tlb_mapping* found = tlb_mappings_find(&model.maps, from);
   if (found == NULL)
      return;
   tlb_mapping v = *found;
   v.offset += from - v.start;
   const Bool keep = (flags & REMAP_DONTUNMAP) != 0 || old_len == 0;
   const SizeT moves = len < old_len ? len : old_len;

   if (a == old && len <= old_len) {
      unmap(a + len, old_len - len);
      return;
   }
   if (a != old)
      unmap(a, len);
   ULong to;
   Int aligned;
   if (!lays_out())
      to = a;
   else if (!keep && (flags & VKI_MREMAP_FIXED) == 0
            && found->end == from + old_len
       && (len <= old_len || is_free(from + old_len, len - old_len)))
      to = from;
   else if ((flags & VKI_MREMAP_FIXED) != 0)
      to = is_free(a, len) ? a
         : tlb_layout_place(&layout, len, 0, 1, &aligned);
   else
      to = tlb_layout_place(&layout, len, v.inode != 0, v.offset, &aligned);
   if (len < old_len)
      unmap(old + len, old_len - len);
   if (to != from && moves != 0)
      tlb_fault_move(&model, from, to, moves, keep);
   if (len > moves) {
      v.offset += moves;
      v.start = to + moves;
      v.end = to + len;
      tlb_fault_map(&model, &v);
   }
   if (!keep)
      tlb_layout_remove(&layout, old, old + old_len);
   tlb_layout_freed(&layout);
   TgMap moved = copy;
   moved.start = a;
   moved.end = a + len;
   moved.native = to;
   moved.offset = copy.offset + (old - copy.start);
   VG_(addToXA)(maps, &moved);
   tlb_layout_add(&layout, a, a + len, to, (UInt)VG_(sizeXA)(maps));
   tg_used_moved(old, a, moves, old_number, (UInt)VG_(sizeXA)(maps));
   forget(old, old_len);
   forget(a, len);
}

#if defined(VGA_amd64)

static void thread_area_at(Addr a)
{
   UInt number;
   ULong native;
   if (tg_space_find(a, &number, &native) != NULL
       && VG_(strcmp)(map_at(number)->what, "anon") == 0)
      map_at(number)->what = "tls";
}

#endif

void tg_space_pre_syscall(UInt number, const UWord* args)
{
   call.hint = 0;
   call.is_remap = number == __NR_mremap;
   call.shares_space = False;
   was_here = False;
   switch (number) {
#if !defined(VGA_x86)
   case __NR_mmap:
      call.hint = tg_native_mmap_wishes() ? 0 : args[0];
      break;
#endif
#ifdef __NR_mmap2
   case __NR_mmap2: call.hint = args[0]; break;
#endif
#ifdef __NR_vfork
   case __NR_vfork: call.shares_space = True; break;
#endif
   case __NR_clone: call.shares_space = (args[0] & CLONE_VM_) != 0; break;
#ifdef __NR_clone3
   /* The flags come first in what it points to. */
   case __NR_clone3:
      call.shares_space
         = VG_(am_is_valid_for_client)(args[0], sizeof(ULong), VKI_PROT_READ)
           && (*(const ULong*)args[0] & CLONE_VM_) != 0;
      break;
#endif
   default: break;
   }
}

void tg_space_post_syscall(UInt number, const UWord* args, SysRes result)
{
   call.is_remap = False;
   if (!started || sr_isError(result))
      return;
   if (number == __NR_mremap)
      remapped(args[0], args[1], args[2], args[3], sr_Res(result));
   /* The header of an object that is to be mapped. */
   struct vg_stat st;
   if (number == __NR_read && args[2] < VKI_PAGE_SIZE
       && VG_(fstat)((Int)args[0], &st) == 0 && VKI_S_ISREG(st.mode))
      tlb_fault_file_header(&model, st.dev, st.ino);
#if defined(VGA_amd64)
   if (number == __NR_arch_prctl && args[0] == ARCH_SET_FS_)
      thread_area_at(args[1]);
#endif
}

/* --- Start --- */

void tg_space_init(const tlb_fault_settings* settings,
                   void (*forked_)(Bool is_child))
{
   tell_forked = forked_;
   tg_aspace_listen(listen, NULL);
   page_shift = settings->page_shift;
   page_bytes = 1ULL << page_shift;
   maps = VG_(newXA)(VG_(malloc), "tg.faults.maps", VG_(free), sizeof(TgMap));
   tlb_fault_init(&model, settings, &memory);
}

/* Where Linux begins to lay out, without randomisation: arch/x86/mm/mmap.c,
   arch/x86/include/asm/elf.h. */
#if defined(VGA_amd64)
static const ULong stack_top = 0x7ffffffff000ULL;
static const ULong pie_base = 0x555555554000ULL;
static const ULong task_size = 0x7ffffffff000ULL;
#elif defined(VGA_x86)
static const ULong stack_top = 0xffffe000ULL;
static const ULong pie_base = 0x56555000ULL;
static const ULong task_size = 0xffffe000ULL;
#else
static const ULong stack_top = 0x1000000000000ULL;
static const ULong pie_base = 0xaaaaaaaa0000ULL;
static const ULong task_size = 0x1000000000000ULL;
#endif

/* mmap() begins below the stack's limit and a gap, at least 128 MiB. */
static ULong mmap_base(void)
{
   struct vki_rlimit limit;
   const ULong guard = 256 * page_bytes;
   ULong gap = 128ULL << 20;
   if (VG_(getrlimit)(VKI_RLIMIT_STACK, &limit) == 0
       && limit.rlim_cur < task_size / 6 * 5
       && limit.rlim_cur + guard > gap)
      gap = (limit.rlim_cur + guard + page_bytes - 1) & ~(page_bytes - 1);
   return task_size - gap;
}

static Bool same_file(const NSegment* a, const NSegment* b)
{
   return a != NULL && b != NULL && a->kind == SkFileC && b->kind == SkFileC
          && a->dev == b->dev && a->ino == b->ino;
}

/* The segments of the object that has the byte at `in` and what belongs to it
   are placed where `in` goes to `in_native`. */
static void place_object(const Addr* starts, Int n, Addr in, ULong distance,
                         UInt flags)
{
   const NSegment* first = VG_(am_find_nsegment)(in);
   Addr end = 0;
   /* The kernel has read it to start the program. */
   if (first != NULL && first->kind == SkFileC)
      tlb_fault_file_header(&model, first->dev, first->ino);
   const HChar* name = NULL;
   struct vg_stat st;
   for (Int i = 0; i < n; i++) {
      const NSegment* seg = VG_(am_find_nsegment)(starts[i]);
      const Bool bss = seg->kind == SkAnonC && seg->start == end;
      Addr seg_end = seg->end + 1;
      if (!same_file(seg, first) && !bss)
         continue;
      /* Valgrind joins the heap to the bss. */
      if (bss && heap_start > seg->start && heap_start < seg_end)
         seg_end = heap_start;
      if (bss && heap_start == seg->start)
         continue;
      if (!bss)
         name = VG_(am_get_filename)(seg);
      tlb_mapping v = {
         .flags = (UShort)flags, .device = seg->dev, .inode = seg->ino,
         .offset = (ULong)seg->offset,
         .prot = (UChar)((seg->hasR ? TLB_MAY_READ : 0)
                         | (seg->hasW ? TLB_MAY_WRITE : 0)
                         | (seg->hasX ? TLB_MAY_EXECUTE : 0)),
      };
      if (bss)
         v.offset = 0;
      else if (name != NULL && !sr_isError(VG_(stat)(name, &st)))
         tlb_fault_file_is(&model, seg->dev, seg->ino, (ULong)st.size,
                           tg_proc_is_tmpfs(st.dev));
      const UInt number = add_map(seg->start, seg_end, seg->start + distance,
                                  v.prot, bss ? "bss" : "file", name);
      place(seg->start, seg_end, seg->start + distance, number, v);
      end = seg_end;
   }
}

/* Lowest and highest address of an object's segments. */
static void extent_of(const Addr* starts, Int n, Addr in, Addr* low, Addr* high)
{
   const NSegment* first = VG_(am_find_nsegment)(in);
   *low = 0;
   *high = 0;
   for (Int i = 0; i < n; i++) {
      const NSegment* seg = VG_(am_find_nsegment)(starts[i]);
      const Bool bss = seg->kind == SkAnonC && seg->start == *high;
      if (!same_file(seg, first) && !bss)
         continue;
      if (*high == 0)
         *low = seg->start;
      *high = seg->end + 1;
      if (bss && heap_start >= seg->start && heap_start < *high)
         *high = heap_start;
   }
}

static void start_stack(ThreadId tid)
{
   const NSegment* seg = VG_(am_find_nsegment)(VG_(get_SP)(tid));
   if (seg == NULL)
      return;
   const Addr end = seg->end + 1;
   Addr low = seg->start;
   const NSegment* below = VG_(am_find_nsegment)(low - 1);
   if (below != NULL && below->kind == SkResvn)
      low = below->start;
   const ULong native = lays_out() ? stack_top - (end - low) : low;
   const tlb_mapping v = { .kind = TLB_STACK,
                           .prot = TLB_MAY_READ | TLB_MAY_WRITE };
   const UInt number = add_map(low, end, native, v.prot, "stack", NULL);
   place(low, end, native, number, v);
}

static void start_heap(ULong native)
{
   /* Whatever Valgrind lets it grow to. */
   const NSegment* seg = VG_(am_find_nsegment)(heap_start);
   Addr end = heap_start + (Addr)page_bytes;
   if (seg != NULL) {
      end = seg->end + 1;
      const NSegment* above = VG_(am_find_nsegment)(end);
      if (above != NULL && above->kind == SkResvn)
         end = above->end + 1;
   }
   const UInt number = add_map(heap_start, heap_start, native,
                               TLB_MAY_READ | TLB_MAY_WRITE, "heap", NULL);
   tlb_layout_add(&layout, heap_start, end, native, number);
}

/* The kernel's pages. Here they are hidden: they get addresses that nothing
   else has. */
static void start_vdso(void)
{
   ULong start, end, vdso_start;
   Int aligned;
   if (!lays_out() || !tg_proc_vdso(&start, &end, &vdso_start))
      return;
   const ULong native = tlb_layout_place(&layout, end - start, 0, 1, &aligned);
   const tlb_mapping v = {
      .flags = TLB_MAP_NO_AROUND, .device = ~0ULL, .inode = ~0ULL,
      .prot = TLB_MAY_READ | TLB_MAY_EXECUTE,
   };
   const ULong code_native = native + (vdso_start - start);
   vvar = (Addr)native;
   UInt number = add_map(vvar, vvar + (Addr)(vdso_start - start), native,
                         TLB_MAY_READ, "vdso", "[vvar]");
   place(vvar, vvar + (Addr)(vdso_start - start), native, number, v);
   /* The stand-in has but one page. */
   vdso = tg_native_image()->vdso;
   const Addr code = vdso != 0 ? vdso : (Addr)code_native;
   number = add_map(code, code + VKI_PAGE_SIZE, code_native, v.prot, "vdso",
                    "[vdso]");
   place(code, code + VKI_PAGE_SIZE, code_native, number, v);
   const tlb_mapping rest = {
      .start = code_native + VKI_PAGE_SIZE, .end = native + (end - start),
      .flags = TLB_MAP_NO_AROUND, .device = ~0ULL, .inode = ~0ULL,
      .offset = VKI_PAGE_SIZE, .prot = v.prot,
   };
   tlb_fault_map(&model, &rest);
}

void tg_space_start(ThreadId tid)
{
   const TgImage* image = tg_native_image();
   const tlb_layout_rules rules = {
      .mmap_base = mmap_base(), .lowest = 0x10000,
      .huge_bytes = page_bytes << (page_shift - 3),
      .stack_gap = 256 * page_bytes,
   };
   tlb_layout_init(&layout, &rules, &model.maps, &memory);

   Int n = -256;
   Addr* starts = NULL;
   do {
      const Int room = -n;
      starts = VG_(realloc)("tg.faults.segments", starts,
                            (SizeT)room * sizeof *starts);
      n = VG_(am_get_segment_starts)(SkFileC | SkAnonC | SkShmC, starts, room);
   } while (n < 0);

   heap_start = page_up(tg_native_brk());
   start_stack(tid);
   Addr low, high;
   extent_of(starts, n, image->entry, &low, &high);
   ULong distance = 0;
   Int aligned;
   if (image->is_pie && image->interpreter != 0 && lays_out())
      distance = pie_base - low;
   else if (image->is_pie && lays_out())
      distance = tlb_layout_place(&layout, high - low, 1, 0, &aligned) - low;
   place_object(starts, n, image->entry, distance, TLB_MAP_MAIN);
   start_heap(!lays_out()                               ? heap_start
              : image->is_pie && image->interpreter == 0 ? pie_base
                                                         : high + distance);
   if (image->interpreter != 0) {
      extent_of(starts, n, image->interpreter, &low, &high);
      distance = lays_out() ? tlb_layout_place(&layout, high - low, 1, 0,
                                               &aligned) - low
                            : 0;
      place_object(starts, n, image->interpreter, distance, 0);
   }
   start_vdso();
   VG_(free)(starts);
   started = True;
}

void tg_space_exec_touches(void (*each)(Addr a, tlb_touch touch))
{
   const TgImage* image = tg_native_image();
   /* Behind the data that the file has, its last page is cleared. */
   if (image->bss != 0 && image->bss % page_bytes != 0)
      each(image->bss, TLB_TOUCH_WRITE);
   if (image->interpreter_bss != 0 && image->interpreter_bss % page_bytes != 0)
      each(image->interpreter_bss, TLB_TOUCH_WRITE);
   /* The strings went into pages that the kernel made for them. */
   UInt number;
   ULong native;
   for (ULong a = image->strings & ~(page_bytes - 1); a < image->stack_end;
        a += page_bytes) {
      if (tg_space_find((Addr)a, &number, &native) != NULL)
         tlb_fault_settle(&model, native, TLB_TOUCH_WRITE);
   }
   each(image->stack_strings, TLB_TOUCH_WRITE);
   for (Addr a = image->sp; a < image->stack_strings;
        a = (Addr)(a | (page_bytes - 1)) + 1)
      each(a, TLB_TOUCH_WRITE);
}
