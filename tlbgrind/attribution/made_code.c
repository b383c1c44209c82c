/* Names code that is made at run time. See attribution/made_code.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"
#include "pub_tool_xarray.h"

#include "attribution/code_files.h"
#include "attribution/lines.h"
#include "attribution/made_code.h"
#include "base/path.h"

typedef struct {
   TgLine* line;
   Addr address;
   const HChar* object; /* NULL: anonymous memory */
   Bool is_gone;
   Bool is_named; /* by a file */
} Made;

static XArray* made;   /* Made, of the line whose number it has */
static OSet* nameless; /* Nameless */
static OSet* mappings; /* Mapping */
static Bool any_gone;  /* since the files were read last */

/* A piece of code that no file has named yet. */
typedef struct {
   Addr address;
   UInt number; /* of its line */
} Nameless;

/* The object of code that is in no file. */
static const HChar MADE[] = "[code made at run time]";

/* Executable anonymous memory, as large as it was seen. */
typedef struct {
   Addr first, last;
} Mapping;

Bool tg_has_made_code;

static Made* made_of(UInt number)
{
   return VG_(indexXA)(made, (Word)number - 1);
}

static Word compare_nameless(const void* key, const void* element)
{
   const Nameless *a = key, *b = element;
   if (a->address != b->address)
      return a->address < b->address ? -1 : 1;
   return a->number < b->number ? -1 : a->number > b->number;
}

/* What overlaps is equal. */
static Word compare_mappings(const void* key, const void* element)
{
   const Mapping *a = key, *b = element;
   return a->last < b->first ? -1 : b->last < a->first;
}

/* --- Mappings --- */

/* Whether the segment belongs to memory with code: V8 and others reserve room for all of their
   code, and make parts of it accessible. */
static Bool is_of_code(const NSegment* s)
{
   return s != NULL && (s->kind == SkAnonC || s->kind == SkShmC)
          && (s->hasX || (!s->hasR && !s->hasW));
}

/* The memory around `a` without the inaccessible at its ends. */
static Mapping mapping_around(Addr a)
{
   const NSegment* s = VG_(am_find_nsegment)(a);
   if (!is_of_code(s))
      return (Mapping){ VG_PGROUNDDN(a), VG_PGROUNDDN(a) + VKI_PAGE_SIZE - 1 };
   Mapping m = { s->start, s->end };
   for (const NSegment* t = s; t->start > 0 && is_of_code(VG_(am_find_nsegment)(t->start - 1));) {
      t = VG_(am_find_nsegment)(t->start - 1);
      if (t->hasX)
         m.first = t->start;
   }
   for (const NSegment* t = s; t->end + 1 != 0 && is_of_code(VG_(am_find_nsegment)(t->end + 1));) {
      t = VG_(am_find_nsegment)(t->end + 1);
      if (t->hasX)
         m.last = t->end;
   }
   return m;
}

/* Notes the memory around `a`, with what was noted of it before. */
static void note_mapping(Addr a)
{
   Mapping m = mapping_around(a);
   Mapping* old;
   while ((old = VG_(OSetGen_Lookup)(mappings, &m)) != NULL) {
      if (old->first <= m.first && old->last >= m.last)
         return;
      const Mapping both = { old->first < m.first ? old->first : m.first,
                             old->last > m.last ? old->last : m.last };
      VG_(OSetGen_FreeNode)(mappings, VG_(OSetGen_Remove)(mappings, old));
      m = both;
   }
   old = VG_(OSetGen_AllocNode)(mappings, sizeof *old);
   *old = m;
   VG_(OSetGen_Insert)(mappings, old);
}

static const Mapping* mapping_of(Addr a)
{
   const Mapping key = { a, a };
   return VG_(OSetGen_Lookup)(mappings, &key);
}

/* --- Names --- */

static const HChar* mapping_name(Addr a)
{
   enum { MB = 1 << 20, KB = 1 << 10 };
   HChar name[80];
   const Mapping* m = mapping_of(a);
   const ULong bytes = (ULong)(m->last - m->first) + 1;
   VG_(snprintf)(name, sizeof name, "[code made at run time, %llu %s at 0x%lx]",
                 bytes % MB == 0 ? bytes / MB : bytes / KB, bytes % MB == 0 ? "MB" : "KB",
                 m->first);
   return tg_intern(name);
}

/* `name`: NULL if it is not known. */
static void name_line(const Made* m, const TgCodeName* name)
{
   const HChar* unknown = tg_intern("???");
   TgFunction f = { .object = m->object, .file = unknown, .name = unknown };
   const HChar* file = unknown;
   UInt number = 0;
   if (m->object == NULL) {
      f.object = tg_intern(MADE);
      if (name == NULL)
         f.name = mapping_name(m->address);
   }
   if (name != NULL) {
      f.name = name->name;
      if (name->own_file != NULL)
         f.file = name->own_file;
      file = name->file == NULL ? f.file : name->file;
      number = name->file == NULL ? 0 : name->line;
   }
   tg_line_name(m->line, &f, file, number);
}

