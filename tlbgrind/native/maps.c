/* Keeps the client's maps with their native addresses. See native/maps.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_xarray.h"

#include "native/maps.h"
#include "space/forks.h"
#include "trace/run_mmus.h"
#include "base/allocator.h"

static tlb_memory memory;
static tlb_fault_model model;
static tlb_layout layout;
static XArray* maps; /* TgMap, by number - 1 */
static UInt page_shift;
static ULong page_bytes;
static Bool begun;
static Bool records;
enum { MAX_LISTENERS = 2 };

static const TgMapsListener* listeners[MAX_LISTENERS];
static UInt n_listeners;

static int is_still_shared(void* opaque)
{
   (void)opaque;
   return tg_forks_are_shared();
}

void tg_maps_init(const tlb_fault_settings* settings, Bool records_)
{
   records = records_;
   page_shift = settings->page_shift;
   page_bytes = 1ULL << page_shift;
   maps = VG_(newXA)(VG_(malloc), "tg.faults.maps", VG_(free), sizeof(TgMap));
   memory = tg_memory("tg.faults.model");
   tlb_fault_init(&model, settings, &memory);
   model.is_still_shared = is_still_shared;
}

void tg_maps_begin(const tlb_layout_rules* rules)
{
   tlb_layout_init(&layout, rules, &model.maps, &memory);
   begun = True;
}

Bool tg_maps_records(void)
{
   return records;
}

Bool tg_maps_begun(void)
{
   return begun;
}

ULong tg_maps_page_bytes(void)
{
   return page_bytes;
}

Bool tg_maps_lays_out(void)
{
   return page_bytes == VKI_PAGE_SIZE;
}

ULong tg_maps_model_address(Addr a, ULong native)
{
   return tg_maps_lays_out() || ((native ^ a) & (page_bytes - 1)) == 0 ? native : a;
}

tlb_fault_model* tg_maps_model(void)
{
   return &model;
}

tlb_layout* tg_maps_layout(void)
{
   return &layout;
}

/* --- Maps --- */

TgMap* tg_maps_edit(UInt number)
{
   return VG_(indexXA)(maps, (Word)number - 1);
}

const TgMap* tg_maps_get(UInt number)
{
   return tg_maps_edit(number);
}

const TgMap* tg_maps_find(Addr a, UInt* number, ULong* native)
{
   const tlb_mapping* piece = tlb_layout_find(&layout, a);
   if (piece == NULL)
      return NULL;
   *number = (UInt)piece->device;
   *native = piece->offset + (a - piece->start);
   return tg_maps_get(*number);
}

Addr tg_maps_here(ULong native, UInt* number)
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

UInt tg_maps_new(Addr start, Addr end, ULong native, UChar prot,
                      const HChar* what, const HChar* name)
{
   static UInt shared; /* without a log: the one map of all memory but the heap */
   const Bool is_own = records || VG_(strcmp)(what, "heap") == 0;
   if (!is_own && shared != 0)
      return shared;
   const TgMap map = {
      .start = start, .end = end, .native = native, .prot = prot, .what = what,
      .name = name == NULL ? NULL : VG_(strdup)("tg.faults.map", name),
   };
   VG_(addToXA)(maps, &map);
   const UInt number = (UInt)VG_(sizeXA)(maps);
   if (!is_own)
      shared = number;
   return number;
}

UInt tg_maps_copy(UInt number)
{
   if (!records)
      return number;
   const TgMap copy = *tg_maps_get(number);
   VG_(addToXA)(maps, &copy);
   return (UInt)VG_(sizeXA)(maps);
}

void tg_maps_put(Addr start, Addr end, ULong native, UInt number,
                  tlb_mapping v)
{
   v.start = native;
   v.end = native + (end - start);
   TgMap* map = tg_maps_edit(number);
   map->shared = (v.flags & TLB_MAP_SHARED) != 0;
   map->offset = v.offset;
   tlb_layout_add(&layout, start, end, native, number);
   tlb_fault_map(&model, &v);
}

ULong tg_maps_place(SizeT len, tlb_placed what, ULong offset)
{
   Int aligned;
   return begun ? tlb_layout_place(&layout, VG_PGROUNDUP(len), what, offset, &aligned) : 0;
}

/* --- Parts of the address space --- */

void tg_maps_each_part(Addr a, SizeT len, TgMapPart* each, void* opaque)
{
   const ULong end = (ULong)a + len;
   tlb_mapping piece;
   for (ULong at = a; tlb_mappings_piece(&layout.here, at, end, &piece); at = piece.end)
      each(piece.offset, piece.offset + (piece.end - piece.start), opaque);
}

void tg_maps_populate(Addr a, SizeT len, TgMapPart* how, void* opaque)
{
   tg_maps_each_part(a, len, how, opaque);
   for (UInt i = 0; i < n_listeners; i++)
      listeners[i]->populated(a, len);
}

static void lock_part(ULong native, ULong end, void* opaque)
{
   (void)opaque;
   tlb_fault_lock(&model, native, end);
}

Bool tg_maps_is_locked_in(const tlb_mapping* v)
{
   return (v->flags & (TLB_MAP_LOCKED | TLB_MAP_ON_FAULT)) == TLB_MAP_LOCKED;
}

void tg_maps_lock(Addr a, SizeT len, const tlb_mapping* v)
{
   if (tg_maps_is_locked_in(v))
      tg_maps_populate(a, len, lock_part, NULL);
}

void tg_maps_moved(Addr from, Addr to, SizeT len, UInt map, UInt to_map)
{
   for (UInt i = 0; i < n_listeners; i++)
      listeners[i]->moved(from, to, len, map, to_map);
}

void tg_maps_listen(const TgMapsListener* l)
{
   tl_assert(n_listeners < MAX_LISTENERS);
   listeners[n_listeners++] = l;
}

void tg_maps_forget(Addr a, SizeT len)
{
   const UWord first = a >> page_shift;
   const UWord n = (UWord)((a + len - 1) >> page_shift) - first + 1;
   if (len == 0 || !records)
      return;
   tlb_pages_forget(&tg_mmus, TLB_DATA, first, n, TLB_OBSERVER_FAULTS, TLB_NO_VIEW);
   tlb_pages_forget(&tg_mmus, TLB_CODE, first, n, TLB_OBSERVER_FAULTS, TLB_NO_VIEW);
   for (UInt i = 0; i < n_listeners; i++)
      listeners[i]->changed(a, len);
}

void tg_maps_forget_all(void)
{
   for (SizeT i = 0; i < layout.here.count; i++)
      tg_maps_forget((Addr)layout.here.at[i]->start,
                      (SizeT)(layout.here.at[i]->end
                              - layout.here.at[i]->start));
}

static void unmap_part(ULong native, ULong end, void* opaque)
{
   (void)opaque;
   tlb_fault_unmap(&model, native, end);
}

static void emptied(Addr a, SizeT len)
{
   tlb_layout_freed(&layout);
   for (UInt i = 0; i < n_listeners; i++)
      listeners[i]->unmapped(a, len);
   tg_maps_forget(a, len);
}

void tg_maps_unmap(Addr a, SizeT len)
{
   tg_maps_each_part(a, len, unmap_part, NULL);
   tlb_layout_remove(&layout, a, a + len);
   emptied(a, len);
}

void tg_maps_empty(Addr a, SizeT len)
{
   tg_maps_each_part(a, len, unmap_part, NULL);
   emptied(a, len);
}
