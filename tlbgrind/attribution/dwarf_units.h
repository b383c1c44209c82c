/* The folders in which the units of a program were compiled, by its section .debug_info.

   Line programs before DWARF 5 have names relative to them. Plain C11 without Valgrind and libc, so
   that tests and a fuzzer can use it. All sizes are checked, because the file may be damaged. */

#ifndef TG_DWARF_UNITS_H
#define TG_DWARF_UNITS_H

#include "attribution/dwarf_bytes.h"

typedef struct {
   TgDwarfBytes info;                         /* what is left of .debug_info */
   TgDwarfBytes abbreviations, texts; /* .debug_abbrev, .debug_str */
} TgDwarfUnits;

/* The next unit before DWARF 5 that has a folder and lines: its folder, and where its line program
   is in .debug_line. False: there are no more. */
bool tg_dwarf_units_next(TgDwarfUnits* u, const char** folder, uint64_t* line_program);

#endif
