/* Ends a run because of an option. */

#ifndef TG_REFUSE_H
#define TG_REFUSE_H

#include "pub_tool_basics.h"

/* Says which argument is wrong, and why, a sentence without line feed. The core's own function for
   this returns after the command line has been read, when most options are checked. */
void tg_refuse(const HChar* arg, const HChar* format, ...)
   PRINTF_CHECK(2, 3) __attribute__((noreturn));

enum { TG_SHORTENED = 44 };

/* A value for a reason that has no room for a long one: cut, if it is longer than what a sentence
   takes. Valgrind's printf has no precision for texts. Returns `out`. */
const HChar* tg_shortened(const HChar* value, HChar out[TG_SHORTENED]);

#endif
