/* Lays out the address space at the program's start. See native/exec_image.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"

#include "arch/arch.h"
#include "native/break_room.h"
#include "native/maps.h"
#include "native/exec_image.h"
#include "native/start.h"
#include "base/proc_file.h"
#include "base/program.h"

static Addr heap_start; /* of the break, in this process */
static Addr vvar;

Addr tg_exec_image_heap(void)
{
   return heap_start;
}

Addr tg_exec_image_vvar(void)
{
   return vvar;
}

/* Of the kernel at hand: this process's first stack, where it has put the auxiliary vector's bytes,
   is where Linux has placed it. */
static const TgArchLayout* layout(void)
{
   enum { AT_RANDOM_ = 25 };
   static const TgArchLayout* found;
   if (found != NULL)
      return found;
   found = &tg_arch.layout;
   UWord n = 0;
   UWord* pairs = tg_arch.large_layout.task_size != 0 ? tg_proc_auxv(&n) : NULL;
   for (UWord i = 0; i < n; i++) {
      if (pairs[2 * i] == AT_RANDOM_ && pairs[2 * i + 1] >= found->task_size)
         found = &tg_arch.large_layout;
   }
   VG_(free)(pairs);
   return found;
}

/* mmap() begins below the stack's limit and a gap, at least 128 MiB. */
static ULong mmap_base(void)
{
   struct vki_rlimit limit;
   const ULong guard = 256 * VKI_PAGE_SIZE;
   ULong gap = 128ULL << 20;
   if (VG_(getrlimit)(VKI_RLIMIT_STACK, &limit) == 0
       && limit.rlim_cur < layout()->task_size / 6 * 5
       && limit.rlim_cur + guard > gap)
      gap = VG_PGROUNDUP(limit.rlim_cur + guard);
   return layout()->task_size - gap;
}

/* Occupies [native, end) in the model, so that nothing is placed there. The memory itself has
   another address in the model, or none. */
static void take_room(ULong native, ULong end)
{
   const tlb_mapping v = {
      .start = native, .end = end, .flags = TLB_MAP_NO_AROUND, .device = ~0ULL,
      .inode = ~0ULL, .prot = TLB_MAY_READ | TLB_MAY_EXECUTE,
   };
   tlb_fault_map(tg_maps_model(), &v);
}

/* The distance from [low, high) in this process up to the model's address for the same bytes,
   whose native address is `native`. */
static ULong distance_to(ULong native, Addr low, Addr high)
{
   const ULong at = tg_maps_model_address(low, native);
   if (at != native)
      take_room(native, native + (high - low));
   return at - low;
}

static Bool same_file(const NSegment* a, const NSegment* b)
{
   return a != NULL && b != NULL && a->kind == SkFileC && b->kind == SkFileC
          && a->dev == b->dev && a->ino == b->ino;
}

/* Whether the segment is .bss of the object whose segments so far end at `end`. */
static Bool is_bss(const NSegment* seg, Bool is_program, Addr end)
{
   return seg->kind == SkAnonC
          && (seg->start == end || (is_program && tg_program_is_bss(seg->start)));
}

/* Places the segments of the object that has the byte at `in`, with its .bss, `distance` above
   their addresses in this process. */
static void place_object(const Addr* starts, Int n, Addr in, ULong distance,
                         UInt flags)
{
   const NSegment* first = VG_(am_find_nsegment)(in);
   const Bool is_program = (flags & TLB_MAP_MAIN) != 0;
   Addr end = 0;
   /* The kernel has read the file to start the program. */
   if (first != NULL && first->kind == SkFileC)
      tlb_fault_file_header(tg_maps_model(), first->dev, first->ino);
   const HChar* name = NULL;
   struct vg_stat st;
   for (Int i = 0; i < n; i++) {
      const NSegment* seg = VG_(am_find_nsegment)(starts[i]);
      const Bool bss = is_bss(seg, is_program, end);
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
         tlb_fault_file_is(tg_maps_model(), seg->dev, seg->ino, (ULong)st.size,
                           tg_proc_file_system(st.dev).in_memory);
      const UInt number = tg_maps_new(seg->start, seg_end,
                                           seg->start + distance, v.prot,
                                           bss ? "bss" : "file", name);
      tg_maps_put(seg->start, seg_end, seg->start + distance, number, v);
      end = seg_end;
   }
}

