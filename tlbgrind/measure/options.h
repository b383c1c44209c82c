/* The options of tg_measure.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_MEASURE_OPTIONS_H
#define TG_MEASURE_OPTIONS_H

#include <stdbool.h>

typedef struct {
   double seconds;
   const char *output;  /* a machine file; NULL: none; so are the others */
   const char *curves;
   const char *picture;
   const char *from;
   const char *against;
   bool save, which, list, quiet;
} TgMeasureOptions;

/* Reads the command line. --help and --version end the program, as does what is wrong. */
void tg_measure_options(int argc, char **argv, TgMeasureOptions *out);

/* Prints "tg_measure: error: ..." in one line and exits with status 1. */
_Noreturn void tg_measure_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
