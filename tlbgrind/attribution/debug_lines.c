/* Reads line tables from programs' files. See attribution/debug_lines.h.

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
#include "attribution/dwarf_units.h"
#include "attribution/line_program.h"
#include "attribution/lines.h"
#include "base/build_id.h"
#include "base/elf_file.h"

/* Fields of <elf.h>: the section has code, and is part of the program. */
enum { SHF_ALLOC = 2, SHF_EXECINSTR = 4 };

/* Addresses as the file has them, from `first` until before `end`. */
typedef struct {
   ULong first, end;
   const HChar* file; /* interned */
   UInt line;
} Row;

typedef struct _Object {
   struct _Object* next;
   const HChar* name; /* interned */
   XArray* rows;      /* Row, ascending, of code outside of .text */
   XArray* functions; /* Row, ascending: addresses where the function's file is not Valgrind's */
} Object;

static Object* objects;

/* --- Names of files --- */

const HChar* tg_debug_lines_path(const HChar* folder, const HChar* file)
{
   if (folder[0] == '\0' || file[0] == '/')
      return tg_intern(file);
   const SizeT room = VG_(strlen)(folder) + 1 + VG_(strlen)(file) + 1;
   HChar* path = VG_(malloc)("tg.debug_lines.path", room);
   VG_(snprintf)(path, (Int)room, "%s/%s", folder, file);
   const HChar* interned = tg_intern(path);
   VG_(free)(path);
   return interned;
}

/* --- Reading --- */

enum { LINES, LINE_TEXTS, INFO, ABBREVIATIONS, TEXTS, N_SECTIONS };
static const HChar* const section_names[N_SECTIONS] = {
   ".debug_line", ".debug_line_str", ".debug_info", ".debug_abbrev", ".debug_str"
};

/* The folder of a unit before DWARF 5. */
typedef struct {
   uint64_t line_program;
   const HChar* folder; /* in the contents of a section */
} Unit;

/* The path of a file that programs name: those of DWARF 5 have a name in one place of a section. */
typedef struct {
   const HChar *base, *folder, *name;
   const HChar* path; /* interned; NULL: empty */
} Path;

enum { N_PATHS = 1024 };

/* A file that is being read. */
typedef struct {
   Int fd;
   UChar* contents[N_SECTIONS]; /* NULL: none */
   SizeT size[N_SECTIONS];
   XArray* code;  /* Row: sections of code but .text; without files */
   XArray* units; /* Unit, ascending; NULL: not read yet */
   TgLineProgram program;
   XArray* names; /* const HChar*, by the program's number of a file; NULL: not looked up yet */
   Path paths[N_PATHS]; /* recent ones, by a hash of their names */
   Object* object;
   ULong text, text_end;
} Reader;

static void load(Reader* r, UInt which)
{
   TgElfSection s;
   if (r->contents[which] == NULL && tg_elf_section_by_name(r->fd, section_names[which], &s))
      r->contents[which] = tg_elf_contents(r->fd, &s, &r->size[which]);
}

static TgDwarfBytes bytes(const Reader* r, UInt which)
{
   static const UChar none;
   const UChar* at = r->contents[which];
   return at == NULL ? (TgDwarfBytes){ &none, &none, False }
                     : (TgDwarfBytes){ at, at + r->size[which], False };
}

static Int compare_units(const void* a, const void* b)
{
   const uint64_t x = ((const Unit*)a)->line_program, y = ((const Unit*)b)->line_program;
   return x < y ? -1 : x > y;
}

static void read_units(Reader* r)
{
   Unit unit;
   for (UInt i = INFO; i < N_SECTIONS; i++)
      load(r, i);
   TgDwarfUnits units = { bytes(r, INFO), bytes(r, ABBREVIATIONS), bytes(r, TEXTS) };
   r->units = VG_(newXA)(VG_(malloc), "tg.debug_lines.units", VG_(free), sizeof unit);
   VG_(setCmpFnXA)(r->units, compare_units);
   while (tg_dwarf_units_next(&units, &unit.folder, &unit.line_program))
      VG_(addToXA)(r->units, &unit);
   VG_(sortXA)(r->units);
}