/* Lowest and highest address of an object's segments. */
static void extent_of(const Addr* starts, Int n, Addr in, Bool is_program, Addr* low,
                      Addr* high)
{
   const NSegment* first = VG_(am_find_nsegment)(in);
   *low = 0;
   *high = 0;
   for (Int i = 0; i < n; i++) {
      const NSegment* seg = VG_(am_find_nsegment)(starts[i]);
      const Bool bss = is_bss(seg, is_program, *high);
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
   const ULong native = tg_maps_model_address(low, layout()->stack_top - (end - low));
   const tlb_mapping v = { .kind = TLB_STACK,
                           .prot = TLB_MAY_READ | TLB_MAY_WRITE };
   const UInt number = tg_maps_new(low, end, native, v.prot, "stack",
                                        NULL);
   tg_maps_put(low, end, native, number, v);
}

static void start_heap(ULong native)
{
   /* Up to the end of the room that Valgrind reserves. */
   const NSegment* seg = VG_(am_find_nsegment)(heap_start);
   Addr end = heap_start + VKI_PAGE_SIZE;
   if (seg != NULL) {
      end = seg->end + 1;
      const NSegment* above = VG_(am_find_nsegment)(end);
      if (above != NULL && above->kind == SkResvn)
         end = above->end + 1;
   }
   const UInt number = tg_maps_new(heap_start, heap_start, native,
                                        TLB_MAY_READ | TLB_MAY_WRITE, "heap",
                                        NULL);
   tlb_layout_add(tg_maps_layout(), heap_start, end, native, number);
}

/* Maps the kernel's pages, vvar and vDSO. The program cannot see them under Valgrind, so they
   get addresses that are otherwise unused. */
static void start_vdso(void)
{
   ULong start, end, vdso_start;
   Int aligned;
   if (!tg_proc_vdso(&start, &end, &vdso_start))
      return;
   const ULong native = tlb_layout_place(tg_maps_layout(), end - start, TLB_PLACED_MEMORY, 1,
                                         &aligned);
   if (!tg_maps_lays_out()) {
      take_room(native, native + (end - start));
      return;
   }
   const tlb_mapping v = {
      .flags = TLB_MAP_NO_AROUND, .device = ~0ULL, .inode = ~0ULL,
      .prot = TLB_MAY_READ | TLB_MAY_EXECUTE,
   };
   const ULong code_native = native + (vdso_start - start);
   vvar = (Addr)native;
   UInt number = tg_maps_new(vvar, vvar + (Addr)(vdso_start - start),
                             native, TLB_MAY_READ, "vdso", "[vvar]");
   tg_maps_put(vvar, vvar + (Addr)(vdso_start - start), native, number, v);
   const Addr vdso = tg_start_image()->vdso;
   const Addr code = vdso != 0 ? vdso : (Addr)code_native;
   const Addr code_end = code + tg_proc_vdso_bytes();
   number = tg_maps_new(code, code_end, code_native, v.prot, "vdso", "[vdso]");
   tg_maps_put(code, code_end, code_native, number, v);
}

/* The first address of each of the program's segments, in memory of its own. */
static Addr* segments(Int* n)
{
   Addr* starts = NULL;
   *n = -256;
   do {
      const Int room = -*n;
      starts = VG_(realloc)("tg.faults.segments", starts, (SizeT)room * sizeof *starts);
      *n = VG_(am_get_segment_starts)(SkFileC | SkAnonC | SkShmC, starts, room);
   } while (*n < 0);
   return starts;
}

/* The native address of the program that is at [low, high) in this process. */
static ULong program_place(Addr low, Addr high)
{
   const TgProgram* program = tg_program();
   Int aligned;
   if (!program->is_pie)
      return low;
   return tg_start_image()->interpreter != 0
             ? layout()->pie_base & -(ULong)program->alignment
             : tlb_layout_place(tg_maps_layout(), high - low, TLB_PLACED_FILE, 0, &aligned);
}

void tg_exec_image_lay_out(ThreadId tid, Bool moves_break)
{
   const TgImage* image = tg_start_image();
   const TgProgram* program = tg_program();
   const tlb_layout_rules rules = {
      .mmap_base = mmap_base(), .lowest = 0x10000,
      .huge_bytes = tg_proc_huge_bytes(),
      /* For 32-bit programs. */
      .unaligned = VG_WORDSIZE == 4,
      .stack_gap = 256 * VKI_PAGE_SIZE,
   };
   tg_maps_begin(&rules);

   Int n;
   Addr* starts = segments(&n);
   heap_start = VG_PGROUNDUP(tg_start_brk());
   start_stack(tid);
   Addr low, high;
   extent_of(starts, n, image->entry, True, &low, &high);
   const ULong native = program_place(low, high);
   place_object(starts, n, image->entry, distance_to(native, low, high), TLB_MAP_MAIN);
   const ULong break_start = program->is_pie && image->interpreter == 0
                                ? layout()->static_pie_break : native + (high - low);
   if (moves_break) {
      tg_break_room_make(break_start);
      heap_start = tg_start_brk();
      VG_(free)(starts);
      starts = segments(&n);
   }
   start_heap(tg_maps_model_address(heap_start, break_start));
   if (image->interpreter != 0) {
      Int aligned;
      extent_of(starts, n, image->interpreter, False, &low, &high);
      const ULong there = tlb_layout_place(tg_maps_layout(), high - low, TLB_PLACED_FILE, 0,
                                           &aligned);
      place_object(starts, n, image->interpreter, distance_to(there, low, high), 0);
   }
   start_vdso();
   VG_(free)(starts);
}

void tg_exec_image_touches(void (*each)(Addr a, tlb_touch touch))
{
   const TgImage* image = tg_start_image();
   const TgCleared cleared = tg_program_cleared(image->interpreter);
   const ULong page_bytes = tg_maps_page_bytes();
   for (UInt i = 0; i < cleared.n; i++) {
      if (cleared.at[i] % page_bytes != 0)
         each(cleared.at[i], TLB_TOUCH_WRITE);
   }
   /* The strings went into pages that the kernel made for them. */
   UInt number;
   ULong native;
   for (ULong a = image->strings & ~(page_bytes - 1); a < image->stack_end;
        a += page_bytes) {
      if (tg_maps_find((Addr)a, &number, &native) != NULL)
         tlb_fault_settle(tg_maps_model(), native, TLB_TOUCH_WRITE);
   }
   each(image->stack_strings, TLB_TOUCH_WRITE);
   for (Addr a = image->sp; a < image->stack_strings;
        a = (Addr)(a | (page_bytes - 1)) + 1)
      each(a, TLB_TOUCH_WRITE);
}
