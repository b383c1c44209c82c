/* The client's maps, with their addresses in this process and natively.

   "Here" is an address of this process under Valgrind; "native", the address that the kernel
   would have chosen. The maps are changed together with the fault model
   (sim/faults/faultmodel.h), which has native addresses only, and the layout
   (sim/faults/layout.h), which translates addresses here into native ones.

   native/exec_image.c adds the maps of the start; native/mmap_calls.c and native/mremap_calls.c
   change them at the program's system calls; other files only read them. */

#ifndef TG_MAPS_H
#define TG_MAPS_H

#include "pub_tool_basics.h"

#include "sim/faults/faultmodel.h"
#include "sim/faults/layout.h"

/* Memory that one call mapped; "map" in the fault log. */
typedef struct {
   ULong start, end;   /* here */
   ULong native;       /* the native address of `start` */
   ULong offset;       /* in the file */
   const HChar* name;  /* of the file or object, NULL: none */
   const HChar* what;  /* "heap" and so on, see docs/internals/formats.md */
   UChar prot;         /* TLB_MAY_READ and so on */
   Bool shared;
   Bool hidden;        /* mapped by Valgrind, not by the program */
} TgMap;

/* --- Lookups --- */

/* The map that has the byte at `a`, or NULL; `number`: its number, `native`: the byte's native
   address. */
const TgMap* tg_maps_find(Addr a, UInt* number, ULong* native);

/* The map with that number. Numbers begin with 1 and stay; the pointer is valid until the next
   map is made. */
const TgMap* tg_maps_get(UInt number);

/* The inverse of tg_maps_find(): the address here of the byte at `native`, and its map; 0: nothing
   is mapped there. Linear in the number of maps. */
Addr tg_maps_here(ULong native, UInt* number);

/* The native address at which mmap() would place `len` bytes; 0: there is no room, or the program
   has not started. */
ULong tg_maps_place(SizeT len, tlb_placed what, ULong offset);

tlb_fault_model* tg_maps_model(void);

/* --- Changes, for native/exec_image.c, native/mmap_calls.c and native/mremap_calls.c --- */

/* `records`: a fault log will describe the maps. Without one, all maps of mmap() share one
   TgMap, so that memory does not grow with the number of calls; and touches are not recorded. */
void tg_maps_init(const tlb_fault_settings* settings, Bool records);
Bool tg_maps_records(void);

/* Makes the layout, empty; to be called when the program starts. */
void tg_maps_begin(const tlb_layout_rules* rules);
Bool tg_maps_begun(void);

tlb_layout* tg_maps_layout(void);

/* Bytes of a base page of the machine; a multiple of the host's page. */
ULong tg_maps_page_bytes(void);

/* Whether the model has every map at its native address. With base pages larger than the host's it
   has not: a page here must be one page of the model, so the model keeps the address here for a
   map that would natively begin at another offset in such a page. The layout uses the host's
   pages in either case: the program's addresses do not depend on the machine. */
Bool tg_maps_lays_out(void);

/* The model's address for the byte whose native address is `native`, and `a` here. */
ULong tg_maps_model_address(Addr a, ULong native);

/* Makes a map for [start, end) here and returns its number; tg_maps_put() lays it out. Keeps
   `what`, copies `name` (NULL: none). */
UInt tg_maps_new(Addr start, Addr end, ULong native, UChar prot,
                      const HChar* what, const HChar* name);

/* Makes a copy of the map and returns its number. */
UInt tg_maps_copy(UInt number);

/* As tg_maps_get(), but writable. */
TgMap* tg_maps_edit(UInt number);

/* Lays out [start, end) here, a part of the map, at `native`, and maps it in the model. `v`: the
   mapping's properties; its start and end are set here. */
void tg_maps_put(Addr start, Addr end, ULong native, UInt number,
                  tlb_mapping v);

/* tg_maps_populate() makes pages of [a, a + len) present without a fault, by a call of `how` for
   each part. tg_maps_lock() does so for a locked mapping that is populated at once. */
typedef void TgMapPart(ULong native, ULong native_end, void* opaque);
void tg_maps_populate(Addr a, SizeT len, TgMapPart* how, void* opaque);
void tg_maps_lock(Addr a, SizeT len, const tlb_mapping* v);
Bool tg_maps_is_locked_in(const tlb_mapping* v);

/* Moves [from, from + len) to `to`, and from one map to another. */
void tg_maps_moved(Addr from, Addr to, SizeT len, UInt map, UInt to_map);

/* Calls `each` for the parts of [a, a + len) here that are contiguous natively,
   [native, native_end) each; bytes in no map are left out. */
void tg_maps_each_part(Addr a, SizeT len, TgMapPart* each, void* opaque);

/* Both unmap [a, a + len) here from the model; tg_maps_unmap() removes it from the layout, too,
   tg_maps_empty() keeps its place there. */
void tg_maps_unmap(Addr a, SizeT len);
void tg_maps_empty(Addr a, SizeT len);

/* Discard the records of touched pages in [a, a + len); or all of them. */
void tg_maps_forget(Addr a, SizeT len);
void tg_maps_forget_all(void);

/* --- Changes of pages, reported to up to two listeners --- */

typedef struct {
   void (*populated)(Addr a, SizeT len); /* made present without a fault */
   void (*changed)(Addr a, SizeT len);   /* pages may have become present or absent */
   void (*unmapped)(Addr a, SizeT len);
   void (*moved)(Addr from, Addr to, SizeT len, UInt map, UInt to_map);
} TgMapsListener;

void tg_maps_listen(const TgMapsListener* l);

#endif
