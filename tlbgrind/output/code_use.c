/* Counts executed pages and bytes of code. See output/code_use.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"

#include "attribution/lines.h"
#include "base/file.h"
#include "output/code_use.h"
#include "space/merged_code.h"

/* The bytes of an instruction. */
typedef struct {
   Addr start;
   Addr end;
} Range;

typedef struct {
   ULong pages;
   ULong bytes;
} Use;

static XArray* new_ranges(void)
{
   return VG_(newXA)(VG_(malloc), "tg.code-use", VG_(free), sizeof(Range));
}

static Int compare(const void* x, const void* y)
{
   const Range* a = x;
   const Range* b = y;
   return a->start < b->start ? -1 : a->start > b->start;
}

/* Instructions can overlap: some jumps lead behind a prefix. Empties the array. */
static Use use_of(XArray* ranges, UInt page_shift)
{
   Use use = { 0, 0 };
   Addr end = 0;       /* of the bytes that are counted */
   Addr next_page = 0; /* the first page that is not counted */
   VG_(setCmpFnXA)(ranges, compare);
   VG_(sortXA)(ranges);
   for (Word i = 0; i < VG_(sizeXA)(ranges); i++) {
      const Range* r = VG_(indexXA)(ranges, i);
      const Addr start = r->start > end ? r->start : end;
      if (start >= r->end)
         continue;
      use.bytes += r->end - start;
      end = r->end;
      Addr page = start >> page_shift;
      if (page < next_page)
         page = next_page;
      next_page = ((end - 1) >> page_shift) + 1;
      use.pages += next_page - page;
   }
   VG_(dropTailXA)(ranges, VG_(sizeXA)(ranges));
   return use;
}

/* The piece of merged code that has the instruction; NULL: none. */
static const TgMergedCode* piece_of(const TgLine* l)
{
   for (UInt i = 0; i < tg_merged_code_count(); i++) {
      const TgMergedCode* p = tg_merged_code_number(i);
      if (l->address - p->in_file < p->end - p->start
          && VG_(strcmp)(p->name, l->function->object) == 0)
         return p;
   }
   return NULL;
}

static void print_object(TgFile* f, XArray* ranges, const HChar* name, UInt page_shift)
{
   if (VG_(sizeXA)(ranges) == 0)
      return;
   const Use use = use_of(ranges, page_shift);
   tg_file_print(f, "desc: Code: %llu %llu ", use.pages, use.bytes);
   tg_file_text(f, name);
   tg_file_print(f, "\n");
}

void tg_code_use_print(TgFile* f, XArray* lines, UInt page_shift)
{
   XArray* of_object = new_ranges();
   XArray* merged = new_ranges();
   const HChar* object = NULL;
   for (Word i = 0; i < VG_(sizeXA)(lines); i++) {
      const TgLine* l = *(TgLine**)VG_(indexXA)(lines, i);
      if (l->refs[TLB_FETCH] == 0 || l->length == 0)
         continue;
      if (l->function->object != object) {
         print_object(f, of_object, object, page_shift);
         object = l->function->object;
      }
      const Range r = { l->address, l->address + l->length };
      VG_(addToXA)(of_object, &r);
      const TgMergedCode* piece = piece_of(l);
      if (piece != NULL) {
         const Addr to = piece->to + (l->address - piece->in_file);
         VG_(addToXA)(merged, &(Range){ to, to + l->length });
      }
   }
   print_object(f, of_object, object, page_shift);
   if (VG_(sizeXA)(merged) > 0) {
      const Use use = use_of(merged, page_shift);
      tg_file_print(f, "desc: Merged code pages: %llu %llu\n", use.pages, use.bytes);
   }
   VG_(deleteXA)(of_object);
   VG_(deleteXA)(merged);
}
