/* Names printed on stderr without control characters.

   A file name could otherwise command the terminal. */

#ifndef TG_SHOWN_H
#define TG_SHOWN_H

#include "pub_tool_basics.h"

/* The name with question marks for what is no printable character (sim/base/text.h); true until the
   next call. */
const HChar* tg_shown(const HChar* name);

/* Says that a file could not be written, and what is missing because of it. */
void tg_shown_unwritten(const HChar* what, const HChar* name, const HChar* why,
                        const HChar* missing);

#endif