/* Where the unit of the program was compiled; "": not known. */
static const HChar* folder_of_compilation(Reader* r)
{
   const Unit wanted = { .line_program = r->program.unit };
   const HChar* folder = tg_line_program_folder(&r->program);
   Word at, last;
   if (folder != NULL)
      return folder;
   if (r->units == NULL)
      read_units(r);
   if (!VG_(lookupXA)(r->units, &wanted, &at, &last))
      return "";
   return ((const Unit*)VG_(indexXA)(r->units, at))->folder;
}

static const HChar* path_of(const HChar* base, const HChar* folder, const HChar* name)
{
   if (folder[0] == '\0')
      folder = base;
   else if (folder[0] != '/')
      folder = tg_debug_lines_path(base, folder);
   return tg_debug_lines_path(folder, name);
}

static const HChar* look_up_name(Reader* r, ULong file)
{
   const HChar *folder, *name;
   if (!tg_line_program_file(&r->program, file, &folder, &name))
      return tg_intern("???");
   const HChar* base = folder[0] == '/' ? "" : folder_of_compilation(r);
   Path* p = &r->paths[((UWord)name + 31 * (UWord)folder) % N_PATHS];
   if (p->path == NULL || p->name != name || p->folder != folder || p->base != base)
      *p = (Path){ base, folder, name, path_of(base, folder, name) };
   return p->path;
}

static const HChar* name_of(Reader* r, ULong file)
{
   enum { MAX_FILES = 1 << 20 };
   const HChar* none = NULL;
   if (file >= MAX_FILES)
      return tg_intern("???");
   while (VG_(sizeXA)(r->names) <= (Word)file)
      VG_(addToXA)(r->names, &none);
   const HChar** name = VG_(indexXA)(r->names, (Word)file);
   if (*name == NULL)
      *name = look_up_name(r, file);
   return *name;
}

/* The section of code, but .text, that has all of it; NULL: none. What a linker has removed is at
   addresses where there is no code. */
static const Row* section_of(const Reader* r, ULong first, ULong end)
{
   for (Word i = 0; i < VG_(sizeXA)(r->code); i++) {
      const Row* section = VG_(indexXA)(r->code, i);
      if (first >= section->first && end <= section->end)
         return section;
   }
   return NULL;
}

static Bool is_in_text(const Reader* r, ULong first, ULong end)
{
   return first >= r->text && end <= r->text_end;
}

static void add_row(Reader* r, const TgLineRow* row, ULong end)
{
   if (is_in_text(r, row->address, end) || section_of(r, row->address, end) == NULL)
      return;
   const Row new = { row->address, end, name_of(r, row->file), (UInt)row->line };
   VG_(addToXA)(r->object->rows, &new);
}

static void add_function(Reader* r, const TgLineRow* first)
{
   const Row new = { first->address, first->address + 1, name_of(r, first->file), 0 };
   if (is_in_text(r, new.first, new.end) || section_of(r, new.first, new.end) != NULL)
      VG_(addToXA)(r->object->functions, &new);
}

/* Of the rows with one address the function's own is the first that begins a statement: before it
   stand what is left of the function before. */
static void read_program(Reader* r)
{
   TgLineRow own = { .ends = True }, last = own, row;
   while (tg_line_program_next(&r->program, &row)) {
      const Bool is_new = last.ends || row.address != last.address;
      if (!last.ends && row.address > last.address) {
         add_row(r, &last, row.address);
         if (own.file != last.file)
            add_function(r, &own);
      }
      if (is_new || (row.is_statement && !own.is_statement))
         own = row;
      last = row;
   }
}

static void read_sections_of_code(Reader* r)
{
   TgElfSection s;
   r->code = VG_(newXA)(VG_(malloc), "tg.debug_lines.code", VG_(free), sizeof(Row));
   for (UInt i = 0; tg_elf_section(r->fd, i, &s); i++) {
      const Row section = { .first = s.address, .end = s.address + s.size };
      if ((s.flags & SHF_ALLOC) != 0 && (s.flags & SHF_EXECINSTR) != 0 && s.address != r->text)
         VG_(addToXA)(r->code, &section);
   }
}

static void read_lines(Reader* r)
{
   read_sections_of_code(r);
   r->names = VG_(newXA)(VG_(malloc), "tg.debug_lines.names", VG_(free), sizeof(HChar*));
   load(r, LINE_TEXTS);
   TgDwarfBytes section = bytes(r, LINES);
   while (tg_line_program_open(&r->program, &section, r->contents[LINES], bytes(r, LINE_TEXTS))) {
      VG_(dropTailXA)(r->names, VG_(sizeXA)(r->names));
      read_program(r);
   }
   VG_(deleteXA)(r->names);
   VG_(deleteXA)(r->code);
   if (r->units != NULL)
      VG_(deleteXA)(r->units);
}

