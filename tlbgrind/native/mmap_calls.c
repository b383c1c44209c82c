/* Applies the program's mapping calls to the maps. See native/mmap_calls.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "arch/arch.h"
#include "space/aspace.h"
#include "space/forks.h"
#include "native/break_room.h"
#include "native/mapped_files.h"
#include "native/maps.h"
#include "native/mmap_calls.h"
#include "native/exec_image.h"
#include "native/mmap_wishes.h"
#include "native/mremap_calls.h"
#include "native/placement.h"
#include "base/proc_file.h"

/* Linux' numbers (asm-generic/mman-common.h, linux/mman.h), where Valgrind's
   headers have none. */
enum {
   ADVICE_NORMAL, ADVICE_RANDOM, ADVICE_SEQUENTIAL,
   ADVICE_DONTNEED = 4, ADVICE_FREE = 8, ADVICE_REMOVE = 9, ADVICE_DONTFORK = 10,
   ADVICE_DOFORK = 11, ADVICE_MERGEABLE = 12, ADVICE_UNMERGEABLE = 13,
   ADVICE_HUGEPAGE = 14, ADVICE_NOHUGEPAGE = 15,
   ADVICE_DONTDUMP = 16, ADVICE_DODUMP = 17, ADVICE_WIPEONFORK = 18,
   ADVICE_KEEPONFORK = 19, ADVICE_COLD = 20, ADVICE_PAGEOUT = 21,
   ADVICE_POPULATE_READ = 22, ADVICE_POPULATE_WRITE = 23,
   ADVICE_DONTNEED_LOCKED = 24, ADVICE_COLLAPSE = 25,
   ADVICE_GUARD_INSTALL = 102
};

static ULong next_shared_inode = 1; /* of shared anonymous memory */
static void (*on_forked)(Bool is_child); /* NULL: nothing */

/* The arguments of the current system call; the core reports its changes of mappings before it
   returns. */
static struct {
   Addr hint;         /* mmap(): the address that the program passed, not MAP_FIXED */
   Int fd; /* of mmap(); else -1 */
   UWord remap_flags; /* of mremap(), as the program gave them */
   Bool is_remap;
} current_call;

/* --- mmap --- */

static Bool starts_with(const HChar* text, const HChar* start)
{
   return VG_(strncmp)(text, start, VG_(strlen)(start)) == 0;
}

/* Reads the status of the mapped file, by its descriptor if the call has one: the file may have
   no name any more. False: neither descriptor nor name leads to it. */
static Bool is_there(const HChar* name, const tlb_mapping* v, struct vg_stat* st)
{
   if (current_call.fd >= 0 && VG_(fstat)(current_call.fd, st) == 0 && st->ino == v->inode)
      return True;
   return !sr_isError(VG_(stat)(name, st)) && st->ino == v->inode;
}

/* Sets the kind of file in the model. */
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
         /* All blocks of a tmpfs are in the page cache, also those written before this process
            started. */
         if (tmpfs)
            tlb_fault_file_read(tg_maps_model(), v->device, v->inode, 0,
                                st.blocks * 512);
      } else {
         v->flags |= TLB_MAP_NO_AROUND;
      }
   }
}

static const HChar ring_name[] = "anon_inode:[io_uring]";

/* Whether the call maps a ring of io_uring, which has no name that the core knows. The kernel maps
   all of its pages at once: io_uring_mmap(). */
