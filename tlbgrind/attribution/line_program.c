/* Runs line programs. See attribution/line_program.h.

   DWARF 5, section 6.2, and the same section of its predecessors. */

#include "attribution/line_program.h"

/* Standard and extended operations. */
enum { EXTENDED, COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, NEGATE_STMT, SET_BASIC_BLOCK,
       CONST_ADD_PC, FIXED_ADVANCE_PC };
enum { END_SEQUENCE = 1, SET_ADDRESS = 2 };

/* What a field of a table of DWARF 5 is, and the forms that it may have. */
enum { PATH = 1, FOLDER = 2 };
enum { BLOCK2 = 0x03, BLOCK4 = 0x04, DATA2 = 0x05, DATA4 = 0x06, DATA8 = 0x07, STRING = 0x08,
       BLOCK = 0x09, BLOCK1 = 0x0a, DATA1 = 0x0b, SDATA = 0x0d, STRP = 0x0e, UDATA = 0x0f,
       STRX = 0x1a, DATA16 = 0x1e, LINE_STRP = 0x1f };

/* --- Tables of folders and files --- */

static void open_table(TgLineTable* t, TgDwarfBytes* b, unsigned version)
{
   t->n_fields = 0;
   t->n = UINT64_MAX; /* an empty name is the last */
   if (version >= 5) {
      const unsigned n = tg_dwarf_byte(b);
      for (unsigned i = 0; i < n; i++) {
         const uint64_t what = tg_dwarf_leb(b, false), form = tg_dwarf_leb(b, false);
         if (i < TG_LINE_FIELDS) {
            t->field[i].what = what;
            t->field[i].form = form;
         }
      }
      b->is_bad |= n > TG_LINE_FIELDS;
      t->n_fields = n;
      t->n = n == 0 ? 0 : tg_dwarf_leb(b, false);
   }
   t->entries = *b;
}

/* A field; its text, or NULL; its number, or 0. */
static const char* field(const TgLineProgram* p, uint64_t form, TgDwarfBytes* b, uint64_t* number)
{
   *number = 0;
   switch (form) {
   case STRING: return tg_dwarf_text(b);
   case LINE_STRP: return tg_dwarf_text_at(p->texts, tg_dwarf_number(b, p->offset_size));
   case STRP: tg_dwarf_skip(b, p->offset_size); break;
   case STRX: tg_dwarf_leb(b, false); break;
   case UDATA: *number = tg_dwarf_leb(b, false); break;
   case SDATA: *number = tg_dwarf_leb(b, true); break;
   case DATA1: *number = tg_dwarf_number(b, 1); break;
   case DATA2: *number = tg_dwarf_number(b, 2); break;
   case DATA4: *number = tg_dwarf_number(b, 4); break;
   case DATA8: *number = tg_dwarf_number(b, 8); break;
   case DATA16: tg_dwarf_skip(b, 16); break;
   case BLOCK: tg_dwarf_skip(b, tg_dwarf_leb(b, false)); break;
   case BLOCK1: tg_dwarf_skip(b, tg_dwarf_number(b, 1)); break;
   case BLOCK2: tg_dwarf_skip(b, tg_dwarf_number(b, 2)); break;
   case BLOCK4: tg_dwarf_skip(b, tg_dwarf_number(b, 4)); break;
   default: b->is_bad = true;
   }
   return NULL;
}

/* The next entry of a table: its name, NULL if there is none or its text is elsewhere, and for a
   file the number of its folder. Before DWARF 5 a file has its folder, a time and a size behind its
   name, all LEB128. */
static const char* entry(const TgLineProgram* p, const TgLineTable* t, bool is_file,
                         TgDwarfBytes* b, uint64_t* folder)
{
   const char* name = NULL;
   *folder = 0;
   if (p->version < 5) {
      name = tg_dwarf_text(b);
      b->is_bad |= name[0] == '\0';
      for (unsigned i = 0; is_file && i < 3 && !b->is_bad; i++) {
         const uint64_t n = tg_dwarf_leb(b, false);
         *folder = i == 0 ? n : *folder;
      }
   }
   for (unsigned i = 0; i < t->n_fields && !b->is_bad; i++) {
      uint64_t n;
      const char* text = field(p, t->field[i].form, b, &n);
      if (t->field[i].what == PATH)
         name = text;
      else if (t->field[i].what == FOLDER)
         *folder = n;
   }
   return b->is_bad ? NULL : name;
}

/* Entry number nth, from 0. An entry takes a byte at least, so the end comes soon. */
static const char* nth_entry(const TgLineProgram* p, const TgLineTable* t, bool is_file,
                             uint64_t nth, uint64_t* folder)
{
   TgDwarfBytes b = t->entries;
   const char* name = NULL;
   if (nth >= t->n)
      return NULL;
   for (uint64_t i = 0; i <= nth; i++) {
      if (b.is_bad || tg_dwarf_left(&b) == 0)
         return NULL;
      name = entry(p, t, is_file, &b, folder);
   }
   return name;
}

static void skip_table(const TgLineProgram* p, const TgLineTable* t, TgDwarfBytes* b)
{
   uint64_t folder;
   for (uint64_t i = 0; i < t->n && tg_dwarf_left(b) > 0 && !b->is_bad; i++) {
      if (p->version < 5 && *b->at == 0) {
         b->at++;
         return;
      }
      entry(p, t, t == &p->files, b, &folder);
   }
}

