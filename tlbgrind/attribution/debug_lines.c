/* Looks up lines that Valgrind leaves out. See attribution/debug_lines.h.

   An object is read when something of it is first looked up, and if it has no debug information, so
   is the file that has it by the object's build ID. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"

#include "attribution/debug_lines.h"
#include "attribution/line_reader.h"
#include "attribution/lines.h"
#include "base/build_id.h"
#include "base/elf_file.h"

typedef struct _Object {
   struct _Object* next;
   const HChar* name; /* interned */
   TgLineRanges lines; /* ascending */
} Object;

static Object* objects;

/* Where Debian and others keep the debug information of an object: /usr/lib/debug/.build-id/, two
   digits of the build ID, /, the other digits, .debug. */
static void read_debug_file(const HChar* object, TgLineRanges* out)
{
   HChar id[TG_BUILD_ID_TEXT], file[sizeof "/usr/lib/debug/.build-id//.debug" + TG_BUILD_ID_TEXT];
   tg_build_id(object, id);
   if (VG_(strlen)(id) <= 2)
      return;
   VG_(sprintf)(file, "/usr/lib/debug/.build-id/%c%c/%s.debug", id[0], id[1], id + 2);
   const Int fd = tg_elf_open(file);
   if (fd < 0)
      return;
   tg_line_reader_read(fd, out);
   VG_(close)(fd);
}

/* Ranges that overlap are equal, so that a range of one byte finds that which has it. */
static Int compare(const void* a, const void* b)
{
   const TgLineRange *x = a, *y = b;
   return x->end <= y->first ? -1 : y->end <= x->first;
}

static XArray* new_ranges(void)
{
   XArray* ranges = VG_(newXA)(VG_(malloc), "tg.debug_lines", VG_(free), sizeof(TgLineRange));
   VG_(setCmpFnXA)(ranges, compare);
   return ranges;
}

/* Whether the file is still the one that the object was mapped from. */
static Bool is_mapped(Int fd, const DebugInfo* di)
{
   const NSegment* segment = VG_(am_find_nsegment)(VG_(DebugInfo_get_text_avma)(di));
   struct vg_stat st;
   return segment != NULL && VG_(fstat)(fd, &st) == 0 && st.dev == segment->dev
          && st.ino == segment->ino;
}

static void read_object(Object* o, const DebugInfo* di)
{
   TgLineRanges* out = &o->lines;
   out->text = VG_(DebugInfo_get_text_avma)(di) - (Addr)VG_(DebugInfo_get_text_bias)(di);
   out->text_end = out->text + VG_(DebugInfo_get_text_size)(di);
   out->rows = new_ranges();
   out->functions = new_ranges();
   const Int fd = tg_elf_open(o->name);
   if (fd < 0)
      return;
   if (is_mapped(fd, di) && !tg_line_reader_read(fd, out))
      read_debug_file(o->name, out);
   VG_(close)(fd);
   VG_(sortXA)(out->rows);
   VG_(sortXA)(out->functions);
}

static const TgLineRanges* lines_of(const DebugInfo* di)
{
   const HChar* name = tg_intern(VG_(DebugInfo_get_filename)(di));
   Object* o = objects;
   while (o != NULL && o->name != name)
      o = o->next;
   if (o == NULL) {
      o = VG_(calloc)("tg.debug_lines.object", 1, sizeof *o);
      o->name = name;
      o->next = objects;
      objects = o;
      read_object(o, di);
   }
   return &o->lines;
}

static const TgLineRange* range_of(XArray* ranges, const DebugInfo* di, Addr a)
{
   const ULong at = a - (Addr)VG_(DebugInfo_get_text_bias)(di);
   const TgLineRange wanted = { .first = at, .end = at + 1 };
   Word first, last;
   if (!VG_(lookupXA)(ranges, &wanted, &first, &last))
      return NULL;
   return VG_(indexXA)(ranges, first);
}

const HChar* tg_debug_lines_at(const DebugInfo* di, Addr a, UInt* number)
{
   const TgLineRange* row = range_of(lines_of(di)->rows, di, a);
   if (row == NULL)
      return NULL;
   *number = row->line;
   return row->file;
}

const HChar* tg_debug_lines_file(const DebugInfo* di, Addr a)
{
   const TgLineRange* own = range_of(lines_of(di)->functions, di, a);
   return own == NULL ? NULL : own->file;
}