static Bool is_ring(const tlb_mapping* v)
{
   HChar name[64];
   return v->name == NULL && v->inode != 0 && current_call.fd >= 0
          && tg_proc_descriptor(current_call.fd, name, sizeof name) > 0
          && VG_(strcmp)(name, ring_name) == 0;
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

/* Whether the program's address for the mapping, MAP_FIXED or a hint, is free natively, and where
   it is. */
static Bool own_place(const TgSpaceEvent* e, ULong* native)
{
   *native = tg_placement_of_hint((Addr)e->start, (SizeT)e->length);
   return tg_placement_is_free(*native, (SizeT)e->length);
}

/* The native address of a new mapping: that of the mapping it replaces, the program's own
   (MAP_FIXED), which can be in a gap of what was mapped before, or the one that the kernel would
   choose. */
static ULong native_place(const TgSpaceEvent* e, tlb_mapping* v, Bool is_over,
                          ULong over)
{
   Int aligned = 0;
   ULong native;
   if (e->fixed)
      return is_over ? over : own_place(e, &native) ? native : e->start;
   if (!tg_mmap_wishes_pending() && current_call.hint != 0 && current_call.hint == e->start
       && own_place(e, &native))
      return native;
   native = tlb_layout_place(tg_maps_layout(), e->length,
                             tg_placement_kind(v, current_call.hint != 0), v->offset, &aligned);
   if (aligned)
      v->flags |= TLB_MAP_FIXED_PHASE;
   return tg_maps_model_address(e->start, native);
}

static void insert_part(ULong native, ULong end, void* opaque)
{
   (void)opaque;
   tlb_fault_insert(tg_maps_model(), native, end);
}

/* The place of the last mapping that was unmapped: whether there is one, its address here and its
   native address. A mapping that replaces it gets the same native address. */
static Bool was_here;
static Addr was_at;
static ULong was_native;

static void mapped(const TgSpaceEvent* e)
{
   tlb_mapping v = *e->mapping;
   const Bool over = was_here && was_at == e->start;
   const Bool ring = is_ring(&v);
   if (ring)
      v.name = ring_name;
   const UInt number = tg_maps_new(e->start, e->start + (Addr)e->length,
                                        0, v.prot, what_of(&v), v.name);
   tg_maps_edit(number)->hidden = (v.flags & TLB_MAP_FOREIGN) != 0;
   /* Segments have no fault-around: shm_vm_ops. */
   if (v.kind == TLB_SHM)
      v.flags |= TLB_MAP_NO_AROUND;
   if (v.kind == TLB_IMAGE || v.kind == TLB_FILE) {
      describe_file(v.name, &v);
   } else if ((v.flags & TLB_MAP_SHARED) != 0) {
      /* Each is a file of its own. */
      v.device = ~0ULL;
      v.inode = next_shared_inode++;
      tlb_fault_file_is(tg_maps_model(), v.device, v.inode, ~0ULL, 1);
   }
   const ULong native = native_place(e, &v, over, was_native);
   /* The kernel has no kinds of anonymous memory, and merges adjacent mappings. */
   v.kind = TLB_ANON;
   v.name = NULL;
   v.serial = 0;
   tg_maps_edit(number)->native = native;
   tg_maps_put(e->start, e->start + (Addr)e->length, native, number, v);
   if ((e->flags & TG_SPACE_POPULATE) != 0 && (v.flags & TLB_MAP_ON_FAULT) == 0)
      v.flags |= TLB_MAP_LOCKED; /* populated as locked memory is */
   tg_maps_lock(e->start, (SizeT)e->length, &v);
   if (ring)
      tg_maps_populate(e->start, (SizeT)e->length, insert_part, NULL);
   tg_maps_forget(e->start, (SizeT)e->length);
}

/* --- The other calls --- */

/* The kernel populates private locked memory that mprotect() makes writable:
   mprotect_fixup(). */
static void protect_part(ULong native, ULong end, void* opaque)
{
   const UInt prot = *(const UInt*)opaque;
   tlb_mapping v;
   for (ULong at = native; tlb_mappings_piece(&tg_maps_model()->maps, at, end, &v);
        at = v.end) {
      tlb_fault_protect(tg_maps_model(), v.start, v.end, prot);
      if (tg_maps_is_locked_in(&v) && (v.flags & TLB_MAP_SHARED) == 0
          && (prot & ~(UInt)v.prot & TLB_MAY_WRITE) != 0)
         tlb_fault_lock(tg_maps_model(), v.start, v.end);
   }
}

typedef struct {
   UInt set, clear;
} FlagChange;

static void change_flags_of_part(ULong native, ULong end, void* opaque)
{
   const FlagChange* c = opaque;
   tlb_fault_flag(tg_maps_model(), native, end, c->set, c->clear);
}

static void change_flags(Addr a, SizeT len, UInt set, UInt clear)
{
   FlagChange change = { set, clear };
   tg_maps_each_part(a, len, change_flags_of_part, &change);
}

static void zap_part(ULong native, ULong end, void* opaque)
{
   (void)opaque;
   tlb_fault_zap(tg_maps_model(), native, end);
}

static void page_out_part(ULong native, ULong end, void* opaque)
{
   (void)opaque;
   tlb_fault_page_out(tg_maps_model(), native, end);
}

static void age_part(ULong native, ULong end, void* opaque)
{
   tlb_fault_age(tg_maps_model(), native, end, *(const Int*)opaque);
}

static void discard_part(ULong native, ULong end, void* opaque)
{
   (void)opaque;
   tlb_fault_discard(tg_maps_model(), native, end);
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
   Int how;
   switch (advice) {
   case ADVICE_DONTNEED: case ADVICE_DONTNEED_LOCKED:
      tg_maps_each_part(a, len, discard_part, NULL);
      tg_maps_forget(a, len);
      break;
   case ADVICE_PAGEOUT:
      tg_maps_each_part(a, len, page_out_part, NULL);
      tg_maps_forget(a, len);
      break;
   case ADVICE_FREE: case ADVICE_COLD:
      how = advice == ADVICE_FREE ? TLB_ALL_FREED : TLB_ALL_COOLED;
      tg_maps_each_part(a, len, age_part, &how);
      tg_maps_forget(a, len);
      break;
   case ADVICE_REMOVE: case ADVICE_GUARD_INSTALL:
      tg_maps_each_part(a, len, zap_part, NULL);
      if (advice == ADVICE_REMOVE)
         tg_maps_each_part(a, len, remove_part, NULL);
      tg_maps_forget(a, len);
      break;
   case ADVICE_POPULATE_WRITE:
      touch = TLB_TOUCH_WRITE;
      tg_maps_populate(a, len, populate_part, &touch);
      break;
   case ADVICE_POPULATE_READ:
      tg_maps_populate(a, len, populate_part, &touch);
      break;
   case ADVICE_COLLAPSE: tg_maps_populate(a, len, collapse_part, NULL); break;
   case ADVICE_DONTFORK: change_flags(a, len, TLB_MAP_NO_FORK, 0); break;
   case ADVICE_DOFORK: change_flags(a, len, 0, TLB_MAP_NO_FORK); break;
   case ADVICE_NORMAL:
      change_flags(a, len, 0, TLB_MAP_RANDOM | TLB_MAP_SEQUENTIAL);
      break;
   case ADVICE_RANDOM:
      change_flags(a, len, TLB_MAP_RANDOM, TLB_MAP_SEQUENTIAL);
      break;
   case ADVICE_SEQUENTIAL:
      change_flags(a, len, TLB_MAP_SEQUENTIAL, TLB_MAP_RANDOM);
      break;
   case ADVICE_HUGEPAGE:
      change_flags(a, len, TLB_MAP_HUGEPAGE, TLB_MAP_NOHUGEPAGE);
      break;
   case ADVICE_NOHUGEPAGE:
      change_flags(a, len, TLB_MAP_NOHUGEPAGE, TLB_MAP_HUGEPAGE);
      break;
   case ADVICE_DONTDUMP: change_flags(a, len, TLB_MAP_NO_DUMP, 0); break;
   case ADVICE_DODUMP: change_flags(a, len, 0, TLB_MAP_NO_DUMP); break;
   case ADVICE_MERGEABLE: change_flags(a, len, TLB_MAP_MERGEABLE, 0); break;
   case ADVICE_UNMERGEABLE: change_flags(a, len, 0, TLB_MAP_MERGEABLE); break;
   case ADVICE_WIPEONFORK: change_flags(a, len, TLB_MAP_WIPE_ON_FORK, 0); break;
   case ADVICE_KEEPONFORK: change_flags(a, len, 0, TLB_MAP_WIPE_ON_FORK); break;
   default: break;
   }
}

/* The break moves up. Its whole room was laid out at the start. */
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
   /* The map keeps the heap's largest size: the log has faults from before it shrank. */
   TgMap* map = tg_maps_edit(number);
   if (map->end < (ULong)e->start + e->length)
      map->end = (ULong)e->start + e->length;
   tg_maps_lock(e->start, (SizeT)e->length, &v);
}

