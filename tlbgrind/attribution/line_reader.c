/* Reads the line table of a file. See attribution/line_reader.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"

#include "attribution/dwarf_units.h"
#include "attribution/line_program.h"
#include "attribution/line_reader.h"
#include "attribution/lines.h"
#include "base/elf_file.h"

/* Fields of <elf.h>: the section has code, and is part of the program. */
enum { SHF_ALLOC = 2, SHF_EXECINSTR = 4 };

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
   XArray* code;  /* TgLineRange: sections of code but .text; without files */
   XArray* units; /* Unit, ascending; NULL: not read yet */
   TgLineProgram program;
   XArray* names; /* const HChar*, by the program's number of a file; NULL: not looked up yet */
   Path paths[N_PATHS]; /* recent ones, by a hash of their names */
   TgLineRanges* out;
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
   r->units = VG_(newXA)(VG_(malloc), "tg.line_reader.units", VG_(free), sizeof unit);
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
      folder = tg_intern_path(base, folder);
   return tg_intern_path(folder, name);
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

/* Whether all of it is in a section of code but .text. What a linker has removed is at addresses
   where there is no code. */
static Bool is_beside_text(const Reader* r, ULong first, ULong end)
{
   for (Word i = 0; i < VG_(sizeXA)(r->code); i++) {
      const TgLineRange* section = VG_(indexXA)(r->code, i);
      if (first >= section->first && end <= section->end)
         return True;
   }
   return False;
}

static Bool is_in_text(const Reader* r, ULong first, ULong end)
{
   return first >= r->out->text && end <= r->out->text_end;
}

static void add_row(Reader* r, const TgLineRow* row, ULong end)
{
   if (is_in_text(r, row->address, end) || !is_beside_text(r, row->address, end))
      return;
   const TgLineRange new = { row->address, end, name_of(r, row->file), (UInt)row->line };
   VG_(addToXA)(r->out->rows, &new);
}

static void add_function(Reader* r, const TgLineRow* first)
{
   const TgLineRange new = { first->address, first->address + 1, name_of(r, first->file), 0 };
   if (is_in_text(r, new.first, new.end) || is_beside_text(r, new.first, new.end))
      VG_(addToXA)(r->out->functions, &new);
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
   r->code = VG_(newXA)(VG_(malloc), "tg.line_reader.code", VG_(free), sizeof(TgLineRange));
   for (UInt i = 0; tg_elf_section(r->fd, i, &s); i++) {
      const TgLineRange section = { .first = s.address, .end = s.address + s.size };
      if ((s.flags & SHF_ALLOC) != 0 && (s.flags & SHF_EXECINSTR) != 0 && s.address != r->out->text)
         VG_(addToXA)(r->code, &section);
   }
}

static void read_lines(Reader* r)
{
   read_sections_of_code(r);
   r->names = VG_(newXA)(VG_(malloc), "tg.line_reader.names", VG_(free), sizeof(HChar*));
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

Bool tg_line_reader_read(Int fd, TgLineRanges* out)
{
   Reader* r = VG_(calloc)("tg.line_reader", 1, sizeof *r);
   r->fd = fd;
   r->out = out;
   load(r, LINES);
   const Bool has_lines = r->contents[LINES] != NULL;
   if (has_lines)
      read_lines(r);
   for (UInt i = 0; i < N_SECTIONS; i++)
      VG_(free)(r->contents[i]);
   VG_(free)(r);
   return has_lines;
}
