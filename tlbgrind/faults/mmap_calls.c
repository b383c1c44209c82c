/* What the program's calls do to its address space. See faults/mmap_calls.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "space/aspace.h"
#include "faults/break_room.h"
#include "faults/mapped_files.h"
#include "faults/maps.h"
#include "faults/mmap_calls.h"
#include "faults/exec_image.h"
#include "faults/native_mmap.h"
#include "base/proc_file.h"
#include "faults/page_use.h"

/* Linux' numbers (asm-generic/mman-common.h, linux/mman.h), where Valgrind's
   headers have none. */
enum {
   ADVICE_NORMAL, ADVICE_RANDOM, ADVICE_SEQUENTIAL,
   ADVICE_DONTNEED = 4, ADVICE_REMOVE = 9, ADVICE_DONTFORK = 10,
   ADVICE_DOFORK = 11, ADVICE_HUGEPAGE = 14, ADVICE_NOHUGEPAGE = 15,
   ADVICE_DONTDUMP = 16, ADVICE_DODUMP = 17, ADVICE_WIPEONFORK = 18,
   ADVICE_KEEPONFORK = 19, ADVICE_PAGEOUT = 21,
   ADVICE_POPULATE_READ = 22, ADVICE_POPULATE_WRITE = 23,
   ADVICE_DONTNEED_LOCKED = 24, ADVICE_COLLAPSE = 25,
   ADVICE_GUARD_INSTALL = 102, REMAP_DONTUNMAP = 4
};

enum { ARCH_SET_FS_ = 0x1002, CLONE_VM_ = 0x100 };

static ULong next_shared_inode = 1; /* of shared anonymous memory */
static void (*tell_forked)(Bool is_child); /* NULL: nothing */

/* The system call that is going on, as far as it matters: the core's events
   belong to it. */
static struct {
   Addr hint;         /* mmap(): the address that the program would like */
   Int fd; /* of mmap(); else -1 */
   UWord remap_flags; /* of mremap(), as the program gave them */
   Bool is_remap;
   Bool shares_space; /* vfork() and its like: nothing is copied */
} call;

/* --- mmap --- */

/* Whether nothing lies there natively. */
static Bool is_free(ULong native, SizeT len)
{
   return !tlb_mappings_overlap(&tg_maps_model()->maps, native, native + len);
}

static Bool starts_with(const HChar* text, const HChar* start)
{
   return VG_(strncmp)(text, start, VG_(strlen)(start)) == 0;
}

/* Looks at the file that is mapped: it need not have a name any more. */
static Bool is_there(const HChar* name, const tlb_mapping* v, struct vg_stat* st)
{
   if (call.fd >= 0 && VG_(fstat)(call.fd, st) == 0 && st->ino == v->inode)
      return True;
   return !sr_isError(VG_(stat)(name, st)) && st->ino == v->inode;
}