static Bool is_heap(Addr a)
{
   UInt number;
   ULong native;
   const TgMap* map = tg_maps_find(a, &number, &native);
   return map != NULL && map->start == tg_exec_image_heap();
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
   /* The break moves down; its room stays in the layout. */
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
   change_flags(e->start, (SizeT)e->length, TLB_MAP_LOCKED | (on_fault ? TLB_MAP_ON_FAULT : 0u),
        on_fault ? 0 : TLB_MAP_ON_FAULT);
   if (!on_fault)
      tg_maps_lock(e->start, (SizeT)e->length, &(tlb_mapping){ .flags = TLB_MAP_LOCKED });
}

static void forked(Bool is_child)
{
   if (!tg_forks_in_one_space())
      tlb_fault_fork(tg_maps_model(), is_child);
   if (is_child)
      tlb_fault_zero(tg_maps_model());
   if (on_forked != NULL)
      on_forked(is_child);
   tg_maps_forget_all();
}

static void listen(void* opaque, const TgSpaceEvent* e)
{
   (void)opaque;
   if (!tg_maps_begun() || (current_call.is_remap && e->what != TG_SPACE_FORK))
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
      /* The whole stack was laid out at the start. */
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
      change_flags(e->start, (SizeT)e->length, 0, TLB_MAP_LOCKED | TLB_MAP_ON_FAULT);
      break;
   case TG_SPACE_FORK: forked((e->flags & TG_SPACE_CHILD) != 0); break;
   case TG_SPACE_MOVE: case TG_SPACE_RENAME: break;
   }
}

