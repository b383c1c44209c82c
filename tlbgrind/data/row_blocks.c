/* Rows of mappings and their blocks. See data/row_blocks.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"
#include "pub_tool_xarray.h"

#include "attribution/lines.h"
#include "base/allocator.h"
#include "data/ranges.h"
#include "data/row_blocks.h"
#include "space/aspace.h"

Bool tg_rows_on;
UInt* tg_row_block_chunk[TG_N_CHUNKS];

/* What the rows of a set have in common, and where they are: object is the number of the row. */
typedef struct {
   const HChar* name;
   UInt kind, prot, flags, huge_shift;
   Addr shift; /* of a file: from offsets in it to addresses */
   OSet* ranges;
} Class;

typedef struct {
   UWord row;
   Addr block;
   UInt number;
} RowBlock;

static OSet* classes;   /* Class */
static XArray* rows;    /* TgRow */
static OSet* by_place;  /* RowBlock */
static XArray* row_blocks; /* RowBlock*, by number - 1 */
static UInt block_shift;

/* Flags that make memory one of its own for pmap, or for the rules of page sizes. */
enum {
   PARTING = TLB_MAP_SHARED | TLB_MAP_MAIN | TLB_MAP_FOREIGN | TLB_MAP_HUGETLB | TLB_MAP_HUGEPAGE
             | TLB_MAP_NOHUGEPAGE
};

static Word compare(UWord a, UWord b)
{
   return (a > b) - (a < b);
}

static Word compare_classes(const void* key, const void* element)
{
   const Class* a = key;
   const Class* b = element;
   Word order = compare((UWord)a->name, (UWord)b->name);
   if (order == 0) order = compare(a->kind, b->kind);
   if (order == 0) order = compare(a->prot, b->prot);
   if (order == 0) order = compare(a->flags, b->flags);
   if (order == 0) order = compare(a->huge_shift, b->huge_shift);
   if (order == 0) order = compare(a->shift, b->shift);
   return order;
}

static Word compare_row_blocks(const void* key, const void* element)
{
   const RowBlock* a = key;
   const RowBlock* b = element;
   const Word order = compare(a->row, b->row);
   return order != 0 ? order : compare(a->block, b->block);
}

/* --- Rows --- */

static TgRow* row(UInt number)
{
   return VG_(indexXA)(rows, (Word)number);
}

static UInt whole(UInt number)
{
   while (row(number)->part_of != number)
      number = row(number)->part_of;
   return number;
}

static UInt new_row(const tlb_mapping* m)
{
   const UInt number = (UInt)VG_(sizeXA)(rows);
   const TgRow r = { .is = *m, .part_of = number };
   VG_(addToXA)(rows, &r);
   return number;
}

/* A file of a program or library is recognized as such when a part of it is mapped for execution:
   it is no other file by that. */
static Class* class_of(const tlb_mapping* m)
{
   const Class key = { .name = m->name == NULL ? NULL : tg_intern(m->name),
                       .kind = m->kind == TLB_IMAGE ? TLB_FILE : m->kind, .prot = m->prot,
                       .flags = m->flags & PARTING, .huge_shift = m->huge_shift,
                       .shift = m->name == NULL || m->kind == TLB_BSS
                                   ? 0 : (Addr)(m->start - m->offset) };
   Class* c = VG_(OSetGen_Lookup)(classes, &key);
   if (c == NULL) {
      c = VG_(OSetGen_AllocNode)(classes, sizeof *c);
      *c = key;
      c->ranges = tg_ranges_new("tg.row_blocks.ranges");
      VG_(OSetGen_Insert)(classes, c);
   }
   return c;
}

/* The row of a mapping, made if it is new, with all that the mapping overlaps. */
static UInt row_of(const tlb_mapping* m)
{
   const Class* c = class_of(m);
   TgRange all = { .start = (Addr)m->start, .end = (Addr)m->end };
   const TgRange* r = tg_ranges_above(c->ranges, all.start);
   Bool any = False;
   while (r != NULL && r->start < m->end) {
      const TgRange old = *r;
      if (any)
         row(old.object)->part_of = all.object;
      else
         all.object = old.object;
      any = True;
      if (old.start <= all.start && all.end <= old.end) {
         row(all.object)->is.kind = m->kind;
         return all.object;
      }
      all.start = old.start < all.start ? old.start : all.start;
      all.end = old.end > all.end ? old.end : all.end;
      tg_ranges_remove(c->ranges, old.start, old.end);
      r = tg_ranges_above(c->ranges, (Addr)m->start);
   }
   if (!any)
      all.object = new_row(m);
   tg_ranges_add(c->ranges, all);
   TgRow* it = row(all.object);
   it->is.start = all.start;
   it->is.end = all.end;
   it->is.kind = m->kind;
   return all.object;
}

