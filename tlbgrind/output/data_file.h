/* Writes the data file (docs/internals/formats.md): costs by object of data and line of code. */

#ifndef TG_DATA_FILE_H
#define TG_DATA_FILE_H

#include "pub_tool_basics.h"

#include "pub_tool_xarray.h"

#include "base/file.h"
#include "output/results.h"

/* `lines`: of tg_lines_sorted(). False: that failed, and a message has been printed. */
Bool tg_data_file_write(const TgResults* results, XArray* lines, const HChar* name);

/* Prints what of the data file is the same for all machines, behind the line "@data": for the end
   of a recording (docs/internals/formats.md). */
void tg_data_file_record(const TgResults* results, XArray* lines, TgFile* f);

#endif
