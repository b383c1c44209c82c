/* The client's maps: where its memory lies here, and where it would natively.

   They are kept together with the fault model (sim/faults/faultmodel.h), which has native
   addresses only, and the layout (sim/faults/layout.h), which leads from addresses here to those.

   native/exec_image.c adds what is there at the start, native/mmap_calls.c and
   native/mremap_calls.c change it with each call of the program; other files only read it. */

#ifndef TG_MAPS_H
#define TG_MAPS_H

#include "pub_tool_basics.h"

#include "sim/faults/faultmodel.h"
#include "sim/faults/layout.h"

/* Memory that one call mapped: what the log calls a map. */
typedef struct {
   ULong start, end;   /* here */
   ULong native;       /* where `start` would lie */
   ULong offset;       /* in the file */
   const HChar* name;  /* of the file or object, NULL: none */
   const HChar* what;  /* "heap" and so on, see docs/fault-log.md */
   UChar prot;         /* TLB_MAY_READ and so on */
   Bool shared;
   Bool hidden;        /* Valgrind's doing */
} TgMap;

/* --- For all --- */

/* The map that has the byte, or NULL; its number, and where the byte lies
   natively. */
const TgMap* tg_maps_find(Addr a, UInt* number, ULong* native);

/* By number, from 1 on; a map keeps it. The pointer is good until the next map
   is made. */
const TgMap* tg_maps_get(UInt number);

/* The other way round: the address here of what lies natively there, and its
   map; 0: nothing does. Slow. */
Addr tg_maps_here(ULong native, UInt* number);

/* Where mmap() would place so many bytes natively; 0: nowhere, or the program has not
   started. */
ULong tg_maps_place(SizeT len, tlb_placed what, ULong offset);

tlb_fault_model* tg_maps_model(void);

/* --- To change them: native/exec_image.c, native/mmap_calls.c --- */

/* `records`: there is a log that describes the maps. If not, all that mmap() makes
   shares one description, or a program that maps for ever would fill the memory; and
   nothing is known of touches. */
void tg_maps_init(const tlb_fault_settings* settings, Bool records);
Bool tg_maps_records(void);

/* The program starts: from now on there is a layout, with nothing in it. */
void tg_maps_begin(const tlb_layout_rules* rules);
Bool tg_maps_begun(void);

tlb_layout* tg_maps_layout(void);

/* Of a base page of the machine, perhaps more than one of the host. */
ULong tg_maps_page_bytes(void);

/* Whether everything lies in the model where it would natively. Not so with base pages
   larger than the host's: a page here has to be one page there, so what would begin at
   another place in such a page stays in the model where it is here. The layout is the
   host's all the same: the program's memory does not depend on the machine. */
Bool tg_maps_lays_out(void);

/* Where the model has what would lie natively at `native`, and is at `a` here. */
ULong tg_maps_model_address(Addr a, ULong native);

/* A map of its own for [start, end) here, and its number. It does not lie
   anywhere yet. Keeps `what`, copies `name` (NULL: none). */
UInt tg_maps_new(Addr start, Addr end, ULong native, UChar prot,
                      const HChar* what, const HChar* name);

/* Another one that is like it, and its number. */
UInt tg_maps_copy(UInt number);

/* As tg_maps_get(), to be changed. */
TgMap* tg_maps_edit(UInt number);

/* Lays out [start, end) here, of the map, at `native`, and maps it in the
   model. `v` has all but start and end. */
void tg_maps_put(Addr start, Addr end, ULong native, UInt number,
                  tlb_mapping v);

/* Pages of [a, a + len) become present without a fault, as `how` says for each part; those of
   locked memory, if the mapping is, do at once. */
typedef void TgMapPart(ULong native, ULong native_end, void* opaque);
void tg_maps_populate(Addr a, SizeT len, TgMapPart* how, void* opaque);
void tg_maps_lock(Addr a, SizeT len, const tlb_mapping* v);
Bool tg_maps_is_locked_in(const tlb_mapping* v);

/* Memory has gone to another place, and from one map to another. */
void tg_maps_moved(Addr from, Addr to, SizeT len, UInt map, UInt to_map);

/* Calls `each` for the parts of [a, a + len) here that lie together natively,
   [native, native_end) each; what is in no map is left out. */
void tg_maps_each_part(Addr a, SizeT len, TgMapPart* each, void* opaque);

/* What lies in [a, a + len) here is unmapped; tg_maps_empty(): but its room
   stays laid out. */
void tg_maps_unmap(Addr a, SizeT len);
void tg_maps_empty(Addr a, SizeT len);

/* What is known of touches of the memory is no longer true; or of all. */
void tg_maps_forget(Addr a, SizeT len);
void tg_maps_forget_all(void);

/* --- What happens to pages, for one listener --- */

typedef struct {
   void (*populated)(Addr a, SizeT len); /* made present, and no faults of it */
   void (*changed)(Addr a, SizeT len);   /* which of them are present may have changed */
   void (*unmapped)(Addr a, SizeT len);
   void (*moved)(Addr from, Addr to, SizeT len, UInt map, UInt to_map);
} TgMapsListener;

void tg_maps_listen(const TgMapsListener* l);

#endif
