/* Where data lies that is in no heap block. See data/places.h. */

#include "pub_tool_basics.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"
#include "pub_tool_threadstate.h"

#include "data/blocks.h"
#include "data/named.h"
#include "data/objects.h"
#include "data/places.h"
#include "data/ranges.h"
#include "data/words.h"
#include "space/aspace.h"

/* Anonymous memory, each range of one call. The page map merges neighbours; here they stay
   apart. */
static OSet* areas;

typedef struct {
   Addr start, end; /* equal: none */
   UInt object;
} Stack;

static Stack* stacks; /* by thread */

static UInt number_of(TgDataKind kind, const HChar* name, const TgDataStack* stack)
{
   const TgDataObject key = { .kind = kind, .name = tg_intern(name), .stack = stack };
   return tg_data_object(&key)->number;
}

/* --- Anonymous memory --- */

static void add_area(Addr start, Addr end, UInt object)
{
   tg_ranges_add(areas, (TgRange){ .end = end, .start = start, .object = object });
}

static UInt area_object(Addr a)
{
   const TgRange* area = tg_ranges_at(areas, a);
   return area != NULL ? area->object : number_of(TG_DATA_MAPPING, "", NULL);
}

/* Memory that an allocator gets for itself has no call stack of its own: it is of all that is
   allocated later. */
static UInt new_anonymous(const TgSpaceEvent* e)
{
   const ThreadId tid = e->tid != 0 ? e->tid : VG_(get_running_tid)();
   if ((e->flags & TG_SPACE_STARTUP) != 0 || tid == 0)
      return number_of(TG_DATA_MAPPING, "", NULL);
   if (tg_blocks_is_in_allocator(tid))
      return number_of(TG_DATA_ALLOCATOR, "", NULL);
   const UInt number = number_of(TG_DATA_MAPPING, "", tg_data_stack(tid));
   TgDataObject* o = tg_data_object_of(number);
   o->blocks++;
   o->bytes += e->length;
   return number;
}

static Bool is_anonymous(const tlb_mapping* m)
{
   return m->kind == TLB_ANON || m->kind == TLB_THREAD_STACK;
}

/* mremap() takes the memory's call stack along. */
static void moved(const TgSpaceEvent* e)
{
   const TgRange* a = tg_ranges_at(areas, e->from);
   const UInt object = a != NULL ? a->object : 0;
   tg_ranges_remove(areas, e->start, e->start + (Addr)e->length);
   if (object != 0)
      add_area(e->start, e->start + (Addr)e->length, object);
}

static void no_stacks(Addr start, Addr end)
{
   for (ThreadId i = 1; i < VG_N_THREADS; i++) {
      if (stacks[i].start < end && start < stacks[i].end)
         stacks[i].end = stacks[i].start;
   }
}

static void listen(void* opaque, const TgSpaceEvent* e)
{
   (void)opaque;
   const Addr end = e->start + (Addr)e->length;
   switch (e->what) {
   case TG_SPACE_MAP:
      tg_words_forget(e->start, end);
      tg_named_take(e->start, (SizeT)e->length);
      tg_ranges_remove(areas, e->start, end);
      if (is_anonymous(e->mapping))
         add_area(e->start, end, new_anonymous(e));
      break;
   case TG_SPACE_GROW: {
      const TgRange* below = tg_ranges_above(areas, e->start - 1);
      const UInt object = below != NULL && below->end == e->start ? below->object : 0;
      tg_words_forget(e->start, end);
      if (object != 0 && is_anonymous(e->mapping)) {
         tg_ranges_remove(areas, e->start, end);
         add_area(e->start, end, object);
      }
      break;
   }
   case TG_SPACE_MOVE:
      tg_words_forget(e->start, end);
      tg_named_take(e->start, (SizeT)e->length);
      moved(e);
      break;
   case TG_SPACE_UNMAP:
      tg_words_forget(e->start, end);
      tg_named_take(e->start, (SizeT)e->length);
      tg_ranges_remove(areas, e->start, end);
      no_stacks(e->start, end);
      break;
   case TG_SPACE_RENAME:
      tg_words_forget(e->start, end);
      break;
   default:
      break;
   }
}

void tg_data_places_init(void)
{
   areas = tg_ranges_new("tg.data.areas");
   stacks = VG_(calloc)("tg.data.stacks", VG_N_THREADS, sizeof *stacks);
   tg_aspace_listen(listen, NULL);
}

/* --- Stacks --- */

static UInt stack_object(ThreadId tid)
{
   HChar name[32];
   VG_(snprintf)(name, sizeof name, "thread %u", tid);
   return number_of(TG_DATA_STACK, name, NULL);
}

