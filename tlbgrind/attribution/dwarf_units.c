/* Reads the first entry of each unit. See attribution/dwarf_units.h.

   DWARF 4, section 7.5. */

#include "attribution/dwarf_units.h"

/* The attributes that are used, and the forms that attributes may have; of GNU for split DWARF and
   for dwz. */
enum { STMT_LIST = 0x10, COMP_DIR = 0x1b };
enum { ADDR = 0x01, BLOCK2 = 0x03, BLOCK4 = 0x04, DATA2 = 0x05, DATA4 = 0x06, DATA8 = 0x07,
       STRING = 0x08, BLOCK = 0x09, BLOCK1 = 0x0a, DATA1 = 0x0b, FLAG = 0x0c, SDATA = 0x0d,
       STRP = 0x0e, UDATA = 0x0f, REF_ADDR = 0x10, REF1 = 0x11, REF2 = 0x12, REF4 = 0x13,
       REF8 = 0x14, REF_UDATA = 0x15, INDIRECT = 0x16, SEC_OFFSET = 0x17, EXPRLOC = 0x18,
       FLAG_PRESENT = 0x19, REF_SIG8 = 0x20, GNU_ADDR_INDEX = 0x1f01, GNU_STR_INDEX = 0x1f02,
       GNU_REF_ALT = 0x1f20, GNU_STRP_ALT = 0x1f21 };

typedef struct {
   unsigned version, offset_size, address_size;
} Unit;

/* An attribute's value: its text, or NULL; its number, or 0. */
static const char* value(const TgDwarfUnits* u, const Unit* unit, uint64_t form, TgDwarfBytes* b,
                         uint64_t* number)
{
   *number = 0;
   if (form == INDIRECT)
      form = tg_dwarf_leb(b, false);
   switch (form) {
   case STRING: return tg_dwarf_text(b);
   case STRP: return tg_dwarf_text_at(u->texts, tg_dwarf_number(b, unit->offset_size));
   case SEC_OFFSET: *number = tg_dwarf_number(b, unit->offset_size); break;
   case GNU_REF_ALT: case GNU_STRP_ALT: tg_dwarf_skip(b, unit->offset_size); break;
   case ADDR: tg_dwarf_skip(b, unit->address_size); break;
   case REF_ADDR:
      tg_dwarf_skip(b, unit->version == 2 ? unit->address_size : unit->offset_size);
      break;
   case DATA1: case REF1: case FLAG: *number = tg_dwarf_number(b, 1); break;
   case DATA2: case REF2: *number = tg_dwarf_number(b, 2); break;
   case DATA4: case REF4: *number = tg_dwarf_number(b, 4); break;
   case DATA8: case REF8: case REF_SIG8: *number = tg_dwarf_number(b, 8); break;
   case SDATA: case UDATA: case REF_UDATA: case GNU_ADDR_INDEX: case GNU_STR_INDEX:
      *number = tg_dwarf_leb(b, false);
      break;
   case BLOCK: case EXPRLOC: tg_dwarf_skip(b, tg_dwarf_leb(b, false)); break;
   case BLOCK1: tg_dwarf_skip(b, tg_dwarf_number(b, 1)); break;
   case BLOCK2: tg_dwarf_skip(b, tg_dwarf_number(b, 2)); break;
   case BLOCK4: tg_dwarf_skip(b, tg_dwarf_number(b, 4)); break;
   case FLAG_PRESENT: break;
   default: b->is_bad = true;
   }
   return NULL;
}

/* Goes on behind the attributes of an abbreviation. */
static void skip_attributes(TgDwarfBytes* b)
{
   uint64_t attribute, form;
   do {
      attribute = tg_dwarf_leb(b, false);
      form = tg_dwarf_leb(b, false);
   } while ((attribute != 0 || form != 0) && !b->is_bad);
}

/* The attributes of the abbreviation with that number; nothing if there is none. */
static TgDwarfBytes attributes_of(TgDwarfBytes b, uint64_t abbreviation)
{
   for (;;) {
      const uint64_t number = tg_dwarf_leb(&b, false);
      tg_dwarf_leb(&b, false);  /* tag */
      tg_dwarf_skip(&b, 1);     /* whether it has children */
      if (number == 0 || b.is_bad)
         return (TgDwarfBytes){ b.end, b.end, true };
      if (number == abbreviation)
         return b;
      skip_attributes(&b);
   }
}

/* Reads the unit's first entry, which *b begins with. */
static bool read_entry(const TgDwarfUnits* u, const Unit* unit, TgDwarfBytes* b,
                       TgDwarfBytes abbreviations, const char** folder, uint64_t* line_program)
{
   TgDwarfBytes attributes = attributes_of(abbreviations, tg_dwarf_leb(b, false));
   bool has_lines = false;
   *folder = NULL;
   while (!attributes.is_bad && !b->is_bad) {
      const uint64_t attribute = tg_dwarf_leb(&attributes, false);
      const uint64_t form = tg_dwarf_leb(&attributes, false);
      uint64_t number;
      if (attribute == 0 && form == 0)
         return has_lines && *folder != NULL;
      const char* text = value(u, unit, form, b, &number);
      if (attribute == COMP_DIR)
         *folder = text;
      if (attribute == STMT_LIST) {
         *line_program = number;
         has_lines = true;
      }
   }
   return false;
}

bool tg_dwarf_units_next(TgDwarfUnits* u, const char** folder, uint64_t* line_program)
{
   TgDwarfBytes b = u->info;
   Unit unit;
   while (tg_dwarf_unit(&b, &u->info, &unit.offset_size)) {
      unit.version = (unsigned)tg_dwarf_number(&b, 2);
      TgDwarfBytes abbreviations = u->abbreviations;
      if (unit.version >= 2 && unit.version < 5) {
         tg_dwarf_skip(&abbreviations, tg_dwarf_number(&b, unit.offset_size));
         unit.address_size = (unsigned)tg_dwarf_number(&b, 1);
         if (read_entry(u, &unit, &b, abbreviations, folder, line_program))
            return true;
      }
      b = u->info;
   }
   return false;
}
