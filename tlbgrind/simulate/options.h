/* The options of tg_simulate.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_OPTIONS_H
#define TG_SIMULATE_OPTIONS_H

#include <stdbool.h>

typedef struct {
   const char *recording;
   const char *machines; /* of --machine= */
   const char *out_file; /* of -o and --tlbgrind-out-file=; NULL: none is given */
   unsigned jobs;
   bool nested;
   const char *thp; /* of --thp=; NULL: none is given */
   unsigned n_pages, n_pools;
   const char **pages, **pools; /* of each --pages= and --huge-pool= */
} TgSimulateOptions;

/* Reads them; what is wrong ends the program with status 1. */
void tg_simulate_options(int argc, char **argv, TgSimulateOptions *out);

#endif
