/* Lines of source at the end of a recording: what they have whatever the machine is. */

#ifndef TG_RECORDED_LINES_H
#define TG_RECORDED_LINES_H

#include "pub_tool_basics.h"

#include "pub_tool_xarray.h"

#include "base/file.h"

/* Whether a line of these costs is printed. `faults`: page faults are among the events. */
Bool tg_recorded_line_any(const ULong* cost, Bool faults);

/* Prints the costs of the lines from number `first` to `last`, which are one, and their numbers in
   the recording; the position belongs behind that. */
void tg_recorded_line_print(TgFile* f, XArray* lines, Word first, Word last, const ULong* cost);

#endif
