/* Fuzzers: fuzz.c, which makes inputs, and a file for each thing that is fuzzed.

   A new one is a file, tests/fuzz/fuzz_NAME.c with fuzz_one(), fuzz_words and fuzz_more, and a
   line, its name in FUZZERS in tests/local.mk. (FUZZ_MORE_fuzz_NAME there has other sources that
   it is made of.) `make check` runs it for some seconds (tests/run-fuzz); for longer:

      make fuzz FUZZERS=tests/fuzz/fuzz_NAME FUZZ_FLAGS=--seconds=3600

   tests/fuzz/corpus/NAME has the inputs that it begins with, files of any name; --save=FOLDER
   collects them: those that reach what none before them reached. Without that folder it begins
   with the empty input.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Gives these bytes to the code under test, and calls fuzz_fail() if that does wrong. They are
   in memory of exactly that size, not aligned, and may be changed. The simulator's own reading
   beyond bounds and undefined behaviour end the fuzzer without it. */
void fuzz_one(char *data, size_t size);

/* Words of the language that is read, which changed inputs are given; NULL closes the list. For
   inputs that are not text it may be empty. */
extern const char *const fuzz_words[];

/* A folder of more inputs beside the corpus, as a path in the sources; NULL: none. */
extern const char *const fuzz_more;

/* What the code under test has done wrong: prints it, keeps the input, ends. */
_Noreturn void fuzz_fail(const char *what);

/* Fails unless `line` is the number of a line of the input, from 1. */
void fuzz_check_line(const char *data, size_t size, uint64_t line);

/* Fails unless `why`, an array of that size, holds a reason: a line of text that is not empty. */
void fuzz_check_reason(const char *why, size_t size);

/* The input as a stream, for code that gets its bytes by a function: `opaque` is a fuzz_stream. */
typedef struct {
   const char *at, *end;
} fuzz_stream;

size_t fuzz_get(void *opaque, uint8_t *bytes, size_t n);

#endif
