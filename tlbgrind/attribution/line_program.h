/* The line programs of DWARF 2 to 5, the section .debug_line: which code comes from which line.

   Plain C11 without Valgrind and libc, so that tests and a fuzzer can use it. All sizes are
   checked, because the file may be damaged. */

#ifndef TG_LINE_PROGRAM_H
#define TG_LINE_PROGRAM_H

#include "attribution/dwarf_bytes.h"

enum { TG_LINE_FIELDS = 16 }; /* most kinds of data in an entry of a table of DWARF 5;
                                 there are 6 */

/* The folders or the files that a program names. In DWARF 5 an entry consists of `n_fields`
   fields. */
typedef struct {
   TgDwarfBytes entries;
   uint64_t n;
   struct {
      uint64_t what, form;
   } field[TG_LINE_FIELDS];
   unsigned n_fields;
} TgLineTable;

/* A row: the code from its address to that of the next row comes from its line. */
typedef struct {
   uint64_t address;
   uint64_t file;     /* for tg_line_program_file() */
   uint64_t line;     /* 0: the code comes from no line */
   bool is_statement; /* a statement or a function begins there */
   bool ends;         /* the address is that behind the code of the rows before; no line */
} TgLineRow;

typedef struct {
   uint64_t unit; /* the offset of the program in the section */
   unsigned version, offset_size;
   TgDwarfBytes code, texts;
   TgLineTable folders, files;
   unsigned shortest, range, first_special;
   int base;
   bool begins_statement; /* is_statement of a sequence's first row */
   uint8_t operands[256];
   TgLineRow row;
} TgLineProgram;

/* Reads the header of the program that *section begins with and goes on behind it in *section,
   which begins at `whole`. `texts`: the section .debug_line_str, empty if there is none. False:
   there is no further program that can be read. */
bool tg_line_program_open(TgLineProgram* p, TgDwarfBytes* section, const uint8_t* whole,
                          TgDwarfBytes texts);

/* The next row. False: there are no more. */
bool tg_line_program_next(TgLineProgram* p, TgLineRow* out);

/* The folder of the compilation; NULL: it stands elsewhere, as before DWARF 5. */
const char* tg_line_program_folder(const TgLineProgram* p);

/* The names of a file and its folder: the file's may be relative to its folder, and that, "" if
   there is none, to the folder of the compilation. False: there is no such file, or its name stands
   in another section. */
bool tg_line_program_file(const TgLineProgram* p, uint64_t file, const char** folder,
                          const char** name);

#endif
