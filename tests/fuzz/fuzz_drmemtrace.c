/* Fuzzes the reader of drmemtrace's records.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "fuzz.h"
#include "trace_case.h"

#include <stddef.h>

const char *const fuzz_words[] = { "\x1a", "\x1c", "\x11", "\x1e", "\x12", "\x09", "\x18", NULL };

const char *const fuzz_more = NULL;

void fuzz_one(char *data, size_t size)
{
   fuzz_trace(&tg_input_drmemtrace, data, size);
}
