/* A fuzzer: fuzz.c and one file that says what is fuzzed.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Has the code under test read these bytes. They are in memory of exactly that
   size, and may be changed. */
void fuzz_one(char *data, size_t size);

/* Words of the language that is read; NULL closes the list. */
extern const char *const fuzz_words[];

/* What the code under test has done wrong: says so, keeps the input, ends. */
_Noreturn void fuzz_fail(const char *what);

#endif
