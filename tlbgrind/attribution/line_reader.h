/* The line table of an ELF file, .debug_line: of it what Valgrind leaves out. */

#ifndef TG_LINE_READER_H
#define TG_LINE_READER_H

#include "pub_tool_basics.h"

#include "pub_tool_xarray.h"

/* Addresses as the file has them, from `first` until before `end`. */
typedef struct {
   ULong first, end;
   const HChar* file; /* interned */
   UInt line;
} TgLineRange;

typedef struct {
   ULong text, text_end; /* the section .text */
   XArray* rows;         /* TgLineRange, of code outside of .text */
   XArray* functions;    /* TgLineRange: addresses where the function's file is not Valgrind's */
} TgLineRanges;

/* Adds to *out what the file has, in no order. False: it has no line table. */
Bool tg_line_reader_read(Int fd, TgLineRanges* out);

#endif
