/* Fuzzes the reader of ChampSim's records.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "fuzz.h"
#include "trace_case.h"

#include <stddef.h>

const char *const fuzz_words[] = { NULL };

const char *const fuzz_more = NULL;

void fuzz_one(char *data, size_t size)
{
   fuzz_trace(&tg_input_champsim, data, size);
}
