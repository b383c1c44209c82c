/* Fuzzes the reader of lackey's lines.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "fuzz.h"
#include "trace_case.h"

#include <stddef.h>

const char *const fuzz_words[] = {
   "I  ", " L ", " S ", " M ", "400000,4\n", "ffffffffffffffff,1\n", ",65535\n", "==1== x\n",
   "--1-- x\n", NULL
};

const char *const fuzz_more = NULL;

void fuzz_one(char *data, size_t size)
{
   fuzz_trace(&tg_input_lackey, data, size);
}
