/* Prints how many pages and bytes of code were executed, of each object and of merged code.

   A page counts if a byte of an executed instruction is in it, so that an instruction on two pages
   counts for both. */

#ifndef TG_CODE_USE_H
#define TG_CODE_USE_H

#include "pub_tool_basics.h"

#include "pub_tool_xarray.h"

#include "base/file.h"

/* `lines`: from tg_lines_sorted(), one for each instruction. */
void tg_code_use_print(TgFile* f, XArray* lines, UInt page_shift);

#endif