const char* tg_line_program_folder(const TgLineProgram* p)
{
   uint64_t unused;
   return p->version < 5 ? NULL : nth_entry(p, &p->folders, false, 0, &unused);
}

/* Before DWARF 5 files and folders are counted from 1, and folder 0 is the one of the compilation,
   which stands elsewhere: "". */
bool tg_line_program_file(const TgLineProgram* p, uint64_t file, const char** folder,
                          const char** name)
{
   const uint64_t first = p->version < 5;
   uint64_t number, unused;
   *name = file < first ? NULL : nth_entry(p, &p->files, true, file - first, &number);
   if (*name == NULL)
      return false;
   *folder = number < first ? "" : nth_entry(p, &p->folders, false, number - first, &unused);
   if (*folder == NULL)
      *folder = "";
   return true;
}

/* --- The program --- */

static void begin_sequence(TgLineProgram* p)
{
   p->row = (TgLineRow){ .file = 1, .line = 1, .is_statement = p->begins_statement };
}

bool tg_line_program_open(TgLineProgram* p, TgDwarfBytes* section, const uint8_t* whole,
                          TgDwarfBytes texts)
{
   TgDwarfBytes b = *section;
   *p = (TgLineProgram){ .unit = (uint64_t)(section->at - whole), .texts = texts };
   if (!tg_dwarf_unit(&b, section, &p->offset_size))
      return false;
   p->version = (unsigned)tg_dwarf_number(&b, 2);
   p->code = (TgDwarfBytes){ b.end, b.end, false };
   if (p->version < 2 || p->version > 5)
      return true; /* a program without rows */
   if (p->version >= 5)
      tg_dwarf_skip(&b, 2); /* sizes of addresses and of segments */
   const uint64_t header = tg_dwarf_number(&b, p->offset_size);
   TgDwarfBytes code = b;
   tg_dwarf_skip(&code, header);
   b.end = code.at;
   p->shortest = tg_dwarf_byte(&b);
   if (p->version >= 4)
      tg_dwarf_skip(&b, 1); /* operations in an instruction: more than 1 on VLIW machines only */
   p->begins_statement = tg_dwarf_byte(&b) != 0;
   p->base = (int8_t)tg_dwarf_byte(&b);
   p->range = tg_dwarf_byte(&b);
   p->first_special = tg_dwarf_byte(&b);
   for (unsigned i = 1; i < p->first_special; i++)
      p->operands[i] = tg_dwarf_byte(&b);
   open_table(&p->folders, &b, p->version);
   skip_table(p, &p->folders, &b);
   open_table(&p->files, &b, p->version);
   if (!b.is_bad && !code.is_bad && p->range != 0 && p->first_special != 0)
      p->code = code;
   begin_sequence(p);
   return true;
}

static void advance(TgLineProgram* p, uint64_t operation)
{
   p->row.address += operation * p->shortest;
}

/* An extended operation. True: *out is a row. */
static bool extended(TgLineProgram* p, TgLineRow* out)
{
   const uint64_t length = tg_dwarf_leb(&p->code, false);
   TgDwarfBytes b = p->code;
   tg_dwarf_skip(&p->code, length);
   b.end = p->code.at;
   switch (tg_dwarf_byte(&b)) {
   case END_SEQUENCE:
      *out = p->row;
      out->ends = true;
      begin_sequence(p);
      return true;
   case SET_ADDRESS:
      p->row.address = tg_dwarf_number(&b,
                                       tg_dwarf_left(&b) >= 8 ? 8 : (unsigned)tg_dwarf_left(&b));
      return false;
   default: /* what names a file here, which no compiler does, or is of no use */
      return false;
   }
}

/* A standard operation. True: *out is a row. */
static bool standard(TgLineProgram* p, unsigned operation, TgLineRow* out)
{
   switch (operation) {
   case EXTENDED: return extended(p, out);
   case COPY: *out = p->row; return true;
   case ADVANCE_PC: advance(p, tg_dwarf_leb(&p->code, false)); break;
   case ADVANCE_LINE: p->row.line += tg_dwarf_leb(&p->code, true); break;
   case SET_FILE: p->row.file = tg_dwarf_leb(&p->code, false); break;
   case NEGATE_STMT: p->row.is_statement = !p->row.is_statement; break;
   case SET_BASIC_BLOCK: break;
   case CONST_ADD_PC: advance(p, (255 - p->first_special) / p->range); break;
   case FIXED_ADVANCE_PC: p->row.address += tg_dwarf_number(&p->code, 2); break;
   default:
      for (unsigned i = 0; i < p->operands[operation]; i++)
         tg_dwarf_leb(&p->code, false);
   }
   return false;
}

bool tg_line_program_next(TgLineProgram* p, TgLineRow* out)
{
   while (tg_dwarf_left(&p->code) > 0) {
      const unsigned operation = tg_dwarf_byte(&p->code);
      if (operation < p->first_special) {
         if (standard(p, operation, out))
            return !p->code.is_bad;
         continue;
      }
      const unsigned special = operation - p->first_special;
      advance(p, special / p->range);
      p->row.line += (uint64_t)(int64_t)(p->base + (int)(special % p->range));
      *out = p->row;
      return true;
   }
   return false;
}