/* Runtimes that allocate stacks among their other data, as Go does, let a thread begin anywhere in
   a large mapping, which is no stack then. Where a C library or a program maps a stack without
   MAP_STACK, only thread-local variables and the library's own are above the first frame. */
enum { MOST_ABOVE = 64 * 1024 };

void tg_data_places_thread(ThreadId tid)
{
   const Addr sp = VG_(get_SP)(tid);
   const tlb_mapping* m = tg_aspace_find(sp);
   if (m == NULL || !is_anonymous(m))
      return;
   Addr start = (Addr)m->start, end = (Addr)m->end;
   const TgRange* area = tg_ranges_at(areas, sp);
   if (area != NULL) {
      start = area->start > start ? area->start : start;
      end = area->end < end ? area->end : end;
   }
   if (m->kind != TLB_THREAD_STACK && end - sp > MOST_ABOVE)
      return;
   no_stacks(start, end);
   tg_words_forget(start, end);
   stacks[tid] = (Stack){ start, end, stack_object(tid) };
}

static UInt thread_stack(Addr a)
{
   for (ThreadId i = 1; i < VG_N_THREADS; i++) {
      if (a >= stacks[i].start && a < stacks[i].end)
         return stacks[i].object;
   }
   return 0;
}

/* --- Variables --- */

/* Whether the symbol that begins at `start` holds the address, too. */
static Bool is_in_symbol(DiEpoch epoch, Addr start, Addr a)
{
   const HChar* name;
   PtrdiffT offset;
   return VG_(get_datasym_and_offset)(epoch, a, &name, &offset) && a - (Addr)offset == start;
}

/* The core has no symbol's size: the first byte that is not in it. */
static SizeT size_of(DiEpoch epoch, Addr start, Addr inside)
{
   SizeT yes = inside - start, no = yes + 1;
   while (is_in_symbol(epoch, start, start + no)) {
      yes = no;
      no *= 2;
   }
   while (no - yes > 1) {
      const SizeT middle = yes + (no - yes) / 2;
      if (is_in_symbol(epoch, start, start + middle))
         yes = middle;
      else
         no = middle;
   }
   return no;
}

/* 0: none. */
static UInt variable(Addr a, const HChar* file)
{
   const DiEpoch epoch = VG_(current_DiEpoch)();
   const HChar* name;
   PtrdiffT offset;
   if (!VG_(get_datasym_and_offset)(epoch, a, &name, &offset))
      return 0;
   const TgDataObject key = { .kind = TG_DATA_VARIABLE, .name = tg_intern(name),
                              .file = tg_intern(file), .start = a - (Addr)offset };
   TgDataObject* o = tg_data_object(&key);
   if (o->size == 0)
      o->size = size_of(epoch, key.start, a);
   return o->number;
}

/* --- All of it --- */

/* The file of a program's or library's bss, which is anonymous: that of the symbols there. */
static const HChar* file_of(const tlb_mapping* m)
{
   if (m->name != NULL)
      return m->name;
   const DebugInfo* di = VG_(find_DebugInfo)(VG_(current_DiEpoch)(), (Addr)m->start);
   return di == NULL ? "" : VG_(DebugInfo_get_filename)(di);
}

static UInt place(const tlb_mapping* m, Addr a)
{
   if (m == NULL || (m->flags & TLB_MAP_FOREIGN) != 0)
      return number_of(TG_DATA_UNKNOWN, "", NULL);
   UInt object;
   switch ((tlb_kind)m->kind) {
   case TLB_HEAP:
      return number_of(TG_DATA_ALLOCATOR, "", NULL);
   case TLB_STACK:
      return stack_object(1);
   case TLB_IMAGE: case TLB_BSS:
      object = variable(a, file_of(m));
      return object != 0 ? object : number_of(TG_DATA_FILE, file_of(m), NULL);
   case TLB_FILE:
      return number_of(TG_DATA_FILE, file_of(m), NULL);
   case TLB_SHM:
      return number_of(TG_DATA_SHM, "", NULL);
   case TLB_ANON: case TLB_THREAD_STACK:
      object = thread_stack(a);
      return object != 0 ? object : area_object(a);
   case TLB_N_KINDS:
      break;
   }
   return number_of(TG_DATA_UNKNOWN, "", NULL);
}

UInt tg_data_place(Addr a)
{
   return place(tg_aspace_find(a), a);
}

UInt tg_data_place_of_page(Addr a)
{
   const Addr page = a & ~(Addr)(TG_WORDS_PAGE - 1);
   const tlb_mapping* m = tg_aspace_find(a);
   const Bool is_asked = m == NULL || m->kind == TLB_IMAGE || m->kind == TLB_BSS
                         || m->start > page || m->end < page + TG_WORDS_PAGE;
   return is_asked ? 0 : place(m, a);
}
