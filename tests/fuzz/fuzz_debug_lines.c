/* Fuzzes the readers of line programs and of the units that they belong to.

   An input is five sections, .debug_line, .debug_line_str, .debug_info, .debug_abbrev and
   .debug_str: the lengths of the first four in two bytes each, then their bytes. A length that is
   too large takes what is there.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "fuzz.h"

#include <string.h>

#include "attribution/dwarf_units.h"
#include "attribution/line_program.h"

enum { LINES, LINE_TEXTS, INFO, ABBREVIATIONS, TEXTS, N_SECTIONS };
enum { LENGTH_BYTES = 2, HEAD = (N_SECTIONS - 1) * LENGTH_BYTES };

const char *const fuzz_words[] = { NULL };

const char *const fuzz_more = NULL;

static TgDwarfBytes section[N_SECTIONS];
static const uint8_t *first, *behind; /* the input */

static void split(const uint8_t *data, size_t size)
{
   first = data;
   behind = data + size;
   const uint8_t *at = size < HEAD ? behind : data + HEAD;
   for (unsigned i = 0; i < N_SECTIONS; i++) {
      size_t n = (size_t)(behind - at);
      if (i < N_SECTIONS - 1 && size >= HEAD) {
         const size_t told = data[2 * i] + 256U * data[2 * i + 1];
         n = told < n ? told : n;
      }
      section[i] = (TgDwarfBytes){ at, at + n, false };
      at += n;
   }
}

/* A text stands in the input, or is the empty one. */
static void check_text(const char *text)
{
   const uint8_t *at = (const uint8_t *)text;
   if (*text != '\0' && (at < first || at >= behind || strlen(text) >= (size_t)(behind - at)))
      fuzz_fail("a text that is not in the sections");
}

static void check_names(const TgLineProgram *p, uint64_t file)
{
   const char *folder = NULL, *name = NULL;
   if (!tg_line_program_file(p, file, &folder, &name))
      return;
   if (file == 0 && p->version < 5)
      fuzz_fail("files of old programs are counted from 1");
   check_text(folder);
   check_text(name);
}

static void check_program(TgLineProgram *p)
{
   TgLineRow row = { .ends = true };
   size_t n = 0;
   const char *folder = tg_line_program_folder(p);
   if (folder != NULL)
      check_text(folder);
   const size_t most = (size_t)(behind - first);
   while (tg_line_program_next(p, &row)) {
      if (++n > most)
         fuzz_fail("more rows than bytes");
      if (n <= 8)
         check_names(p, row.file);
   }
}

void fuzz_one(char *data, size_t size)
{
   static TgLineProgram program;
   const char *folder;
   uint64_t at;
   split((const uint8_t *)data, size);
   TgDwarfBytes left = section[LINES];
   while (tg_line_program_open(&program, &left, section[LINES].at, section[LINE_TEXTS])) {
      if (program.unit >= (uint64_t)(section[LINES].end - section[LINES].at))
         fuzz_fail("a program that is not in its section");
      check_program(&program);
   }
   TgDwarfUnits units = { section[INFO], section[ABBREVIATIONS], section[TEXTS] };
   while (tg_dwarf_units_next(&units, &folder, &at))
      check_text(folder);
}
