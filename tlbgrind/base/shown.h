/* Removes control characters from names that are printed on stderr.

   A file name could otherwise contain escape sequences for the terminal. */

#ifndef TG_SHOWN_H
#define TG_SHOWN_H

#include "pub_tool_basics.h"

/* The name with a question mark for each unprintable character (sim/base/text.h); valid until the
   next call. */
const HChar* tg_shown(const HChar* name);

/* Prints that a file could not be written, and `missing`, the output that is lost by that. */
void tg_shown_unwritten(const HChar* what, const HChar* name, const HChar* why,
                        const HChar* missing);

#endif