/* A file has a new name: the first one of these addresses since their code ran. If it still runs,
   a later one can take its place at the end. */
static void name_nameless(const TgCodeName* name)
{
   const Nameless from = { name->first, 0 };
   for (; tg_has_made_code;) {
      VG_(OSetGen_ResetIterAt)(nameless, &from);
      Nameless* n = VG_(OSetGen_Next)(nameless);
      if (n == NULL || n->address > name->last)
         return;
      Made* m = made_of(n->number);
      m->is_named = True;
      name_line(m, name);
      VG_(OSetGen_FreeNode)(nameless, VG_(OSetGen_Remove)(nameless, n));
   }
}

void tg_made_code_gone(const TgLine* line)
{
   made_of(line->made)->is_gone = True;
   any_gone = True;
}

void tg_made_code_gone_all(void)
{
   if (any_gone)
      tg_code_files_read(False);
   any_gone = False;
}

void tg_made_code_name(void)
{
   if (!tg_has_made_code)
      return;
   Mapping last = { 1, 0 };
   tg_code_files_read(True);
   for (UInt i = 1; i <= (UInt)VG_(sizeXA)(made); i++) {
      const Made* m = made_of(i);
      if (m->is_gone || m->object != NULL
          || (m->address >= last.first && m->address <= last.last))
         continue;
      note_mapping(m->address);
      last = *mapping_of(m->address);
   }
   for (UInt i = 1; i <= (UInt)VG_(sizeXA)(made); i++) {
      const Made* m = made_of(i);
      const TgCodeName* name = m->is_gone ? NULL : tg_code_files_name_at(m->address);
      if (name != NULL || !m->is_named)
         name_line(m, name);
   }
   tg_lines_name_parts();
}

/* --- Lines --- */

void tg_made_code_begin(void)
{
   tg_code_files_begin(VG_(getpid)(), name_nameless);
}

static void init(void)
{
   made = VG_(newXA)(VG_(malloc), "tg.made", VG_(free), sizeof(Made));
   nameless = VG_(OSetGen_Create)(0, compare_nameless, VG_(malloc), "tg.made.nameless", VG_(free));
   mappings = VG_(OSetGen_Create)(0, compare_mappings, VG_(malloc), "tg.made.mappings", VG_(free));
   tg_has_made_code = True;
}

Bool tg_made_code_is_at(Addr a)
{
   const NSegment* s = VG_(am_find_nsegment)(a);
   return s != NULL && (s->kind == SkAnonC || s->kind == SkFileC || s->kind == SkShmC)
          && (s->hasX || s->hasT);
}

TgLine* tg_made_code_line(Addr a, const HChar* object, Addr address)
{
   if (!tg_has_made_code)
      init();
   const HChar* unknown = tg_intern("???");
   const HChar* shown = object == NULL ? tg_intern(MADE) : object;
   const TgFunction f = { .object = shown, .file = unknown, .name = unknown };
   if (object == NULL && mapping_of(a) == NULL)
      note_mapping(a);
   Made m = { .line = tg_line_made(&f, unknown, address), .address = a, .object = object };
   tg_code_files_read(False);
   const TgCodeName* name = tg_code_files_name_at(a);
   m.is_named = name != NULL;
   if (m.is_named)
      name_line(&m, name);
   VG_(addToXA)(made, &m);
   if (!m.is_named) {
      Nameless* n = VG_(OSetGen_AllocNode)(nameless, sizeof *n);
      *n = (Nameless){ .address = a, .number = m.line->made };
      VG_(OSetGen_Insert)(nameless, n);
   }
   return m.line;
}

Bool tg_made_code_has_lines(void)
{
   return tg_code_files_have_lines();
}

/* --- What the program does with the files --- */

/* Whether it is jit-PID.dump with the number of this process. */
static Bool is_dump(const HChar* path)
{
   HChar name[32];
   VG_(sprintf)(name, "jit-%d.dump", VG_(getpid)());
   return VG_(strcmp)(tg_path_file(path), name) == 0;
}

void tg_made_code_mapped(Addr a, Bool executable)
{
   const NSegment* s = executable ? VG_(am_find_nsegment)(a) : NULL;
   const HChar* path = s == NULL || s->kind != SkFileC ? NULL : VG_(am_get_filename)(s);
   if (path != NULL && is_dump(path))
      tg_code_files_add_dump(path);
}

void tg_made_code_file_goes(const HChar* path)
{
   if (tg_has_made_code && tg_code_files_have(path))
      tg_code_files_read(False);
}