/* --- Row blocks --- */

static UInt row_block_of(UInt in_row, Addr block)
{
   const RowBlock key = { .row = in_row, .block = block };
   RowBlock* r = VG_(OSetGen_Lookup)(by_place, &key);
   if (r == NULL) {
      r = VG_(OSetGen_AllocNode)(by_place, sizeof *r);
      *r = key;
      VG_(addToXA)(row_blocks, &r);
      r->number = (UInt)VG_(sizeXA)(row_blocks);
      VG_(OSetGen_Insert)(by_place, r);
   }
   return r->number;
}

static UInt* known_at(Addr a)
{
   UInt** chunk = &tg_row_block_chunk[a >> TG_CHUNK_SHIFT];
   if (*chunk == NULL)
      *chunk = tg_zero_pages(TG_CHUNK_PAGES * sizeof **chunk);
   return &(*chunk)[(a >> TG_WORDS_PAGE_SHIFT) & (TG_CHUNK_PAGES - 1)];
}

UInt tg_row_block_at(Addr a)
{
   UInt* known = a >> TG_CHUNK_SHIFT < TG_N_CHUNKS ? known_at(a) : NULL;
   if (known != NULL && *known != 0)
      return *known;
   const tlb_mapping* m = tg_aspace_find(a);
   if (m == NULL)
      return row_block_of(0, 0);
   const UInt row_block = row_block_of(row_of(m), a >> block_shift << block_shift);
   if (known != NULL)
      *known = row_block;
   return row_block;
}

static void forget(Addr start, Addr end)
{
   Addr a = start;
   while (a < end && a >> TG_CHUNK_SHIFT < TG_N_CHUNKS) {
      UInt* chunk = tg_row_block_chunk[a >> TG_CHUNK_SHIFT];
      const Addr next = ((a >> TG_CHUNK_SHIFT) + 1) << TG_CHUNK_SHIFT;
      const Addr stop = next != 0 && next < end ? next : end;
      if (chunk != NULL) {
         const SizeT n = (stop - a + TG_WORDS_PAGE - 1) >> TG_WORDS_PAGE_SHIFT;
         VG_(memset)(&chunk[(a >> TG_WORDS_PAGE_SHIFT) & (TG_CHUNK_PAGES - 1)], 0,
                     n * sizeof *chunk);
      }
      if (next == 0)
         return;
      a = next;
   }
}

/* Notes how far the rows of mappings in [start, end) reach. */
static void note(ULong start, ULong end, Bool makes_new)
{
   const tlb_mappings* all = &tg_aspace_map()->mappings;
   for (SizeT i = tlb_mappings_above(all, start); i < all->count && all->at[i]->start < end; i++) {
      const TgRange* r = tg_ranges_above(class_of(all->at[i])->ranges, (Addr)all->at[i]->start);
      if (makes_new || (r != NULL && r->start < all->at[i]->end))
         row(row_of(all->at[i]))->is_present = True;
   }
}

static void listen(void* opaque, const TgSpaceEvent* e)
{
   (void)opaque;
   /* What nothing has referred to is no row: the linker maps all of a file before its parts. */
   if (e->what == TG_SPACE_UNMAP)
      note(e->start, e->start + e->length, False);
   forget(e->start, e->start + (Addr)e->length);
}

void tg_rows_init(UInt shift)
{
   tg_rows_on = True;
   block_shift = shift;
   classes = VG_(OSetGen_Create)(0, compare_classes, VG_(malloc), "tg.row_blocks.classes",
                                 VG_(free));
   by_place = VG_(OSetGen_Create)(0, compare_row_blocks, VG_(malloc), "tg.row_blocks", VG_(free));
   rows = VG_(newXA)(VG_(malloc), "tg.row_blocks.rows", VG_(free), sizeof(TgRow));
   row_blocks = VG_(newXA)(VG_(malloc), "tg.row_blocks.numbers", VG_(free), sizeof(RowBlock*));
   new_row(&(tlb_mapping){ .kind = TLB_N_KINDS });
   tg_aspace_listen(listen, NULL);
}

XArray* tg_rows(void)
{
   for (Word i = 0; i < VG_(sizeXA)(rows); i++)
      row((UInt)i)->is_present = False;
   note(0, ~0ULL, True);
   return rows;
}

UInt tg_row_of_block(UInt row_block, Addr* block)
{
   const RowBlock* r = *(RowBlock**)VG_(indexXA)(row_blocks, (Word)row_block - 1);
   *block = r->block;
   return whole((UInt)r->row);
}