/* False: the file has no lines. */
static Bool read_file(Reader* r, Int fd)
{
   r->fd = fd;
   load(r, LINES);
   const Bool has_lines = r->contents[LINES] != NULL;
   if (has_lines)
      read_lines(r);
   for (UInt i = 0; i < N_SECTIONS; i++)
      VG_(free)(r->contents[i]);
   return has_lines;
}

/* Where Debian and others keep the debug information of an object: /usr/lib/debug/.build-id/, two
   digits of the build ID, /, the other digits, .debug. */
static void read_debug_file(Reader* r, const HChar* object)
{
   HChar id[TG_BUILD_ID_TEXT], file[sizeof "/usr/lib/debug/.build-id//.debug" + TG_BUILD_ID_TEXT];
   tg_build_id(object, id);
   if (VG_(strlen)(id) <= 2)
      return;
   VG_(sprintf)(file, "/usr/lib/debug/.build-id/%c%c/%s.debug", id[0], id[1], id + 2);
   const Int fd = tg_elf_open(file);
   if (fd < 0)
      return;
   read_file(r, fd);
   VG_(close)(fd);
}

static Int compare_rows(const void* a, const void* b)
{
   const Row *x = a, *y = b;
   return x->end <= y->first ? -1 : y->end <= x->first;
}

static XArray* new_rows(void)
{
   XArray* rows = VG_(newXA)(VG_(malloc), "tg.debug_lines.rows", VG_(free), sizeof(Row));
   VG_(setCmpFnXA)(rows, compare_rows);
   return rows;
}

/* Whether the file is still the one that the object was mapped from. */
static Bool is_mapped(Int fd, const DebugInfo* di)
{
   const NSegment* segment = VG_(am_find_nsegment)(VG_(DebugInfo_get_text_avma)(di));
   struct vg_stat st;
   return segment != NULL && VG_(fstat)(fd, &st) == 0 && st.dev == segment->dev
          && st.ino == segment->ino;
}

static const Object* object_of(const DebugInfo* di)
{
   const HChar* name = tg_intern(VG_(DebugInfo_get_filename)(di));
   Object* o = objects;
   while (o != NULL && o->name != name)
      o = o->next;
   if (o != NULL)
      return o;
   o = VG_(malloc)("tg.debug_lines.object", sizeof *o);
   *o = (Object){ .next = objects, .name = name, .rows = new_rows(), .functions = new_rows() };
   objects = o;
   Reader* r = VG_(calloc)("tg.debug_lines.reader", 1, sizeof *r);
   r->object = o;
   r->text = VG_(DebugInfo_get_text_avma)(di) - (Addr)VG_(DebugInfo_get_text_bias)(di);
   r->text_end = r->text + VG_(DebugInfo_get_text_size)(di);
   const Int fd = tg_elf_open(name);
   if (fd >= 0 && is_mapped(fd, di) && !read_file(r, fd))
      read_debug_file(r, name);
   if (fd >= 0)
      VG_(close)(fd);
   VG_(free)(r);
   VG_(sortXA)(o->rows);
   VG_(sortXA)(o->functions);
   return o;
}

/* --- Looking up --- */

static const Row* row_of(XArray* rows, const DebugInfo* di, Addr a)
{
   Row wanted = { .first = a - (Addr)VG_(DebugInfo_get_text_bias)(di) };
   Word first, last;
   wanted.end = wanted.first + 1;
   if (!VG_(lookupXA)(rows, &wanted, &first, &last))
      return NULL;
   return VG_(indexXA)(rows, first);
}

const HChar* tg_debug_lines_at(const DebugInfo* di, Addr a, UInt* number)
{
   const Row* row = row_of(object_of(di)->rows, di, a);
   if (row == NULL)
      return NULL;
   *number = row->line;
   return row->file;
}

const HChar* tg_debug_lines_file(const DebugInfo* di, Addr a)
{
   const Row* row = row_of(object_of(di)->functions, di, a);
   return row == NULL ? NULL : row->file;
}