static void thread_area_at(Addr a)
{
   UInt number;
   ULong native;
   const TgMap* map = tg_maps_find(a, &number, &native);
   if (map != NULL && VG_(strcmp)(map->what, "anon") == 0)
      tg_maps_edit(number)->what = "tls";
}

void tg_mmap_calls_pre_syscall(UInt number, const UWord* args)
{
   current_call.hint = 0;
   current_call.fd = -1;
   current_call.is_remap = number == __NR_mremap;
   current_call.remap_flags = tg_mmap_wishes_pending() ? VKI_MREMAP_MAYMOVE : args[3];
   was_here = False;
   if (number == tg_arch.syscalls.mmap) {
      current_call.hint = tg_mmap_wishes_pending() && !tg_mmap_wishes_hinted() ? 0 : args[0];
      current_call.fd = (Int)args[4];
   }
}

void tg_mmap_calls_post_syscall(UInt number, const UWord* args, SysRes result)
{
   current_call.is_remap = False;
   if (!tg_maps_begun() || sr_isError(result))
      return;
   /* space/aspace_calls.c has applied the call before. */
   if (number == __NR_prctl)
      tg_maps_model()->thp = tg_aspace_map()->thp;
   if (number == __NR_mremap)
      tg_mremap_calls_done(args[0], args[1], args[2], current_call.remap_flags, sr_Res(result));
   if (number == __NR_brk)
      tg_break_room_called(args[0], sr_Res(result));
   const Addr thread_area = tg_arch_thread_area(number, args);
   if (thread_area != 0)
      thread_area_at(thread_area);
   if (tg_maps_records())
      tg_mapped_files_follow(number, args, result);
}

void tg_mmap_calls_init(const tlb_fault_settings* settings, Bool records)
{
   tg_aspace_listen(listen, NULL);
   tg_maps_init(settings, records);
}

void tg_mmap_calls_on_fork(void (*forked_)(Bool is_child))
{
   on_forked = forked_;
}