/* Tells the model what kind of file it is. */
static void describe_file(const HChar* name, tlb_mapping* v)
{
   struct vg_stat st;
   if (name == NULL)
      return;
   if (starts_with(name, "/memfd:") || starts_with(name, "/SYSV")) {
      tlb_fault_file_is(tg_maps_model(), v->device, v->inode, ~0ULL, 1);
      if (is_there(name, v, &st))
         tlb_fault_file_read(tg_maps_model(), v->device, v->inode, 0, st.blocks * 512);
   } else if (is_there(name, v, &st)) {
      if (VKI_S_ISREG(st.mode)) {
         const Bool tmpfs = tg_proc_file_system(st.dev).in_memory;
         tlb_fault_file_is(tg_maps_model(), v->device, v->inode,
                           (ULong)st.size, tmpfs);
         /* What was there before this process came. */
         if (tmpfs)
            tlb_fault_file_read(tg_maps_model(), v->device, v->inode, 0,
                                st.blocks * 512);
      } else {
         v->flags |= TLB_MAP_NO_AROUND;
      }
   }
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

/* The kernel brings in what is locked. */
static Bool is_populated(const tlb_mapping* v)
{
   return (v->flags & (TLB_MAP_LOCKED | TLB_MAP_ON_FAULT)) == TLB_MAP_LOCKED;
}

static void lock_part(ULong native, ULong end, void* opaque)
{
   (void)opaque;
   tlb_fault_lock(tg_maps_model(), native, end);
}

/* The kernel makes pages present as `how` says. */
static void populated(Addr a, SizeT len, TgMapPart* how, void* opaque)
{
   tg_maps_each_part(a, len, how, opaque);
   tg_page_use_populated(a, len);
}

/* Whether addresses there differ from the native ones in their highest bits only, as those
   that faults/native_mmap.c chooses do, and `hint` is not far away from them. */
static Bool is_near(const tlb_mapping* piece, Addr hint)
{
   const ULong far = hint < piece->start ? piece->start - hint : hint - piece->start;
   return (UInt)(piece->offset - piece->start) == 0 && far < 1ULL << 30;
}

/* What an address is natively that the program asks for: most likely it has computed it from
   that of a mapping, which it wants to go on (the C library does for the arenas of threads),
   or near which it wants to be. */
static ULong native_hint(Addr hint, SizeT len)
{
   UInt number;
   ULong native;
   if (tg_maps_find(hint - 1, &number, &native) != NULL)
      return native + 1;
   if (tg_maps_find(hint + len, &number, &native) != NULL)
      return native - len;
   const tlb_mappings* here = &tg_maps_layout()->here;
   const SizeT above = tlb_mappings_above(here, hint);
   const tlb_mapping* piece = NULL;
   if (above < here->count && is_near(here->at[above], hint))
      piece = here->at[above];
   else if (above > 0 && is_near(here->at[above - 1], hint))
      piece = here->at[above - 1];
   return piece == NULL ? hint : piece->offset + (hint - piece->start);
}

Bool tg_mmap_calls_takes_hint(Addr hint, SizeT len)
{
   const Addr page = VG_PGROUNDDN(hint);
   const SizeT bytes = VG_PGROUNDUP(len);
   return !tg_maps_begun() || is_free(native_hint(page, bytes), bytes);
}

/* What the layout has to know of it. */
static tlb_placed kind_of(const tlb_mapping* v)
{
   if (v->flags & TLB_MAP_HUGETLB)
      return TLB_PLACED_HUGETLB;
   /* Anonymous memory is not aligned, either, that was to lie somewhere else. */
   if (v->inode == 0)
      return call.hint != 0 ? TLB_PLACED_SHARED : TLB_PLACED_MEMORY;
   return tlb_fault_is_tmpfs(tg_maps_model(), v) ? TLB_PLACED_SHARED : TLB_PLACED_FILE;
}

/* Where a new mapping lies natively: over the old one, where the program says,
   or where the kernel places it. */
static ULong native_place(const TgSpaceEvent* e, tlb_mapping* v, Bool is_over,
                          ULong over)
{
   Int aligned = 0;
   if (e->fixed)
      return is_over ? over : e->start;
   if (!tg_native_mmap_wishes() && call.hint != 0 && call.hint == e->start) {
      const ULong hint = native_hint((Addr)e->start, (SizeT)e->length);
      if (is_free(hint, (SizeT)e->length))
         return hint;
   }
   const ULong native = tlb_layout_place(tg_maps_layout(), e->length, kind_of(v), v->offset,
                                         &aligned);
   if (aligned)
      v->flags |= TLB_MAP_FIXED_PHASE;
   return tg_maps_model_address(e->start, native);
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
   const UInt number = tg_maps_new(e->start, e->start + (Addr)e->length,
                                        0, v.prot, what_of(&v), v.name);
   tg_maps_edit(number)->hidden = (v.flags & TLB_MAP_FOREIGN) != 0;
   /* Segments have no fault-around: shm_vm_ops. */
   if (v.kind == TLB_SHM)
      v.flags |= TLB_MAP_NO_AROUND;
   if (v.kind == TLB_IMAGE || v.kind == TLB_FILE) {
      describe_file(v.name, &v);
   } else if ((v.flags & TLB_MAP_SHARED) != 0) {
      /* Each a file of its own. */
      v.device = ~0ULL;
      v.inode = next_shared_inode++;
      tlb_fault_file_is(tg_maps_model(), v.device, v.inode, ~0ULL, 1);
   }
   const ULong native = native_place(e, &v, over, was_native);
   /* The kernel knows nothing of kinds, and joins what lies together. */
   v.kind = TLB_ANON;
   v.name = NULL;
   v.serial = 0;
   tg_maps_edit(number)->native = native;
   tg_maps_put(e->start, e->start + (Addr)e->length, native, number, v);
   if (((e->flags & TG_SPACE_POPULATE) != 0 && (v.flags & TLB_MAP_ON_FAULT) == 0)
       || is_populated(&v))
      populated(e->start, (SizeT)e->length, lock_part, NULL);
   tg_maps_forget(e->start, (SizeT)e->length);
}

/* --- The other calls --- */

/* Of private memory that is locked, the kernel brings in what may be written from now
   on: mprotect_fixup(). */
static void protect_part(ULong native, ULong end, void* opaque)
{
   const UInt prot = *(const UInt*)opaque;
   tlb_mapping v;
   for (ULong at = native; tlb_mappings_piece(&tg_maps_model()->maps, at, end, &v);
        at = v.end) {
      tlb_fault_protect(tg_maps_model(), v.start, v.end, prot);
      if (is_populated(&v) && (v.flags & TLB_MAP_SHARED) == 0
          && (prot & ~(UInt)v.prot & TLB_MAY_WRITE) != 0)
         tlb_fault_lock(tg_maps_model(), v.start, v.end);
   }
}

static void flag_part(ULong native, ULong end, void* opaque)
{
   const UInt* change = opaque;
   tlb_fault_flag(tg_maps_model(), native, end, change[0], change[1]);
}

static void flag(Addr a, SizeT len, UInt set, UInt clear)
{
   UInt change[2] = { set, clear };
   tg_maps_each_part(a, len, flag_part, change);
}

static void zap_part(ULong native, ULong end, void* opaque)
{
   (void)opaque;
   tlb_fault_zap(tg_maps_model(), native, end);
}

static void remove_part(ULong native, ULong end, void* opaque)
{
   (void)opaque;
   tlb_fault_file_removed(tg_maps_model(), native, end);
}

static void populate_part(ULong native, ULong end, void* opaque)
{
   tlb_fault_populate(tg_maps_model(), native, end, *(const tlb_touch*)opaque);
}

static void collapse_part(ULong native, ULong end, void* opaque)
{
   (void)opaque;
   tlb_fault_collapse(tg_maps_model(), native, end);
}

static void advised(Addr a, SizeT len, Int advice)
{
   tlb_touch touch = TLB_TOUCH_READ;
   switch (advice) {
   case ADVICE_DONTNEED: case ADVICE_DONTNEED_LOCKED: case ADVICE_REMOVE:
   case ADVICE_PAGEOUT: case ADVICE_GUARD_INSTALL:
      tg_maps_each_part(a, len, zap_part, NULL);
      if (advice == ADVICE_REMOVE)
         tg_maps_each_part(a, len, remove_part, NULL);
      tg_maps_forget(a, len);
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
   case ADVICE_DONTDUMP: flag(a, len, TLB_MAP_NO_DUMP, 0); break;
   case ADVICE_DODUMP: flag(a, len, 0, TLB_MAP_NO_DUMP); break;
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
   if (tg_maps_find(e->start, &number, &native) == NULL)
      return;
   tlb_mapping v = { .start = native, .end = native + e->length,
                     .prot = TLB_MAY_READ | TLB_MAY_WRITE };
   v.flags = e->mapping->flags & (TLB_MAP_LOCKED | TLB_MAP_ON_FAULT);
   tlb_fault_map(tg_maps_model(), &v);
   /* The highest that it came to: the log has faults of before it shrank. */
   TgMap* map = tg_maps_edit(number);
   if (map->end < (ULong)e->start + e->length)
      map->end = (ULong)e->start + e->length;
   if (is_populated(&v))
      populated(e->start, (SizeT)e->length, lock_part, NULL);
}

static Bool is_heap(Addr a)
{
   UInt number;
   ULong native;
   const TgMap* map = tg_maps_find(a, &number, &native);
   return map != NULL && map->start == tg_start_heap();
}

static void protected(const TgSpaceEvent* e)
{
   UInt prot = e->prot;
   tg_maps_each_part(e->start, (SizeT)e->length, protect_part, &prot);
   tg_maps_forget(e->start, (SizeT)e->length);
}

static void unmapped(const TgSpaceEvent* e)
{
   UInt number;
   /* The break moves down: its room stays. */
   if (is_heap(e->start)) {
      tg_maps_empty(e->start, (SizeT)e->length);
      return;
   }
   was_here = tg_maps_find(e->start, &number, &was_native) != NULL;
   was_at = e->start;
   tg_maps_unmap(e->start, (SizeT)e->length);
}

static void locked(const TgSpaceEvent* e)
{
   const Bool on_fault = (e->flags & TG_SPACE_ON_FAULT) != 0;
   flag(e->start, (SizeT)e->length, TLB_MAP_LOCKED | (on_fault ? TLB_MAP_ON_FAULT : 0u),
        on_fault ? 0 : TLB_MAP_ON_FAULT);
   if (!on_fault)
      populated(e->start, (SizeT)e->length, lock_part, NULL);
}

static void forked(Bool is_child)
{
   if (!call.shares_space)
      tlb_fault_fork(tg_maps_model(), is_child);
   if (is_child)
      tlb_fault_zero(tg_maps_model());
   if (tell_forked != NULL)
      tell_forked(is_child);
   tg_maps_forget_all();
}

static void listen(void* opaque, const TgSpaceEvent* e)
{
   (void)opaque;
   if (!tg_maps_begun() || (call.is_remap && e->what != TG_SPACE_FORK))
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
      flag(e->start, (SizeT)e->length, 0, TLB_MAP_LOCKED | TLB_MAP_ON_FAULT);
      break;
   case TG_SPACE_FORK: forked((e->flags & TG_SPACE_CHILD) != 0); break;
   case TG_SPACE_MOVE: case TG_SPACE_RENAME: break;
   }
}

/* Where memory lies natively that the program has set aside for what it moves there; 0:
   that is none, but perhaps room of the heap. */
static ULong set_aside(Addr a, SizeT len)
{
   const tlb_mapping* piece = tlb_layout_find(tg_maps_layout(), a);
   if (piece == NULL || piece->end - a < len)
      return 0;
   const ULong native = piece->offset + (a - piece->start);
   return tlb_mappings_find(&tg_maps_model()->maps, native) != NULL ? native : 0;
}

/* Whether the mapping, which mremap() takes all of from `from` on, has room behind it
   natively. */
static Bool grows_in_place(const tlb_mapping* found, ULong from, SizeT old_len, SizeT len)
{
   return found->end == from + old_len
          && (len <= old_len || is_free(from + old_len, len - old_len));
}

tlb_placed tg_mmap_calls_placed_file(Int fd)
{
   struct vg_stat st;
   return VG_(fstat)(fd, &st) == 0 && tg_proc_file_system(st.dev).in_memory
             ? TLB_PLACED_SHARED : TLB_PLACED_FILE;
}

/* Where mremap() moves `len` bytes of such memory to natively; `offset`: in its file. */
static ULong move_place(const tlb_mapping* v, ULong offset, SizeT len)
{
   Int aligned;
   return tlb_layout_place(tg_maps_layout(), len, kind_of(v), offset, &aligned);
}

ULong tg_mmap_calls_moves_to(Addr old, SizeT old_len, SizeT len)
{
   UInt number;
   ULong from;
   old_len = VG_PGROUNDUP(old_len);
   if (!tg_maps_begun() || old_len == 0 || len <= old_len
       || tg_maps_find(old, &number, &from) == NULL)
      return 0;
   const tlb_mapping* found = tlb_mappings_find(&tg_maps_model()->maps, from);
   if (found == NULL || grows_in_place(found, from, old_len, len))
      return 0;
   return move_place(found, found->offset + (from - found->start), len);
}

/* mremap(). Where it grows in place natively is not where it does here. */
static void remapped(Addr old, SizeT old_len, SizeT len, UWord flags, Addr a)
{
   UInt old_number;
   ULong from;
   old_len = VG_PGROUNDUP(old_len);
   len = VG_PGROUNDUP(len);
   if (tg_maps_find(old, &old_number, &from) == NULL)
      return;
   const tlb_mapping* found = tlb_mappings_find(&tg_maps_model()->maps, from);
   if (found == NULL)
      return;
   const Bool in_place = grows_in_place(found, from, old_len, len);
   tlb_mapping v = *found;
   v.offset += from - v.start;
   const Bool keep = (flags & REMAP_DONTUNMAP) != 0 || old_len == 0;
   const SizeT moves = len < old_len ? len : old_len;

   if (a == old && len <= old_len) {
      tg_maps_unmap(a + len, old_len - len);
      return;
   }
   const ULong room = a == old ? 0 : set_aside(a, len);
   if (a != old)
      tg_maps_unmap(a, len);
   ULong to;
   if ((flags & VKI_MREMAP_FIXED) != 0)
      to = room != 0 ? room : is_free(a, len) ? a : move_place(&v, v.offset, len);
   else
      to = !keep && in_place ? from : move_place(&v, v.offset, len);
   to = tg_maps_model_address(a, to);
   if (len < old_len)
      tg_maps_unmap(old + len, old_len - len);
   if (to != from && moves != 0)
      tlb_fault_move(tg_maps_model(), from, to, moves, keep);
   if (len > moves) {
      v.offset += moves;
      v.start = to + moves;
      v.end = to + len;
      tlb_fault_map(tg_maps_model(), &v);
   }
   if (!keep)
      tlb_layout_remove(tg_maps_layout(), old, old + old_len);
   tlb_layout_freed(tg_maps_layout());
   const UInt number = tg_maps_copy(old_number);
   if (tg_maps_records()) {
      TgMap* moved = tg_maps_edit(number);
      moved->offset += old - moved->start;
      moved->start = a;
      moved->end = a + len;
      moved->native = to;
   }
   tlb_layout_add(tg_maps_layout(), a, a + len, to, number);
   tg_page_use_moved(old, a, moves, old_number, number);
   if (len > moves && is_populated(&v))
      populated(a + moves, len - moves, lock_part, NULL);
   tg_maps_forget(old, old_len);
   tg_maps_forget(a, len);
}

#if defined(VGA_amd64)

static void thread_area_at(Addr a)
{
   UInt number;
   ULong native;
   const TgMap* map = tg_maps_find(a, &number, &native);
   if (map != NULL && VG_(strcmp)(map->what, "anon") == 0)
      tg_maps_edit(number)->what = "tls";
}

#endif

void tg_mmap_calls_pre_syscall(UInt number, const UWord* args)
{
   call.hint = 0;
   call.fd = -1;
   call.is_remap = number == __NR_mremap;
   call.remap_flags = tg_native_mmap_wishes() ? VKI_MREMAP_MAYMOVE : args[3];
   call.shares_space = False;
   was_here = False;
   switch (number) {
#if !defined(VGA_x86)
   case __NR_mmap:
      call.hint = tg_native_mmap_wishes() && !tg_native_mmap_hinted() ? 0 : args[0];
      call.fd = (Int)args[4];
      break;
#endif
#ifdef __NR_mmap2
   case __NR_mmap2:
      call.hint = args[0];
      call.fd = (Int)args[4];
      break;
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

void tg_mmap_calls_post_syscall(UInt number, const UWord* args, SysRes result)
{
   call.is_remap = False;
   if (!tg_maps_begun() || sr_isError(result))
      return;
   /* space/aspace_calls.c has read the call before. */
   if (number == __NR_prctl)
      tg_maps_model()->thp = tg_aspace_map()->thp;
   if (number == __NR_mremap)
      remapped(args[0], args[1], args[2], call.remap_flags, sr_Res(result));
   if (number == __NR_brk)
      tg_break_called(args[0], sr_Res(result));
#if defined(VGA_amd64)
   if (number == __NR_arch_prctl && args[0] == ARCH_SET_FS_)
      thread_area_at(args[1]);
#endif
   if (tg_maps_records())
      tg_fault_files_follow(number, args, result);
}

void tg_mmap_calls_init(const tlb_fault_settings* settings, Bool records)
{
   tg_aspace_listen(listen, NULL);
   tg_maps_init(settings, records);
}

void tg_mmap_calls_on_fork(void (*forked_)(Bool is_child))
{
   tell_forked = forked_;
}
